//! Parameters: structs and numbers that the host passes by value, as `constant P &p`.

use crate::library::names::{self, field};
use msl::reflect::Argument;
use std::fmt::Write;

/// True if it is passed by value rather than in a buffer.
pub(super) fn is_parameter(argument: &Argument) -> bool {
    argument.is_reference && argument.address_space == "constant"
}

/// Type of the field in the struct of arguments.
pub(super) fn field_type(argument: &Argument) -> String {
    match names::plain(&argument.element_type) {
        _ if !is_parameter(argument) => "BufferSlice<'a>".into(),
        Some((rust, _)) => rust,
        None => format!("&'a {}", argument.element_type),
    }
}

/// Writes the structs that `arguments` refer to, without duplicates.
pub(super) fn structs<'a>(out: &mut String, arguments: impl Iterator<Item = &'a Argument>) -> Result<(), String> {
    let mut written: Vec<&str> = Vec::new();
    for argument in arguments.filter(|argument| is_parameter(argument)) {
        let name = argument.element_type.as_str();
        if names::plain(name).is_some() || written.contains(&name) {
            continue;
        }
        written.push(name);
        structure(out, argument)?;
    }
    Ok(())
}

/// Writes a `#[repr(C)]` struct with explicit padding: no byte is uninitialized in Rust.
fn structure(out: &mut String, argument: &Argument) -> Result<(), String> {
    let name = argument.element_type.as_str();
    if argument.fields.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!(
            "the argument '{}' has the type '{name}': parameters are numbers or plain structs at the top level",
            argument.name
        ));
    }
    let (size, align) = (argument.element_size, argument.element_align);
    let mut fields = String::new();
    let mut checks = format!("assert!(size_of::<{name}>() == {size} && align_of::<{name}>() == {align});\n");
    let mut end = 0;
    let mut paddings = 0;
    let mut pad = |fields: &mut String, from: u64, to: u64| {
        if to > from {
            let _ = writeln!(fields, "#[doc(hidden)]\npub _padding{paddings}: [u8; {}],", to - from);
            paddings += 1;
        }
    };
    for member in &argument.fields {
        let Some((rust, bytes)) = names::plain(&member.ty).filter(|_| member.offset >= end) else {
            return Err(format!(
                "the field '{}' of '{name}' has the type '{}': use numbers other than bool, vectors, or arrays of numbers",
                member.name, member.ty
            ));
        };
        pad(&mut fields, end, member.offset);
        let field = field(&member.name);
        let _ = writeln!(fields, "/// `{}`, at byte {}.\npub {field}: {rust},", member.ty, member.offset);
        let _ = writeln!(checks, "assert!(std::mem::offset_of!({name}, {field}) == {});", member.offset);
        end = member.offset + bytes;
    }
    pad(&mut fields, end, size);
    let _ = write!(
        out,
        "/// Parameters, laid out as in the shader.\n\
         #[repr(C, align({align}))]\n\
         #[derive(Clone, Copy, PartialEq, Debug)]\n\
         pub struct {name} {{\n{fields}}}\n\
         const _: () = {{\n{checks}}};\n\
         // SAFETY: all fields are numbers or arrays of them, and the fields with the padding fill all bytes.\n\
         unsafe impl bytemuck::Zeroable for {name} {{}}\n\
         // SAFETY: as above.\n\
         unsafe impl bytemuck::Pod for {name} {{}}\n\
         impl Default for {name} {{\nfn default() -> {name} {{ bytemuck::Zeroable::zeroed() }}\n}}\n"
    );
    Ok(())
}
