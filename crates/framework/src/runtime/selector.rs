//! Selectors: names of messages, each with a number, which is its index in the tables of classes.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{PoisonError, RwLock};

/// A registered selector. The layout is GNUstep's: the number takes the place of the name.
#[repr(C)]
pub(crate) struct Selector {
    pub(crate) index: usize,
    types: *const c_char,
}

/// A pointer to a selector, as programs see it.
///
/// Programs have structures of their own for a selector, completed when they are loaded: equal ones have the same number.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Sel(pub(crate) *const Selector);

// SAFETY: selectors are immutable and live forever.
unsafe impl Send for Selector {}
unsafe impl Sync for Selector {}
unsafe impl Send for Sel {}
unsafe impl Sync for Sel {}

impl PartialEq for Sel {
    fn eq(&self, other: &Sel) -> bool {
        self.0 == other.0 || (!self.0.is_null() && !other.0.is_null() && self.index() == other.index())
    }
}
impl Eq for Sel {}

#[derive(Default)]
struct Registry {
    by_name: HashMap<&'static CStr, &'static Selector>,
    names: Vec<&'static CStr>,
}

static REGISTRY: RwLock<Option<Registry>> = RwLock::new(None);

impl Sel {
    /// Registers a name; the same name gets the same selector.
    pub(crate) fn register(name: &CStr) -> Sel {
        if let Some(selector) = Sel::find(name) {
            return selector;
        }
        let mut registry = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
        let Registry { by_name, names } = registry.get_or_insert_default();
        if let Some(selector) = by_name.get(name) {
            return Sel(*selector);
        }
        let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
        let selector: &'static Selector =
            Box::leak(Box::new(Selector { index: names.len(), types: std::ptr::null() }));
        names.push(name);
        by_name.insert(name, selector);
        Sel(selector)
    }

    fn find(name: &CStr) -> Option<Sel> {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.as_ref()?.by_name.get(name).map(|selector| Sel(*selector))
    }

    /// All selectors so far.
    pub(crate) fn all() -> Vec<Sel> {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.iter().flat_map(|registry| registry.by_name.values()).map(|selector| Sel(*selector)).collect()
    }

    /// Its number.
    pub(crate) fn index(self) -> usize {
        // SAFETY: selectors come from `register` and live forever.
        unsafe { (*self.0).index }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static CStr {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        registry.as_ref().and_then(|registry| registry.names.get(self.index()).copied()).unwrap_or(c"?")
    }
}

/// The number of selectors so far.
pub(crate) fn count() -> usize {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |registry| registry.names.len())
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sel_registerName(name: *const c_char) -> Sel {
    // SAFETY: as the caller promises.
    Sel::register(unsafe { CStr::from_ptr(name) })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sel_getName(selector: Sel) -> *const c_char {
    if selector.0.is_null() { c"<null selector>".as_ptr() } else { selector.name().as_ptr() }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn sel_isEqual(a: Sel, b: Sel) -> u8 {
    (a == b).into()
}
