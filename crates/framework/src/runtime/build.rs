//! Classes and protocols that programs make at run time.

use super::class::{self, Class, ClassData, IS_META, Ivar, Method, find, forget_methods, with_classes};
use super::object::{Id, lock};
use super::{Flag, Sel};
use crate::foundation::object::PROTOCOL;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Empty data of a class that is not written in Rust.
pub(super) fn data() -> &'static ClassData {
    Box::leak(Box::new(ClassData {
        methods: &[],
        properties: &[],
        refused: &[],
        absent: &[],
        added: Mutex::new(Vec::new()),
        ivars: Mutex::new(Vec::new()),
        conforms: &[],
        protocols: Mutex::new(Vec::new()),
        slot: None,
        live: AtomicIsize::new(0),
    }))
}

/// A class and its metaclass, not registered yet; null if the name is taken.
///
/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_allocateClassPair(
    parent: Option<&'static Class>,
    name: *const c_char,
    _extra: usize,
) -> *const Class {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    if find(name).is_some() {
        return std::ptr::null();
    }
    let name: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
    // The constructor takes the name with its zero byte.
    let Ok(name) = std::str::from_utf8(name.to_bytes_with_nul()) else { return std::ptr::null() };
    let size = parent.map_or(8, |parent| parent.instance_size.load(Ordering::Acquire));
    let above = parent.map_or(std::ptr::null(), |parent| parent.isa.load(Ordering::Acquire).cast_const());
    let meta: &'static Class = Box::leak(Box::new(Class::new(name, std::ptr::null(), above, IS_META, 0, data())));
    let parent = parent.map_or(std::ptr::null(), std::ptr::from_ref);
    Box::leak(Box::new(Class::new(name, meta, parent, 0, size, data())))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_registerClassPair(class: &'static Class) {
    with_classes(|classes| classes.insert(class.c_name(), class));
}

/// Classes live forever; an unregistered one is forgotten.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_disposeClassPair(class: &'static Class) {
    with_classes(|classes| classes.remove(class.c_name()));
}

/// # Safety
///
/// The code fits the types, which are a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn class_addMethod(
    class: &'static Class,
    selector: Sel,
    code: *mut (),
    types: *const c_char,
) -> bool {
    let is_meta = class.is_meta();
    let is_it = |method: &&Method| method.is_of_class == is_meta && method.selector == selector.name();
    if lock(&class.data.added).iter().any(|method| is_it(&&**method)) {
        return false;
    }
    // SAFETY: as the caller promises.
    let types = if types.is_null() { CString::default() } else { unsafe { CStr::from_ptr(types) }.to_owned() };
    lock(&class.data.added).push(Method::added(is_meta, selector, types, code));
    forget_methods();
    true
}

