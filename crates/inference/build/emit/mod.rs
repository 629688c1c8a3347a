//! Writes the Rust bindings of the shader library, which use the traits and types of `crate::metal::library`.
//!
//! ```text
//! pub mod norm {                                  one module for each file that has a kernel or a constant
//!     pub static SHADER: Shader                   its name, text and library
//!     pub const TILE_ROWS: usize                  constants that the shader and the host share
//!     pub struct NormParams { … }                 parameters, laid out as in MSL
//!     pub enum RmsNorm {}                         a family …
//!     pub struct RmsNormConstants { … }           … its function constants
//!     pub struct RmsNormArgs<'a> { … }            … its arguments
//!     pub const RMS_NORM_F32: Kernel<RmsNorm>     … each of its kernels
//!     impl RmsNorm { pub fn select(…) }           … and the choice between them by types
//! }
//! pub static ALL: [KernelInfo; N]                 every kernel, by file
//! pub const DECODERS: […]                         every format, with its decoder's block
//! ```

mod family;
mod operations;
mod parameters;
mod select;

pub(crate) use operations::operations;

use super::interface::{self, Family, SharedConstant};
use super::{Shader, names};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The contents of one Rust module.
#[derive(Default)]
struct Module<'a> {
    shader: Option<&'a Shader>,
    constants: Vec<&'a SharedConstant>,
    families: Vec<Family>,
}

/// The contents of `kernels.rs`.
pub(crate) fn library(shaders: &[Shader]) -> Result<String, String> {
    let modules = modules(shaders)?;
    let (infos, indices) = kernel_infos(shaders);
    let families: Vec<&Family> = modules.values().flat_map(|module| &module.families).collect();
    let formats = select::formats(&families);
    let mut out = String::new();
    for (name, module) in &modules {
        let problem = |problem| format!("{name}.metal: {problem}");
        write_module(&mut out, name, module, &indices, &formats).map_err(problem)?;
    }
    let statics = shaders.iter().map(|shader| format!("&{}::SHADER", shader.name)).collect::<Vec<_>>().join(", ");
    let _ = write!(
        out,
        "/// Every shader, by name.\n\
         pub static SHADERS: [&Shader; {}] = [{statics}];\n\
         /// Every kernel, by shader.\n\
         pub static ALL: [KernelInfo; {}] = [\n{infos}];\n",
        shaders.len(),
        indices.len()
    );
    out += &select::decoders(&formats, shaders.iter().flat_map(|shader| &shader.shared_constants));
    Ok(out)
}

/// Families and constants by the file that defines them. The kernels of a template in an include may be in several
/// shaders.
fn modules(shaders: &[Shader]) -> Result<BTreeMap<&str, Module<'_>>, String> {
    let mut modules: BTreeMap<&str, Module<'_>> = BTreeMap::new();
    for shader in shaders {
        modules.entry(&shader.name).or_default().shader = Some(shader);
        for constant in shader.shared_constants.iter().filter(|constant| !constant.name.contains("::")) {
            let known = &mut modules.entry(&constant.module).or_default().constants;
            if !known.contains(&constant) {
                known.push(constant);
            }
        }
        for family in &shader.families {
            let problem = |problem| format!("{}: {problem}", shader.path.display());
            let known = &mut modules.entry(&family.module).or_default().families;
            interface::add(known, family.clone()).map_err(problem)?;
        }
    }
    Ok(modules)
}

/// The entries of `ALL`, and the index of each kernel.
fn kernel_infos(shaders: &[Shader]) -> (String, BTreeMap<&str, usize>) {
    let (mut lines, mut indices) = (String::new(), BTreeMap::new());
    for shader in shaders {
        for kernel in shader.families.iter().flat_map(|family| &family.instances).map(|instance| &instance.kernel) {
            let (module, name, index) = (&shader.name, &kernel.name, indices.len());
            let argument = |argument: &msl::reflect::Argument| {
                format!("ArgumentInfo {{ name: {:?}, element_size: {} }}", argument.name, argument.element_size)
            };
            let arguments = kernel.arguments.iter().map(argument).collect::<Vec<_>>().join(", ");
            let _ = writeln!(
                lines,
                "    KernelInfo {{ shader: &{module}::SHADER, name: {name:?}, index: {index}, arguments: &[{arguments}] }},"
            );
            indices.insert(name.as_str(), index);
        }
    }
    (lines, indices)
}

fn write_module(
    out: &mut String,
    name: &str,
    module: &Module<'_>,
    indices: &BTreeMap<&str, usize>,
    formats: &[String],
) -> Result<(), String> {
    if module.shader.is_none() && module.families.is_empty() && module.constants.is_empty() {
        return Ok(());
    }
    let file = format!("{name}.metal");
    match module.shader {
        Some(shader) => {
            let _ = writeln!(out, "/// `{file}`:\n///\n/// ```text");
            for line in shader.head.lines() {
                let _ = writeln!(out, "{}", format!("/// {line}").trim_end());
            }
            out.push_str("/// ```\n");
        }
        None => {
            let _ = writeln!(out, "/// `include/{file}`.");
        }
    }
    let _ = write!(
        out,
        "pub mod {name} {{\n\
         #[allow(unused_imports, reason = \"a file may use few of them\")]\n\
         use super::*;\n"
    );
    if let Some(shader) = module.shader {
        let _ = writeln!(
            out,
            "/// `{file}`.\n\
             pub static SHADER: Shader = Shader {{ name: {name:?}, source: {}, metallib: {} }};",
            embed("include_str", &file),
            metallib(shader),
        );
    }
    for constant in &module.constants {
        let (name, value) = (&constant.name, constant.value);
        let ty = if value < 0 { "isize" } else { "usize" };
        let _ = writeln!(out, "/// `{name}` of the shader.\npub const {name}: {ty} = {value};");
    }
    parameters::structs(out, module.families.iter().flat_map(|family| &family.arguments))?;
    for family in &module.families {
        family::items(out, family, &file, indices);
        select::select(out, family, formats);
    }
    out.push_str("}\n");
    Ok(())
}

fn metallib(shader: &Shader) -> String {
    let Some(compiler) = shader.compiler else { return "None".into() };
    let data = embed("include_bytes", &format!("{}.metallib", shader.name));
    format!("Some(PrecompiledLibrary {{ data: {data}, compiler: LibraryCompiler::{compiler} }})")
}

fn embed(how: &str, file: &str) -> String {
    format!("{how}!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))")
}

/// The Rust name of a family's type.
fn type_name(family: &Family) -> String {
    names::camel(&family.name)
}
