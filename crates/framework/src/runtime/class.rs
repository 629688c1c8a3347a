//! Classes, methods, and the tables that messages are dispatched by.
//!
//! ```text
//! object ── isa ── Class ── table ── code of each selector's number; null: not looked up yet
//!                    └ super_class ── …
//! ```
//!
//! A table is filled on demand. It is replaced when it is too short, and emptied when a method is added; readers take no
//! lock, and replaced tables are never freed.

use super::Sel;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicIsize, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A class or the class of a class. GNUstep's layout; our own data is behind `data`.
#[repr(C)]
pub(crate) struct Class {
    pub(crate) isa: AtomicPtr<Class>,
    pub(crate) super_class: AtomicPtr<Class>,
    name: *const c_char,
    version: isize,
    pub(crate) info: AtomicUsize,
    pub(crate) instance_size: AtomicIsize,
    pub(super) ivars: *mut c_void,
    pub(super) methods: *mut c_void,
    pub(crate) table: AtomicPtr<Table>,
    cxx: [*mut c_void; 2],
    family: [*mut c_void; 2],
    pub(super) protocols: *mut c_void,
    pub(crate) data: &'static ClassData,
    abi_version: isize,
    pub(super) properties: *mut c_void,
}

// SAFETY: the pointers without a type are null or lists that clang emitted, and the name is immutable; the rest is atomic
// or behind locks.
unsafe impl Send for Class {}
unsafe impl Sync for Class {}

/// [`Class::info`]: the class of a class.
pub(crate) const IS_META: usize = 1;
/// [`Class::info`]: instances are blocks, which have no count in front of them.
pub(crate) const IS_BLOCK: usize = 1 << 8;
/// [`Class::info`]: instances are part of a program, have no count in front of them, and live forever.
pub(crate) const IS_STATIC: usize = 1 << 16;
/// [`Class::info`]: `+initialize` was called.
pub(crate) const INITIALIZED: usize = 1 << 17;
/// [`Class::info`]: `+initialize` is being called.
pub(crate) const INITIALIZING: usize = 1 << 20;
/// [`Class::info`]: instances have variables that `.cxx_construct` constructs.
pub(crate) const CONSTRUCTS: usize = 1 << 18;
/// [`Class::info`]: instances have variables that `.cxx_destruct` releases.
pub(crate) const DESTRUCTS: usize = 1 << 19;

/// Our own data of a class and of its metaclass.
pub(crate) struct ClassData {
    /// Methods written in Rust, of instances and of the class.
    pub(crate) methods: &'static [Method],
    /// Accessors of its properties.
    pub(crate) properties: &'static [Method],
    /// Selectors that are refused, with the reason.
    pub(crate) refused: &'static [(&'static str, &'static str)],
    /// Selectors of Apple's class that are absent.
    pub(crate) absent: &'static [&'static str],
    /// Methods added at run time.
    pub(crate) added: Mutex<Vec<&'static Method>>,
    pub(crate) ivars: Mutex<Vec<&'static Ivar>>,
    /// Names of protocols that it conforms to.
    pub(crate) conforms: &'static [&'static str],
    pub(crate) protocols: Mutex<Vec<&'static CStr>>,
    /// Makes and drops the Rust value of an instance.
    pub(crate) slot: Option<Slot>,
    /// Instances that exist.
    pub(crate) live: AtomicIsize,
}

/// Functions for the Rust value of an instance.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// Makes the value of `init`; `None` if there is none.
    pub(crate) make: Option<fn() -> *mut ()>,
    /// Drops a value.
    pub(crate) drop: unsafe fn(*mut ()),
}

/// An instance variable of a class made at run time.
pub(crate) struct Ivar {
    pub(crate) name: CString,
    pub(crate) types: CString,
    pub(crate) offset: isize,
}

/// A method.
pub(crate) struct Method {
    pub(crate) is_of_class: bool,
    pub(crate) selector: &'static CStr,
    types: Types,
    code: AtomicPtr<()>,
    encoding: OnceLock<CString>,
}

enum Types {
    /// Encodings of the result and the arguments after the selector.
    Parts(&'static [&'static str]),
    Text(CString),
}

