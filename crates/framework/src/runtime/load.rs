//! Classes, categories, protocols, selectors and strings that clang emits for GNUstep's ABI, version 2
//! (`-fobjc-runtime=gnustep-2.0`). Each image calls `__objc_load` with the bounds of its sections.
//!
//! ```text
//! selectors ── strings ── protocols ── classes, superclasses first ── categories ── aliases ── +load
//! ```
//!
//! The compiler's structures are the objects: they are completed in place.

use super::Sel;
use super::build::{self, ProtocolName};
use super::class::{
    CONSTRUCTS, Class, ClassData, DESTRUCTS, EMPTY, IS_META, IS_STATIC, Ivar, Method, find, forget_methods,
    with_classes,
};
use super::object::{Id, lock};
use crate::foundation::object::PROTOCOL;
use crate::foundation::string::{NS_CONSTANT_STRING, Text};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::Ordering;

/// The first and the last pointer of a section.
#[repr(C)]
struct Section<T>(*mut T, *mut T);

impl<T> Section<T> {
    fn iter(&self) -> impl Iterator<Item = *mut T> {
        let bytes = self.1.addr().saturating_sub(self.0.addr());
        let first = self.0;
        (0..bytes / size_of::<T>()).map(move |at| first.wrapping_add(at))
    }
}

/// The sections of an image.
#[repr(C)]
pub(crate) struct Image {
    version: usize,
    selectors: Section<[*const c_char; 2]>,
    classes: Section<*mut Class>,
    _class_refs: Section<*mut Class>,
    categories: Section<Category>,
    protocols: Section<RawProtocol>,
    protocol_refs: Section<Id>,
    aliases: Section<(*const c_char, *mut *mut Class)>,
    strings: Section<RawString>,
}

/// [`Image::version`] of an image that was loaded.
const LOADED: usize = usize::MAX;

#[repr(C)]
struct MethodList {
    next: *const MethodList,
    count: i32,
    size: usize,
    first: [(*mut (), *const [*const c_char; 2], *const c_char); 0],
}

#[repr(C)]
struct IvarList {
    count: i32,
    size: usize,
    first: [RawIvar; 0],
}

#[repr(C)]
struct RawIvar {
    name: *const c_char,
    types: *const c_char,
    offset: *mut i32,
    size: u32,
    /// The ownership in two bits, one for the kind of types, the logarithm of the alignment.
    flags: u32,
}

#[repr(C)]
struct ProtocolList {
    next: *const ProtocolList,
    count: usize,
    first: [*mut RawProtocol; 0],
}

/// Eleven words; the others list methods and properties.
#[repr(C)]
struct RawProtocol {
    isa: *const Class,
    /// The name; once loaded, the boxed [`ProtocolName`], as in any instance.
    name: *const c_char,
    parents: *const ProtocolList,
    _lists: [*const c_void; 8],
}

#[repr(C)]
struct Category {
    name: *const c_char,
    class: *const c_char,
    methods: *const MethodList,
    class_methods: *const MethodList,
    protocols: *const ProtocolList,
    _properties: [*const c_void; 2],
}

/// A constant string. Once loaded, its flags and length are the pointer to its text.
#[repr(C)]
struct RawString {
    isa: *const Class,
    flags: u32,
    length: u32,
    size: u32,
    _hash: u32,
    characters: *const c_void,
}

/// Loads what a compiler emitted for an image.
///
/// # Safety
///
/// `image` is the structure that clang emits for this ABI.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn __objc_load(image: *mut Image) {
    // SAFETY: as the caller promises: sections have entries of these types, and nobody else uses them yet.
    unsafe {
        match (*image).version {
            0 => {}
            LOADED => return,
            version => crate::debug::fatal(format_args!("classes of version {version} of GNUstep's ABI")),
        }
        (*image).version = LOADED;
        let image = &*image;
        crate::debug::leaks::watch();
        PROTOCOL.info.fetch_or(IS_STATIC, Ordering::AcqRel);
        NS_CONSTANT_STRING.info.fetch_or(IS_STATIC, Ordering::AcqRel);
        for selector in image.selectors.iter().filter(|selector| !(**selector)[0].is_null()) {
            (*selector)[0] = std::ptr::without_provenance(Sel::register(CStr::from_ptr((*selector)[0])).index());
        }
        image.strings.iter().for_each(|string| load_string(string));
        image.protocols.iter().for_each(|protocol| load_protocol(protocol));
        for reference in image.protocol_refs.iter() {
            let protocol = (*reference).0.cast::<RawProtocol>();
            if !protocol.is_null() {
                load_protocol(protocol);
                let name = protocol_name(protocol);
                *reference = build::objc_getProtocol(name.as_ptr());
            }
        }
        let mut classes = Vec::new();
        image.classes.iter().for_each(|class| load_class(*class, &mut classes));
        let categories: Vec<&Category> = image
            .categories
            .iter()
            .map(|category| &*category)
            .filter(|category| !category.class.is_null())
            .collect();
        categories.iter().for_each(|category| load_category(category));
        for (name, class) in image.aliases.iter().map(|alias| alias.read()) {
            if !name.is_null() && !class.is_null() {
                let class: &'static Class = &**class;
                with_classes(|classes| classes.insert(CStr::from_ptr(name), class));
            }
        }
        forget_methods();
        call_load(&classes, &categories);
    }
}