/// # Safety
///
/// As [`class_addMethod`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn class_replaceMethod(
    class: &'static Class,
    selector: Sel,
    code: *mut (),
    types: *const c_char,
) -> *mut () {
    match class.own_method(selector.name()) {
        Some(method) => {
            let old = method.set_code(code);
            forget_methods();
            old
        }
        None => {
            // SAFETY: as the caller promises.
            unsafe { class_addMethod(class, selector, code, types) };
            std::ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_setImplementation(method: &'static Method, code: *mut ()) -> *mut () {
    let old = method.set_code(code);
    forget_methods();
    old
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn method_exchangeImplementations(a: &'static Method, b: &'static Method) {
    a.set_code(b.set_code(a.code()));
    forget_methods();
}

/// # Safety
///
/// The name and the types are C strings.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn class_addIvar(
    class: &'static Class,
    name: *const c_char,
    size: usize,
    alignment: u8,
    types: *const c_char,
) -> bool {
    // SAFETY: as the caller promises.
    let (name, types) = unsafe { (CStr::from_ptr(name), CStr::from_ptr(types)) };
    let (Ok(size), Some(align)) = (isize::try_from(size), 1isize.checked_shl(alignment.into())) else {
        return false;
    };
    let end = class.instance_size.load(Ordering::Acquire);
    let offset = (end + align - 1) / align * align;
    // Allocations are aligned to 16 bytes.
    if find(class.c_name()).is_some() || align > 16 {
        return false;
    }
    let ivar = Box::leak(Box::new(Ivar { name: name.to_owned(), types: types.to_owned(), offset }));
    lock(&class.data.ivars).push(ivar);
    class.instance_size.store(offset + size, Ordering::Release);
    true
}

/// A protocol. It is an object, so that it can be compared and printed.
pub(crate) struct ProtocolName {
    pub(crate) name: CString,
    parents: Mutex<Vec<CString>>,
}

impl ProtocolName {
    pub(super) fn new(name: CString, parents: Vec<CString>) -> ProtocolName {
        ProtocolName { name, parents: Mutex::new(parents) }
    }
}

static PROTOCOLS: Mutex<Option<HashMap<&'static CStr, Id>>> = Mutex::new(None);

fn new_protocol(name: &CStr) -> Id {
    // It lives forever: it is no leak.
    PROTOCOL.data.live.fetch_sub(1, Ordering::Relaxed);
    super::Strong::new(ProtocolName::new(name.to_owned(), Vec::new())).into_id()
}

/// Registers a protocol unless there is one of its name.
pub(super) fn register_first(protocol: Id) {
    if let Some(name) = protocol_name(protocol) {
        lock(&PROTOCOLS).get_or_insert_default().entry(name).or_insert(protocol);
    }
}

fn protocol_name(protocol: Id) -> Option<&'static CStr> {
    // SAFETY: protocols live forever.
    protocol.cast::<ProtocolName>().map(|protocol| unsafe { &*std::ptr::from_ref(&*protocol.name) })
}

/// The protocol of a name: one that a class of ours conforms to, or one that a program made.
///
/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getProtocol(name: *const c_char) -> Id {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    let is_ours = || {
        crate::table::classes().any(|class| class.data.conforms.iter().any(|own| own.as_bytes() == name.to_bytes()))
    };
    let mut protocols = lock(&PROTOCOLS);
    let protocols = protocols.get_or_insert_default();
    if let Some(protocol) = protocols.get(name) {
        return *protocol;
    }
    if !is_ours() {
        return Id::NIL;
    }
    let protocol = new_protocol(name);
    if let Some(name) = protocol_name(protocol) {
        protocols.insert(name, protocol);
    }
    protocol
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_allocateProtocol(name: *const c_char) -> Id {
    let _ = &PROTOCOL;
    // SAFETY: as the caller promises.
    unsafe { if objc_getProtocol(name).is_nil() { new_protocol(CStr::from_ptr(name)) } else { Id::NIL } }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_registerProtocol(protocol: Id) {
    if let Some(name) = protocol_name(protocol) {
        lock(&PROTOCOLS).get_or_insert_default().insert(name, protocol);
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn protocol_getName(protocol: Id) -> *const c_char {
    protocol_name(protocol).map_or(std::ptr::null(), CStr::as_ptr)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn protocol_isEqual(a: Id, b: Id) -> bool {
    a == b || protocol_name(a).is_some() && protocol_name(a) == protocol_name(b)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn protocol_conformsToProtocol(protocol: Id, other: Id) -> bool {
    protocol_name(protocol).zip(protocol_name(other)).is_some_and(|(own, other)| reaches(own, other))
}

/// True if a protocol is another one, or inherits from it.
fn reaches(own: &CStr, other: &CStr) -> bool {
    if own == other {
        return true;
    }
    let protocol = lock(&PROTOCOLS).as_ref().and_then(|protocols| protocols.get(own).copied());
    let parents = protocol.and_then(Id::cast::<ProtocolName>).map(|protocol| lock(&protocol.parents).clone());
    parents.unwrap_or_default().iter().any(|parent| reaches(parent, other))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn protocol_addProtocol(protocol: Id, parent: Id) {
    if let (Some(protocol), Some(parent)) = (protocol.cast::<ProtocolName>(), protocol_name(parent)) {
        lock(&protocol.parents).push(parent.to_owned());
    }
}

/// The methods of a protocol are not kept: bindings use them to check declarations only.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn protocol_addMethodDescription(_: Id, _: Sel, _: *const c_char, _: Flag, _: Flag) {}

/// # Safety
///
/// `count` is null or a place for the number.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn protocol_copyMethodDescriptionList(
    _: Id,
    _: Flag,
    _: Flag,
    count: *mut u32,
) -> *mut std::ffi::c_void {
    // SAFETY: as the caller promises.
    if let Some(count) = unsafe { count.as_mut() } {
        *count = 0;
    }
    std::ptr::null_mut()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_addProtocol(class: &'static Class, protocol: Id) -> bool {
    let Some(name) = protocol_name(protocol) else { return false };
    lock(&class.data.protocols).push(name);
    true
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn class_conformsToProtocol(class: &'static Class, protocol: Id) -> bool {
    protocol_name(protocol).is_some_and(|name| own_conforms(class, name))
}

fn own_conforms(class: &Class, name: &CStr) -> bool {
    let ours = class.data.conforms.iter().any(|own| own.as_bytes() == name.to_bytes());
    let added = || lock(&class.data.protocols).clone();
    ours || added().into_iter().any(|own| reaches(own, name))
}

/// True if a class or one of its ancestors conforms to a protocol.
pub(crate) fn conforms(class: &'static Class, protocol: Id) -> bool {
    protocol_name(protocol).is_some_and(|name| class.chain().any(|class| own_conforms(class, name)))
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getClass(name: *const c_char) -> Option<&'static Class> {
    // SAFETY: as the caller promises.
    class::find(unsafe { CStr::from_ptr(name) })
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_lookUpClass(name: *const c_char) -> Option<&'static Class> {
    // SAFETY: as the caller promises.
    unsafe { objc_getClass(name) }
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getMetaClass(name: *const c_char) -> Option<&'static Class> {
    // SAFETY: as the caller promises; classes live forever.
    unsafe { objc_getClass(name)?.isa.load(Ordering::Acquire).as_ref() }
}

/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getRequiredClass(name: *const c_char) -> &'static Class {
    // SAFETY: as the caller promises.
    let (class, name) = unsafe { (objc_getClass(name), CStr::from_ptr(name)) };
    class.unwrap_or_else(|| {
        crate::debug::fatal(format_args!("link error: class '{}' not found", name.to_string_lossy()))
    })
}

/// # Safety
///
/// The buffer is null, or has room for `len` classes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getClassList(buffer: *mut *const Class, len: c_int) -> c_int {
    with_classes(|classes| {
        let mut all: Vec<&'static Class> = classes.values().copied().collect();
        all.sort_unstable_by_key(|class| class.c_name().to_owned());
        let room = if buffer.is_null() { 0 } else { usize::try_from(len).unwrap_or(0) };
        for (at, class) in all.iter().take(room).enumerate() {
            // SAFETY: as the caller promises.
            unsafe { buffer.add(at).write(*class) };
        }
        c_int::try_from(all.len()).unwrap_or(c_int::MAX)
    })
}