impl Method {
    /// A method written in Rust; the name ends with a zero byte.
    pub(crate) const fn new(
        is_of_class: bool,
        selector: &'static str,
        types: &'static [&'static str],
        code: *mut (),
    ) -> Method {
        let selector = match CStr::from_bytes_with_nul(selector.as_bytes()) {
            Ok(selector) => selector,
            Err(_) => panic!("a selector with a zero byte"),
        };
        Method {
            is_of_class,
            selector,
            types: Types::Parts(types),
            code: AtomicPtr::new(code),
            encoding: OnceLock::new(),
        }
    }

    /// A method added at run time.
    pub(crate) fn added(is_of_class: bool, selector: Sel, types: CString, code: *mut ()) -> &'static Method {
        Box::leak(Box::new(Method {
            is_of_class,
            selector: selector.name(),
            types: Types::Text(types),
            code: AtomicPtr::new(code),
            encoding: OnceLock::new(),
        }))
    }

    pub(crate) fn code(&self) -> *mut () {
        self.code.load(Ordering::Acquire)
    }

    pub(crate) fn set_code(&self, code: *mut ()) -> *mut () {
        self.code.swap(code, Ordering::AcqRel)
    }

    /// Its type: the result, the receiver, the selector, the other arguments.
    pub(crate) fn encoding(&self) -> &CStr {
        self.encoding.get_or_init(|| match &self.types {
            Types::Text(text) => text.clone(),
            Types::Parts([result, arguments @ ..]) => {
                CString::new(format!("{result}@:{}", arguments.concat())).unwrap_or_default()
            }
            Types::Parts([]) => CString::default(),
        })
    }
}

/// A dispatch table: its length, then the code of each selector's number.
#[repr(C)]
pub(crate) struct Table {
    len: usize,
    entries: [AtomicPtr<()>; 0],
}

pub(super) static EMPTY: Table = Table { len: 0, entries: [] };

impl Table {
    fn allocate(len: usize) -> &'static Table {
        let words: &'static mut [usize] = Box::leak(vec![0; len + 1].into_boxed_slice());
        words[0] = len;
        // SAFETY: a length and that many null pointers, which are never freed.
        unsafe { &*words.as_ptr().cast::<Table>() }
    }

    #[inline]
    fn entry(&self, index: usize) -> Option<&AtomicPtr<()>> {
        // SAFETY: `len` entries follow.
        (index < self.len).then(|| unsafe { &*self.entries.as_ptr().add(index) })
    }
}

impl Class {
    /// A class in a static, or its metaclass, whose `super_class` is the class itself until it is first needed.
    pub(crate) const fn new(
        name: &'static str,
        isa: *const Class,
        super_class: *const Class,
        info: usize,
        size: isize,
        data: &'static ClassData,
    ) -> Class {
        Class {
            isa: AtomicPtr::new(isa.cast_mut()),
            super_class: AtomicPtr::new(super_class.cast_mut()),
            name: name.as_ptr().cast(),
            version: 0,
            info: AtomicUsize::new(info),
            instance_size: AtomicIsize::new(size),
            ivars: null_mut(),
            methods: null_mut(),
            table: AtomicPtr::new(std::ptr::addr_of!(EMPTY).cast_mut()),
            cxx: [null_mut(); 2],
            family: [null_mut(); 2],
            protocols: null_mut(),
            data,
            abi_version: 0,
            properties: null_mut(),
        }
    }

    pub(crate) fn c_name(&self) -> &CStr {
        // SAFETY: the name of every class ends with a zero byte and lives forever.
        unsafe { CStr::from_ptr(self.name) }
    }

    pub(crate) fn name(&self) -> &str {
        self.c_name().to_str().unwrap_or("?")
    }

    pub(crate) fn has(&self, flag: usize) -> bool {
        self.info.load(Ordering::Acquire) & flag != 0
    }

    pub(crate) fn is_meta(&self) -> bool {
        self.has(IS_META)
    }