/// Calls `+load` of classes, and of categories after them.
unsafe fn call_load(classes: &[&'static Class], categories: &[&Category]) {
    let load = Sel::register(c"load");
    let call = |class: &'static Class, code: *mut ()| {
        // SAFETY: `+load` takes no other arguments.
        let code = unsafe { std::mem::transmute::<*mut (), extern "C-unwind" fn(Id, Sel)>(code) };
        code(Id(std::ptr::from_ref(class).cast_mut().cast()), load);
    };
    for class in classes {
        // SAFETY: classes live forever.
        let meta = unsafe { class.isa.load(Ordering::Acquire).as_ref() };
        let own =
            meta.and_then(|meta| lock(&meta.data.added).iter().rfind(|own| own.selector == load.name()).copied());
        if let Some(method) = own {
            call(class, method.code());
        }
    }
    for category in categories {
        // SAFETY: the compiler's structures.
        unsafe {
            let own = methods(category.class_methods).into_iter().find(|(selector, ..)| *selector == load);
            if let (Some((_, _, code)), Some(class)) = (own, find(CStr::from_ptr(category.class))) {
                call(class, code);
            }
        }
    }
}

unsafe fn load_string(string: *mut RawString) {
    const UTF16: u32 = 2;
    // SAFETY: an entry of the section; its first two words become those of an instance.
    unsafe {
        let RawString { isa, flags, length, size, characters, .. } = string.read();
        if isa.is_null() {
            return;
        }
        let text = if flags == UTF16 {
            let units = std::slice::from_raw_parts(characters.cast::<u16>(), length as usize);
            Text::new(&String::from_utf16_lossy(units))
        } else {
            let bytes = std::slice::from_raw_parts(characters.cast::<u8>(), size as usize);
            Text::new(&String::from_utf8_lossy(bytes))
        };
        string.cast::<*const Class>().write(&raw const NS_CONSTANT_STRING);
        string.cast::<*mut Text>().add(1).write(Box::into_raw(Box::new(text)));
    }
}

/// The name of a protocol, loaded or not.
unsafe fn protocol_name(protocol: *mut RawProtocol) -> CString {
    // SAFETY: the compiler's structure, of which the class tells the state.
    unsafe {
        if std::ptr::eq((*protocol).isa, &raw const PROTOCOL) {
            (*(*protocol).name.cast::<ProtocolName>()).name.clone()
        } else {
            CStr::from_ptr((*protocol).name).to_owned()
        }
    }
}

unsafe fn protocols(list: *const ProtocolList) -> Vec<*mut RawProtocol> {
    let (mut all, mut list) = (Vec::new(), list);
    // SAFETY: lists of the compiler.
    while let Some(part) = unsafe { list.as_ref() } {
        // SAFETY: as above.
        all.extend((0..part.count).map(|at| unsafe { part.first.as_ptr().add(at).read() }));
        list = part.next;
    }
    all
}

unsafe fn load_protocol(protocol: *mut RawProtocol) {
    // SAFETY: an entry of the section; its first two words become those of an instance.
    unsafe {
        if std::ptr::eq((*protocol).isa, &raw const PROTOCOL) || (*protocol).name.is_null() {
            return;
        }
        let name = protocol_name(protocol);
        let parents = protocols((*protocol).parents).into_iter().map(|parent| protocol_name(parent)).collect();
        (*protocol).name = Box::into_raw(Box::new(ProtocolName::new(name, parents))).cast();
        (*protocol).isa = &raw const PROTOCOL;
        build::register_first(Id(protocol.cast()));
    }
}

/// Selectors, types and code of a list.
unsafe fn methods(list: *const MethodList) -> Vec<(Sel, CString, *mut ())> {
    let (mut all, mut list) = (Vec::new(), list);
    // SAFETY: lists of the compiler.
    while let Some(part) = unsafe { list.as_ref() } {
        for at in 0..usize::try_from(part.count).unwrap_or(0) {
            // SAFETY: as above; the selectors are registered.
            unsafe {
                let (code, selector, types) = part.first.as_ptr().byte_add(at * part.size).read();
                all.push((Sel(selector.cast()), CStr::from_ptr(types).to_owned(), code));
            }
        }
        list = part.next;
    }
    all
}

