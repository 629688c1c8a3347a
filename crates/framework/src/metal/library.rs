//! Libraries, from source, data and files.

use super::constants::ConstantValues;
use super::descriptors::{self, CompileOptions, FunctionDescriptor};
use super::device::{Device, failed};
use super::errors;
use super::function::{Function, FunctionKind};
use crate::foundation::array::Items;
use crate::foundation::bundle::Folder;
use crate::foundation::copied;
use crate::foundation::data::Bytes;
use crate::foundation::dictionary::Pairs;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Fields, Id, Object, Strong, pool};
use air::metallib;
use compute::{Error, FunctionConstantValues, MathMode};
use std::sync::OnceLock;

/// A library.
pub(crate) struct Library {
    pub(crate) device: Strong,
    pub(crate) library: compute::Library,
    origin: Origin,
    label: Fields<Strong>,
    listed: OnceLock<Vec<Listed>>,
}

/// The text or file that its functions are listed from.
enum Origin {
    Source(String, Box<compute::CompileOptions>),
    Metallib(Vec<u8>),
}

/// A function of a library.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) kind: FunctionKind,
    pub(crate) constants: Vec<ListedConstant>,
}

/// A function constant of a function.
#[derive(Clone)]
pub(crate) struct ListedConstant {
    pub(crate) name: String,
    pub(crate) index: usize,
    pub(crate) data_type: usize,
    pub(crate) required: bool,
}

impl Library {
    fn strong(device: Object<Device>, library: compute::Library, origin: Origin) -> Strong {
        let (label, listed) = (Fields::default(), OnceLock::new());
        Strong::new(Library { device: device.strong(), library, origin, label, listed })
    }

