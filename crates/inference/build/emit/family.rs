//! Bindings of a family of kernels: type, function constants, arguments and kernels.

use super::parameters;
use super::type_name;
use crate::library::interface::Family;
use crate::library::names::{self, field};
use msl::reflect::{Argument, FunctionConstant};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) fn items(out: &mut String, family: &Family, file: &str, indices: &BTreeMap<&str, usize>) {
    let (name, type_name) = (&family.name, type_name(family));
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
    for kernel in family.instances.iter().map(|instance| &instance.kernel) {
        let _ = write!(
            out,
            "/// `{}`, line {} of `{}`.\n\
             pub const {}: Kernel<{type_name}> = Kernel::new(&ALL[{}]);\n",
            kernel.name,
            kernel.line,
            kernel.file.rsplit(['/', '\\']).next().unwrap_or(file),
            names::constant(&kernel.name),
            indices[kernel.name.as_str()]
        );
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
    // Without constants, `each` is never called.
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
    let mut indices = String::new();
    for argument in arguments {
        let (field, index) = (field(&argument.name), argument.index);
        if parameters::is_parameter(argument) {
            let constant = names::constant(&argument.name);
            let _ = writeln!(
                indices,
                "/// The index of `{}`.\npub const {constant}_INDEX: usize = {index};",
                argument.name
            );
        }
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
         impl {type_name}Args<'_> {{\n{indices}}}\n\
         impl Arguments for {type_name}Args<'_> {{\n\
         fn bind(&self, encoder: &mut ComputeCommandEncoder) -> Result<()> {{\n{calls}Ok(())\n}}\n}}\n"
    );
}