/// Adds methods, which come before those that the class has.
unsafe fn add_methods(class: &'static Class, list: *const MethodList) {
    // SAFETY: a list of the compiler.
    for (selector, types, code) in unsafe { methods(list) } {
        match selector.name() {
            name if name == c".cxx_construct" => class.info.fetch_or(CONSTRUCTS, Ordering::AcqRel),
            name if name == c".cxx_destruct" => class.info.fetch_or(DESTRUCTS, Ordering::AcqRel),
            _ => 0,
        };
        lock(&class.data.added).insert(0, Method::added(class.is_meta(), selector, types, code));
    }
}

unsafe fn add_protocols(class: &'static Class, list: *const ProtocolList) {
    // SAFETY: a list of the compiler.
    for protocol in unsafe { protocols(list) } {
        // SAFETY: as above.
        unsafe { load_protocol(protocol) };
        build::class_addProtocol(class, Id(protocol.cast()));
    }
}

/// Completes a class of the compiler, after its superclass.
unsafe fn load_class(class: *mut Class, loaded: &mut Vec<&'static Class>) {
    // SAFETY: the compiler's structures; a class without data is not loaded yet, and nobody uses it.
    unsafe {
        if class.is_null() || is_loaded(class) {
            return;
        }
        let above = (*class).super_class.load(Ordering::Acquire);
        if !above.is_null() {
            load_class(above, loaded);
        }
        let meta = (*class).isa.load(Ordering::Acquire);
        for class in [class, meta] {
            (&raw mut (*class).data).write(build::data());
            (*class).table.store((&raw const EMPTY).cast_mut(), Ordering::Release);
        }
        let (meta, class): (&'static Class, &'static Class) = (&*meta, &*class);
        meta.info.fetch_or(IS_META, Ordering::AcqRel);
        // A metaclass inherits from the metaclass above, that of a root class from the root class.
        let meta_above = if above.is_null() {
            std::ptr::from_ref(class).cast_mut()
        } else {
            (*above).isa.load(Ordering::Acquire)
        };
        meta.super_class.store(meta_above, Ordering::Release);
        meta.isa.store(meta_above, Ordering::Release);
        place_variables(class, above.as_ref());
        if let Some(above) = above.as_ref() {
            class.info.fetch_or(above.info.load(Ordering::Acquire) & CONSTRUCTS, Ordering::AcqRel);
        }
        add_methods(class, class.methods.cast());
        add_methods(meta, meta.methods.cast());
        add_protocols(class, class.protocols.cast());
        with_classes(|classes| classes.insert(class.c_name(), class));
        loaded.push(class);
    }
}

/// True if a class has our data.
unsafe fn is_loaded(class: *const Class) -> bool {
    // SAFETY: the field is read as a pointer, which is null before a class is loaded.
    unsafe { !(&raw const (*class).data).cast::<*const ClassData>().read().is_null() }
}

/// Places the variables of instances behind those of the superclass.
unsafe fn place_variables(class: &'static Class, above: Option<&'static Class>) {
    let start = above.map_or(0, |above| above.instance_size.load(Ordering::Acquire));
    let size = class.instance_size.load(Ordering::Acquire);
    // A size that is not negative is final, as the offsets are.
    if size > 0 {
        return;
    }
    let mut end = start;
    let (mut last_offset, mut last_placed) = (None, 0);
    // SAFETY: a list of the compiler.
    unsafe {
        if let Some(list) = class.ivars.cast::<IvarList>().as_ref() {
            for at in 0..usize::try_from(list.count).unwrap_or(0) {
                let ivar = &*list.first.as_ptr().byte_add(at * list.size);
                let (size, align) = (ivar.size.max(1) as isize, 1isize << (ivar.flags >> 3 & 31));
                // Bit fields in the same unit have the same offset.
                let offset =
                    if last_offset == Some(*ivar.offset) { last_placed } else { (end + align - 1) & !(align - 1) };
                (last_offset, last_placed) = (Some(*ivar.offset), offset);
                *ivar.offset = i32::try_from(offset).unwrap_or(i32::MAX);
                end = end.max(offset + size);
                let (name, types) = (CStr::from_ptr(ivar.name).to_owned(), CStr::from_ptr(ivar.types).to_owned());
                lock(&class.data.ivars).push(Box::leak(Box::new(Ivar { name, types, offset })));
            }
        }
    }
    class.instance_size.store(end.max(8), Ordering::Release);
}

unsafe fn load_category(category: &Category) {
    // SAFETY: the compiler's structures.
    unsafe {
        let (class, name) = (find(CStr::from_ptr(category.class)), CStr::from_ptr(category.name));
        let Some(class) = class else {
            let class = CStr::from_ptr(category.class).to_string_lossy();
            crate::debug::fatal(format_args!(
                "link error: class '{class}' of category '{}' not found",
                name.to_string_lossy()
            ));
        };
        add_methods(class, category.methods);
        if let Some(meta) = class.isa.load(Ordering::Acquire).as_ref() {
            add_methods(meta, category.class_methods);
        }
        add_protocols(class, category.protocols);
    }
}