    /// All functions that programs can ask for.
    fn functions(&self) -> &[Listed] {
        self.listed.get_or_init(|| match &self.origin {
            Origin::Source(text, options) => in_source(&self.library, text, options),
            Origin::Metallib(bytes) => in_metallib(bytes),
        })
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Listed> {
        self.functions().iter().find(|function| function.name == name)
    }
}

fn in_source(library: &compute::Library, text: &str, options: &compute::CompileOptions) -> Vec<Listed> {
    let Some(reflection) = library.source_reflection() else { return Vec::new() };
    let constant = |constant: &msl::reflect::FunctionConstant| ListedConstant {
        name: constant.name.clone(),
        index: constant.index as usize,
        data_type: metallib::data_type(&constant.ty).map_or(0, usize::from),
        required: constant.required,
    };
    let all = &reflection.function_constants;
    let kernels = reflection.kernels.iter().map(|kernel| Listed {
        name: kernel.name.clone(),
        kind: FunctionKind::Kernel,
        constants: all
            .iter()
            .filter(|known| kernel.function_constants.contains(&known.index))
            .map(constant)
            .collect(),
    });
    let visible = || reflection.functions.iter().filter(|function| function.stage == "visible");
    // The front end lists constants of kernels only, a compiled library those of all functions.
    if !all.is_empty()
        && visible().next().is_some()
        && let Ok(compiled) = air::compile(&parsed(text, options), air::MathMode::Fast)
    {
        return in_metallib(&compiled.library);
    }
    let visible = visible().map(|function| Listed {
        name: function.name.clone(),
        kind: FunctionKind::Visible,
        constants: Vec::new(),
    });
    kernels.chain(visible).collect()
}

fn parsed(text: &str, options: &compute::CompileOptions) -> msl::Compilation {
    let front_end = msl::Options {
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        std: options.language_version,
        warnings: false,
        ..msl::Options::default()
    };
    msl::compile_source(&options.name, text, &front_end)
}

fn in_metallib(bytes: &[u8]) -> Vec<Listed> {
    let Ok(library) = metallib::Library::parse(bytes) else { return Vec::new() };
    let kind = |function: &metallib::Function| match function.kind {
        metallib::FunctionKind::Kernel => Some(FunctionKind::Kernel),
        metallib::FunctionKind::Visible => Some(FunctionKind::Visible),
        _ => None,
    };
    let constant = |constant: &metallib::Constant| ListedConstant {
        name: constant.name.to_string(),
        index: constant.index.into(),
        data_type: constant.data_type.into(),
        required: false,
    };
    let functions = library.functions().iter().filter_map(|function| {
        let constants = function.constants.iter().map(constant).collect();
        Some(Listed { name: function.name().to_owned(), kind: kind(function)?, constants })
    });
    functions.collect()
}

pub(crate) fn with_source(this: Object<Device>, here: &str, source: Id, options: Id, error: *mut Id) -> Id {
    let Some(source) = string::text(source) else {
        crate::debug::fail(here, format_args!("source must not be nil."));
        return Id::NIL;
    };
    let options =
        options.cast::<Fields<CompileOptions>>().map(|options| options.lock().clone()).unwrap_or_default();
    let options = compile_options(&options);
    match this.device.new_library_with_source(&source, &options) {
        Ok(library) => Library::strong(this, library, Origin::Source(source, Box::new(options))).into_id(),
        Err(problem) => failed(errors::of_library(&problem), error),
    }
}

fn compile_options(options: &CompileOptions) -> compute::CompileOptions {
    let math_mode = match options.math_mode {
        descriptors::MATH_FAST if options.fast_math => MathMode::Fast,
        descriptors::MATH_RELAXED => MathMode::Relaxed,
        _ => MathMode::Safe,
    };
    let defines = Pairs::of(options.macros.id());
    let defines =
        defines.iter().map(|(name, value)| (string::describe(name.id()), Some(string::describe(value.id()))));
    let mut made = compute::CompileOptions { defines: defines.collect(), math_mode, ..Default::default() };
    let (major, minor) = (options.version >> 16, options.version & 0xffff);
    if let (Ok(major), Ok(minor)) = (major.try_into(), minor.try_into()) {
        made.language_version = msl::LanguageVersion { major, minor };
    }
    made
}

pub(crate) fn with_data(this: Object<Device>, here: &str, data: Id, error: *mut Id) -> Id {
    match data.expect::<Bytes>(here, "data") {
        Some(bytes) => with_bytes(this, bytes.as_slice().to_vec(), error),
        None => Id::NIL,
    }
}

fn with_bytes(this: Object<Device>, bytes: Vec<u8>, error: *mut Id) -> Id {
    match this.device.new_library_with_data(bytes.clone()) {
        Ok(library) => Library::strong(this, library, Origin::Metallib(bytes)).into_id(),
        Err(problem) => failed(errors::of_library(&problem), error),
    }
}

pub(crate) fn with_file(this: Object<Device>, path: &str, error: *mut Id) -> Id {
    match std::fs::read(path) {
        Ok(bytes) => with_bytes(this, bytes, error),
        Err(problem) => {
            let problem = Error::File { path: path.into(), reason: problem.to_string() };
            failed(errors::of_library(&problem), error)
        }
    }
}

/// `default.metallib` of a bundle.
pub(crate) fn default(this: Object<Device>, bundle: Id, error: *mut Id) -> Id {
    let main = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("default.metallib")));
    let path = match bundle.cast::<Folder>() {
        Some(folder) => folder.resource("default", "metallib"),
        None => main.filter(|path| path.exists()).map(|path| path.display().to_string()),
    };
    match path {
        Some(path) => with_file(this, &path, error),
        None => failed(errors::no_default_library(), error),
    }
}

/// A function with values for its constants, or nil and an error.
fn specialized(this: Object<Library>, wanted: &Wanted, error: *mut Id) -> Id {
    match Function::create(this, &wanted.name, &wanted.values) {
        Ok(function) => {
            if let (Some(function), Some(name)) = (function.cast::<Function>(), &wanted.specialized_name) {
                let _ = function.specialized_name.set(name.clone());
            }
            function.into_id()
        }
        Err(problem) => failed(errors::of_library(&problem), error),
    }
}

