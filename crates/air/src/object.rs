//! `.air` files, the objects between compiler and linker: LLVM bitcode with a module for each function of a library.
//!
//! Apple's compiler writes one module for a source. Here each function has its own module from the start, as in a
//! library, and LLVM's format has room for several in a file: its tools list and print them all. Linking unpacks them;
//! names, versions and function constants are in the metadata.

use crate::ir::{ModuleRef, Operand, named};
use crate::metallib::{Function, FunctionKind, ParseError, unwrap};
use crate::reflect::{library_constants, reflect, reflection_buffer};
use crate::{bitcode, guard};
use inkwell::context::Context;
use inkwell::module::Module;

const MAGIC: &[u8] = b"BC\xc0\xde";
/// Block that begins what belongs to a module.
const IDENTIFICATION: u32 = 13;
/// Block of a module.
const MODULE: u32 = 8;

/// True if bytes begin as bitcode does.
pub fn is_object(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || unwrap(bytes).is_some_and(|inner| inner.starts_with(MAGIC))
}

/// An object with functions.
pub fn write_object<'f>(functions: impl IntoIterator<Item = &'f Function<'f>>) -> Result<Vec<u8>, ParseError> {
    let mut object = MAGIC.to_vec();
    for function in functions {
        let bitcode = function.bitcode()?;
        let inner = unwrap(bitcode).unwrap_or(bitcode);
        object.extend(inner.strip_prefix(MAGIC).unwrap_or(inner));
    }
    Ok(object)
}

/// The functions of an object; the error is a message.
pub fn read_object(bytes: &[u8]) -> Result<Vec<Function<'static>>, String> {
    modules(bytes)?.iter().map(|module| guard::run(|| function(module))?).collect()
}

/// Bitcode of each module.
fn modules(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let bytes = unwrap(bytes).unwrap_or(bytes);
    let mut rest = bytes.strip_prefix(MAGIC).ok_or("it is no LLVM bitcode")?;
    let mut modules: Vec<Vec<u8>> = Vec::new();
    let mut has_module = true;
    while !rest.is_empty() {
        let (block, size) = block(rest).ok_or("a block of the bitcode does not fit")?;
        let (bytes, after) = rest.split_at(size);
        rest = after;
        // A module of an old writer has no identification.
        if block == IDENTIFICATION || block == MODULE && has_module {
            modules.push(MAGIC.to_vec());
            has_module = false;
        }
        has_module |= block == MODULE;
        modules.last_mut().ok_or("a block stands before the first module")?.extend(bytes);
    }
    Ok(modules)
}

/// Number and size of the block that a stream begins with: two bits that say so, its number, the width of its
/// abbreviations, padding, and its size in words.
fn block(stream: &[u8]) -> Option<(u32, usize)> {
    let word = |at: usize| Some(u32::from_le_bytes(stream.get(at..at + 4)?.try_into().ok()?));
    let head = word(0)?;
    let (is_block, number, continues) = (head & 3 == 1, head >> 2 & 0x7f, head >> 9 & 1 == 1);
    let size = (word(4)? as usize).checked_mul(4)?.checked_add(8)?;
    (is_block && !continues && size <= stream.len()).then_some((number, size))
}

/// The function of a module, as a library has it.
fn function(bitcode: &[u8]) -> Result<Function<'static>, String> {
    let context = Context::create();
    let module = bitcode::parse(&context, bitcode, "object")?;
    let (kind, name) = entry_point(&module)?;
    let mut function = Function::new(name, kind, bitcode);
    if let Some([major, minor]) = version(&module, c"air.version") {
        function.air_version = (major, minor);
    }
    if let Some([major, minor]) = version(&module, c"air.language_version") {
        function.language_version = (major, minor);
    }
    let described = reflect(&module).map_err(|error| error.to_string())?;
    function.constants = library_constants(&described);
    function.reflection = reflection_buffer(&module).map_err(|error| error.to_string())?.map(Into::into);
    Ok(function)
}

fn entry_point(module: &Module) -> Result<(FunctionKind, String), String> {
    let lists = [
        (c"air.kernel", FunctionKind::Kernel),
        (c"air.visible", FunctionKind::Visible),
        (c"air.intersection", FunctionKind::Intersection),
        (c"air.vertex", FunctionKind::Vertex),
        (c"air.fragment", FunctionKind::Fragment),
    ];
    let mut found = Vec::new();
    for (list, kind) in lists {
        for node in named(ModuleRef::of(module), list) {
            match node.operands().first() {
                Some(Operand::Global(function)) => found.push((kind, function.name())),
                _ => return Err(format!("an entry of {} does not begin with a function", list.to_string_lossy())),
            }
        }
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err("a module has no kernel and no visible function".into()),
        number => Err(format!(
            "a module has {number} functions, as Apple's compiler writes it: compile its source here, or link it on a Mac"
        )),
    }
}

/// The first two numbers of a list such as `!{!"Metal", i32 3, i32 1, i32 0}`.
fn version(module: &Module, list: &std::ffi::CStr) -> Option<[u16; 2]> {
    let node = *named(ModuleRef::of(module), list).first()?;
    let numbers: Vec<u16> = node
        .operands()
        .iter()
        .filter_map(|operand| match operand {
            Operand::Int(number) => u16::try_from(*number).ok(),
            _ => None,
        })
        .collect();
    numbers.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MathMode;

    const SOURCE: &str = "#include <metal_stdlib>\nusing namespace metal;\n\
        constant int K [[function_constant(3)]];\n\
        [[visible]] float twice(float x) { return 2 * x; }\n\
        kernel void a(device float *x, uint i [[thread_position_in_grid]]) { x[i] += K; }\n\
        kernel void b(device float *x, threadgroup float *t [[threadgroup(0)]]) { x[0] = t[0]; }\n";

    fn functions() -> Vec<Function<'static>> {
        let options = msl::Options { std: "metal3.0".parse().expect("a version"), ..msl::Options::default() };
        let compilation = msl::compile_source("k.metal", SOURCE, &options);
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let source = crate::ProgramSource::from(&compilation);
        let program = &compilation.program;
        let mut functions: Vec<Function> = program
            .kernels()
            .map(|entry| crate::compile_kernel(source, entry, MathMode::Fast).expect("it compiles"))
            .collect();
        let visible = crate::compile_visible(source, &program.visible_functions[0], MathMode::Fast);
        functions.push(visible.expect("it compiles"));
        functions
    }

    #[test]
    fn functions_are_the_same_after_an_object() {
        let functions = functions();
        let object = write_object(&functions).expect("it is written");
        assert!(is_object(&object));
        assert_eq!(read_object(&object).expect("it is read"), functions);
    }

    #[test]
    fn damage_is_an_error() {
        let functions = functions();
        let object = write_object(&functions).expect("it is written");
        assert!(read_object(b"MTLB").unwrap_err().contains("no LLVM bitcode"));
        assert_eq!(read_object(MAGIC).expect("nothing is in it"), []);
        for end in (5..object.len()).step_by(97) {
            assert!(read_object(&object[..end / 4 * 4 + 1]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_module_of_several_functions_is_refused() {
        let context = Context::create();
        let text =
            "declare void @a()\ndeclare void @b()\n!air.kernel = !{!0, !1}\n!0 = !{ptr @a}\n!1 = !{ptr @b}\n\0";
        let buffer = inkwell::memory_buffer::MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "two");
        let module = context.create_module_from_ir(buffer).expect("it is IR");
        let error = read_object(module.write_bitcode_to_memory().as_slice()).unwrap_err();
        assert!(error.contains("2 functions"), "{error}");
    }
}
