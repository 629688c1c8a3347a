//! Writes the Rust side of the shader library: `crate::metal::library` has the traits and types that it uses.
//!
//! ```text
//! pub mod norm {                                  one module for each file
//!     pub static SHADER: Shader                   its name, text and library
//!     pub struct NormParams { … }                 parameters, laid out as in MSL
//!     pub enum RmsNorm {}                         a family …
//!     pub struct RmsNormConstants { … }           … its function constants
//!     pub struct RmsNormArgs<'a> { … }            … its arguments
//!     pub const RMS_NORM_F32: Kernel<RmsNorm>     … and each of its kernels
//! }
//! pub static ALL: [KernelInfo; N]                 every kernel, by file
//! ```

mod parameters;

use super::Shader;
use super::interface::Family;
use super::names::{self, camel, field};
use msl::reflect::{Argument, FunctionConstant};
use std::fmt::Write;

/// The whole of `kernels.rs`.
pub(crate) fn library(shaders: &[Shader]) -> Result<String, String> {
    let mut out = String::new();
    let mut infos = String::new();
    let mut count = 0;
    for shader in shaders {
        module(&mut out, shader, count)?;
        for kernel in shader.families.iter().flat_map(|family| &family.kernels) {
            let (module, name) = (&shader.name, &kernel.name);
            let _ =
                writeln!(infos, "    KernelInfo {{ shader: &{module}::SHADER, name: {name:?}, index: {count} }},");
            count += 1;
        }
    }
    let modules = shaders.iter().map(|shader| format!("&{}::SHADER", shader.name)).collect::<Vec<_>>().join(", ");
    let _ = write!(
        out,
        "/// Every shader, by name.\n\
         pub static SHADERS: [&Shader; {}] = [{modules}];\n\
         /// Every kernel, by shader.\n\
         pub static ALL: [KernelInfo; {count}] = [\n{infos}];\n",
        shaders.len()
    );
    Ok(out)
}

/// The module of one file; `first` is the place of its first kernel among all.
fn module(out: &mut String, shader: &Shader, first: usize) -> Result<(), String> {
    let (name, file) = (&shader.name, file_name(shader));
    let _ = writeln!(out, "/// `{file}`:\n///\n/// ```text");
    for line in shader.head.lines() {
        let _ = writeln!(out, "{}", format!("/// {line}").trim_end());
    }
    let _ = write!(
        out,
        "/// ```\n\
         pub mod {name} {{\n\
         #[allow(unused_imports, reason = \"a file may use few of them\")]\n\
         use super::*;\n\
         /// `{file}`.\n\
         pub static SHADER: Shader = Shader {{ name: {name:?}, source: {}, metallib: {} }};\n",
        embed("include_str", &file),
        metallib(shader),
    );
    let arguments = shader.families.iter().flat_map(|family| &family.arguments);
    parameters::structs(out, arguments).map_err(|problem| format!("{}: {problem}", shader.path.display()))?;
    let mut place = first;
    for family in &shader.families {
        family_items(out, family, &file, &mut place);
    }
    out.push_str("}\n");
    Ok(())
}

fn family_items(out: &mut String, family: &Family, file: &str, place: &mut usize) {
    let (name, type_name) = (&family.name, camel(&family.name));
    let _ = write!(
        out,
        "/// The kernels of `{name}` in `{file}`.\n\
         #[derive(Clone, Copy, Debug)]\n\
         pub enum {type_name} {{}}\n\
         impl Family for {type_name} {{\n\
         type Constants = {type_name}Constants;\n\
         type Arguments<'a> = {type_name}Args<'a>;\n\
         }}\n"
    );
    constants(out, name, &type_name, &family.constants);
    arguments(out, name, &type_name, &family.arguments);
    for kernel in &family.kernels {
        let _ = write!(
            out,
            "/// `{}`, line {} of `{}`.\n\
             pub const {}: Kernel<{type_name}> = Kernel::new(&ALL[{place}]);\n",
            kernel.name,
            kernel.line,
            kernel.file.rsplit(['/', '\\']).next().unwrap_or(file),
            names::constant(&kernel.name),
        );
        *place += 1;
    }
}

fn constants(out: &mut String, name: &str, type_name: &str, constants: &[FunctionConstant]) {
    let is_float = |constant: &FunctionConstant| constant.ty == "float";
    let compared = if constants.iter().any(is_float) { "PartialEq" } else { "PartialEq, Eq, Hash" };
    let _ = writeln!(
        out,
        "/// The function constants of `{name}`.\n\
         #[derive(Clone, Copy, {compared}, Debug)]\n\
         pub struct {type_name}Constants {{"
    );
    let mut calls = String::new();
    for constant in constants {
        let (field, index) = (field(&constant.name), constant.index);
        let Some(scalar) = names::scalar(&constant.ty) else { continue };
        let _ = writeln!(out, "/// `{}`, function constant {index}.\npub {field}: {},", constant.name, scalar.rust);
        let name = &constant.name;
        let _ = writeln!(calls, "each(ConstantName::Name({name:?}), self.{field}.into());");
    }
    // Where there are no constants there is nothing to call.
    let each = if constants.is_empty() { "_each" } else { "mut each" };
    let _ = write!(
        out,
        "}}\n\
         impl KernelConstants for {type_name}Constants {{\n\
         fn for_each(&self, {each}: impl FnMut(ConstantName<'_>, ConstantBits)) {{\n{calls}}}\n\
         }}\n"
    );
}

fn arguments(out: &mut String, name: &str, type_name: &str, arguments: &[Argument]) {
    let mut fields = String::new();
    let mut calls = String::new();
    for argument in arguments {
        let (field, index) = (field(&argument.name), argument.index);
        let ty = parameters::field_type(argument);
        let condition = match &argument.function_constant {
            Some(constant) => format!("; there with `{constant}` only"),
            None => String::new(),
        };
        let _ = writeln!(fields, "/// `{}`, buffer {index}{condition}.", argument.ty);
        match &argument.function_constant {
            Some(_) => {
                let _ = writeln!(fields, "pub {field}: Option<{ty}>,");
                let _ = writeln!(calls, "if let Some(value) = &self.{field} {{ value.bind(encoder, {index})?; }}");
            }
            None => {
                let _ = writeln!(fields, "pub {field}: {ty},");
                let _ = writeln!(calls, "self.{field}.bind(encoder, {index})?;");
            }
        }
    }
    let _ = write!(
        out,
        "/// The arguments of `{name}`.\n\
         #[derive(Clone, Copy, Debug)]\n\
         pub struct {type_name}Args<'a> {{\n{fields}}}\n\
         impl Arguments for {type_name}Args<'_> {{\n\
         fn bind(&self, encoder: &mut ComputeCommandEncoder) -> Result<()> {{\n{calls}Ok(())\n}}\n}}\n"
    );
}

fn metallib(shader: &Shader) -> String {
    let Some(compiler) = shader.compiler else { return "None".into() };
    let data = embed("include_bytes", &format!("{}.metallib", shader.name));
    format!("Some(PrecompiledLibrary {{ data: {data}, compiler: LibraryCompiler::{compiler} }})")
}

fn embed(how: &str, file: &str) -> String {
    format!("{how}!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))")
}

fn file_name(shader: &Shader) -> String {
    format!("{}.metal", shader.name)
}