/// The name and the constants of a function.
struct Wanted {
    name: String,
    values: Vec<ConstantValues>,
    specialized_name: Option<String>,
}

impl Wanted {
    fn named(name: Id, values: Id) -> Wanted {
        Wanted { name: string::describe(name), values: ConstantValues::of(values), specialized_name: None }
    }

    fn described(descriptor: Id) -> Option<Wanted> {
        let descriptor = descriptor.cast::<Fields<FunctionDescriptor>>()?.lock().clone();
        let specialized_name = string::text(descriptor.specialized_name.id()).filter(|name| !name.is_empty());
        Some(Wanted { specialized_name, ..Wanted::named(descriptor.name.id(), descriptor.constants.id()) })
    }
}

class! {
    LIBRARY = "MTLDebugLibrary": NS_OBJECT, new Library, ["MTLLibrary"]
    refused {
        "newIntersectionFunctionWithDescriptor:error:" "this device has no ray tracing (supportsRaytracing is NO)",
        "newIntersectionFunctionWithDescriptor:completionHandler:" "this device has no ray tracing (supportsRaytracing is NO)",
    }
    absent { "reflectionForFunctionWithName:", }
    methods {
        - "device" (this) -> Id { this.device.id() }
        - "label" (this) -> Id { this.label.lock().clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut *this.label.lock(), copied(label));
        }
        - "type" (_this) -> isize { 0 }
        - "installName" (_this) -> Id { Id::NIL }
        - "functionNames" (this) -> Id {
            Items::strong(this.functions().iter().map(|function| string::new(&function.name)).collect()).autorelease()
        }
        - "newFunctionWithName:" (this, name: Id) -> Id {
            let Some(name) = string::text(name) else {
                crate::debug::fail(HERE, format_args!("functionName must not be nil."));
                return Id::NIL;
            };
            Function::general(this, &name).map_or(Id::NIL, Strong::into_id)
        }
        - "newFunctionWithName:constantValues:error:" (this, name: Id, values: Id, error: *mut Id) -> Id {
            forbid!(HERE, values.is_nil() && !crate::debug::is_off(), Id::NIL, "constantValues must not be nil.");
            specialized(this, &Wanted::named(name, values), error)
        }
        - "newFunctionWithName:constantValues:completionHandler:" (this, name: Id, values: Id, handler: Block) {
            let (Some(handler), this) = (Kept::new(handler), this.strong()) else { return };
            let wanted = Wanted::named(name, values);
            std::thread::spawn(move || pool::with(|| call_with_function(&this, &wanted, handler)));
        }
        - "newFunctionWithDescriptor:error:" (this, descriptor: Id, error: *mut Id) -> Id {
            let Some(wanted) = Wanted::described(descriptor) else {
                crate::debug::fail(HERE, format_args!("descriptor must not be nil."));
                return Id::NIL;
            };
            specialized(this, &wanted, error)
        }
        - "newFunctionWithDescriptor:completionHandler:" (this, descriptor: Id, handler: Block) {
            let (Some(handler), Some(wanted)) = (Kept::new(handler), Wanted::described(descriptor)) else { return };
            let this = this.strong();
            std::thread::spawn(move || pool::with(|| call_with_function(&this, &wanted, handler)));
        }
    }
}

fn call_with_function(library: &Strong, wanted: &Wanted, handler: Kept) {
    let mut error = Id::NIL;
    let function = library.cast().map_or(Id::NIL, |library| specialized(library, wanted, &raw mut error));
    let function = Strong::owned(function);
    // SAFETY: the methods take blocks with these parameters.
    unsafe { handler.call2(function.id(), error) };
}

/// The values as `compute` takes them, without those that a function does not have, which Metal ignores.
pub(crate) fn known(listed: &Listed, values: &[ConstantValues]) -> FunctionConstantValues {
    let mut known = FunctionConstantValues::new();
    for value in values {
        value.add_to(&mut known, &listed.constants);
    }
    known
}