    /// The superclass. The metaclass of a class that has one inherits from its metaclass, that of a root from the root.
    pub(crate) fn parent(&self) -> Option<&'static Class> {
        // SAFETY: classes live forever.
        let parent = unsafe { self.super_class.load(Ordering::Acquire).as_ref() };
        match parent {
            // A metaclass that still names its class.
            Some(class) if self.is_meta() && std::ptr::eq(class.isa.load(Ordering::Acquire), self) => {
                // SAFETY: as above.
                class.parent().map_or(Some(class), |above| unsafe { above.isa.load(Ordering::Acquire).as_ref() })
            }
            parent => parent,
        }
    }

    /// It and its ancestors.
    pub(crate) fn chain(&'static self) -> impl Iterator<Item = &'static Class> {
        std::iter::successors(Some(self), |class| class.parent())
    }

    /// True if it is `other`, or derived from it.
    pub(crate) fn is_kind_of(&'static self, other: &Class) -> bool {
        self.chain().any(|class| std::ptr::eq(class, other))
    }

    /// Its own method of a name.
    pub(crate) fn own_method(&self, selector: &CStr) -> Option<&'static Method> {
        // A class written in Rust and its metaclass have the same data.
        let is_it = |method: &Method| method.is_of_class == self.is_meta() && method.selector == selector;
        if let Some(method) = lock(&self.data.added).iter().find(|method| is_it(method)) {
            return Some(method);
        }
        self.data.methods.iter().chain(self.data.properties).find(|method| is_it(method))
    }

    /// The method that a message calls.
    pub(crate) fn method(&'static self, selector: &CStr) -> Option<&'static Method> {
        self.chain().find_map(|class| class.own_method(selector))
    }

    /// The reason why a message is refused.
    pub(crate) fn refusal(&'static self, selector: &CStr) -> Option<&'static str> {
        let selector = selector.to_str().ok()?;
        let refused = self.chain().filter(|class| !class.is_meta()).flat_map(|class| class.data.refused);
        refused.into_iter().find(|(name, _)| *name == selector).map(|(_, why)| *why)
    }

    /// The code of a method that was looked up before.
    #[inline]
    pub(crate) fn cached(&self, index: usize) -> *mut () {
        // SAFETY: tables live forever.
        let table = unsafe { &*self.table.load(Ordering::Acquire) };
        table.entry(index).map_or(null_mut(), |entry| entry.load(Ordering::Acquire))
    }

    /// Looks up a method and remembers it; null if there is none.
    pub(crate) fn look_up(&'static self, selector: Sel) -> *mut () {
        let mut tables = lock(&TABLES);
        let Some(method) = self.method(selector.name()) else { return null_mut() };
        let code = method.code();
        // SAFETY: tables live forever.
        let mut table = unsafe { &*self.table.load(Ordering::Acquire) };
        if selector.index() >= table.len {
            let larger = Table::allocate((super::selector::count() + 32).next_power_of_two());
            for index in 0..table.len {
                if let (Some(from), Some(to)) = (table.entry(index), larger.entry(index)) {
                    to.store(from.load(Ordering::Acquire), Ordering::Release);
                }
            }
            self.table.store(std::ptr::from_ref(larger).cast_mut(), Ordering::Release);
            tables.push(larger);
            table = larger;
        }
        if let Some(entry) = table.entry(selector.index()) {
            entry.store(code, Ordering::Release);
        }
        code
    }
}

/// All tables, so that they can be emptied.
static TABLES: Mutex<Vec<&'static Table>> = Mutex::new(Vec::new());

/// Empties all tables after a class has changed.
pub(crate) fn forget_methods() {
    for table in lock(&TABLES).iter() {
        for index in 0..table.len {
            if let Some(entry) = table.entry(index) {
                entry.store(null_mut(), Ordering::Release);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static CLASSES: Mutex<Option<HashMap<&'static CStr, &'static Class>>> = Mutex::new(None);

/// Calls `work` with all classes by name.
pub(crate) fn with_classes<T>(work: impl FnOnce(&mut HashMap<&'static CStr, &'static Class>) -> T) -> T {
    let mut classes = lock(&CLASSES);
    work(classes.get_or_insert_with(|| crate::table::classes().map(|class| (class.c_name(), class)).collect()))
}

/// The class of a name.
pub(crate) fn find(name: &CStr) -> Option<&'static Class> {
    with_classes(|classes| classes.get(name).copied())
}
