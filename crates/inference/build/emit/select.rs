//! Selection between the kernels of a family by the types of its template: `Gemv::select(format, activation)`.
//!
//! The types that instantiate a template parameter determine its role:
//!
//! ```text
//! float, half                              the type of activations
//! float, half, kv_q8_0, after activations  the type of the cache
//! q4_0, Plain<half>; with bfloat, all three      the format of weights
//! Silu, Gelu                               the function that is computed: an enum of the family
//! ```
//!
//! `select` returns a kernel if every combination of types has one, otherwise an `Option`.

use super::type_name;
use crate::library::interface::{Family, SharedConstant};
use crate::library::names;
use std::fmt::Write;

/// Role of a template parameter in Rust.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Activation,
    Cache,
    Format,
    Function,
}

/// Formats of the library by their Rust names: all that any template is instantiated with.
pub(super) fn formats(families: &[&Family]) -> Vec<String> {
    let mut formats = Vec::new();
    for family in families {
        for (i, role) in roles(family).into_iter().flatten().enumerate() {
            let types = family.instances.iter().filter_map(|instance| instance.types.get(i));
            for format in types.filter(|_| role == Role::Format).filter_map(|ty| format(ty)) {
                if !formats.contains(&format) {
                    formats.push(format);
                }
            }
        }
    }
    formats
}

/// Writes `select`, and the enum of functions that it takes; nothing for a kernel without a template.
pub(super) fn select(out: &mut String, family: &Family, formats: &[String]) {
    let Some(roles) = roles(family).filter(|roles| !roles.is_empty()) else { return };
    let type_name = type_name(family);
    let functions = functions(family, &roles);
    if !functions.is_empty() {
        let variants: String =
            functions.iter().map(|name| format!("/// `{name}` of the shader.\n{name},\n")).collect();
        let _ = write!(
            out,
            "/// The functions of `{}`.\n\
             #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\n\
             pub enum {type_name}Function {{\n{variants}}}\n",
            family.name
        );
    }
    let choices = |role: &Role| match role {
        Role::Activation => 2,
        Role::Cache => CACHE_TYPES.len(),
        Role::Format => formats.len(),
        Role::Function => functions.len(),
    };
    let is_total = family.instances.len() == roles.iter().map(choices).product::<usize>();
    let mut arms = String::new();
    for instance in &family.instances {
        let value = |(role, ty): (&Role, &String)| match role {
            Role::Activation => format!("Activation::{}", if ty == "float" { "F32" } else { "F16" }),
            Role::Cache => format!("CacheType::{}", cache_type(ty).unwrap_or_default()),
            Role::Format => format!("Format::{}", format(ty).unwrap_or_default()),
            Role::Function => format!("{type_name}Function::{ty}"),
        };
        let pattern = roles.iter().zip(&instance.types).map(value).collect::<Vec<_>>().join(", ");
        let kernel = names::constant(&instance.kernel.name);
        let kernel = if is_total { kernel } else { format!("Some({kernel})") };
        let _ = writeln!(arms, "({pattern},) => {kernel},");
    }
    if !is_total {
        arms.push_str("_ => None,\n");
    }
    let (names, parameters) = parameters(&type_name, &roles);
    let kernel = format!("Kernel<{type_name}>");
    let (result, about) = match is_total {
        true => (kernel, "The kernel for these types."),
        false => (format!("Option<{kernel}>"), "The kernel for these types, if there is one."),
    };
    let _ = write!(
        out,
        "impl {type_name} {{\n\
         /// {about}\n\
         pub const fn select({parameters}) -> {result} {{\n\
         match ({names},) {{\n{arms}}}\n}}\n}}\n"
    );
}

/// The block size of each format in its decoder, to compare with the host's table.
pub(super) fn decoders<'a>(formats: &[String], constants: impl Iterator<Item = &'a SharedConstant>) -> String {
    let mut lines = std::collections::BTreeMap::new();
    let constants: Vec<&SharedConstant> = constants.collect();
    for constant in &constants {
        let Some((decoder, "BLOCK")) = constant.name.rsplit_once("::") else { continue };
        let bytes = constants.iter().find(|other| other.name == format!("{decoder}::BYTES"));
        if let (Some(format), Some(bytes)) = (format(decoder).filter(|format| formats.contains(format)), bytes) {
            lines.insert(format.clone(), format!("    (Format::{format}, {}, {}),\n", constant.value, bytes.value));
        }
    }
    format!(
        "/// The numbers and bytes of a block as the decoder of each format takes them.\n\
         pub const DECODERS: [(Format, usize, usize); {}] = [\n{}];\n",
        lines.len(),
        lines.into_values().collect::<String>()
    )
}

/// The parameters of `select`: names, and names with types.
fn parameters(type_name: &str, roles: &[Role]) -> (String, String) {
    let name = |role: &Role| match role {
        Role::Cache => ("cache", "CacheType".to_owned()),
        Role::Activation => ("activation", "Activation".to_owned()),
        Role::Format => ("format", "Format".to_owned()),
        Role::Function => ("function", format!("{type_name}Function")),
    };
    let parameters: Vec<(&str, String)> = roles.iter().map(name).collect();
    let names = parameters.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let typed = parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ");
    (names, typed)
}

/// Roles of a family's template parameters; `None` if one has no known role, or if two have the same.
fn roles(family: &Family) -> Option<Vec<Role>> {
    let count = family.instances.first()?.types.len();
    let types = |i: usize| -> Vec<&str> {
        family.instances.iter().filter_map(|one| one.types.get(i)).map(String::as_str).collect()
    };
    let is_activation = |i: usize| types(i).iter().all(|ty| matches!(*ty, "float" | "half"));
    let role = |i: usize| -> Option<Role> {
        let types = types(i);
        if (0..i).any(is_activation) && types.iter().all(|ty| cache_type(ty).is_some()) {
            return Some(Role::Cache);
        }
        if is_activation(i) {
            return Some(Role::Activation);
        }
        if types.iter().all(|ty| format(ty).is_some()) {
            return Some(Role::Format);
        }
        types.iter().all(|ty| is_function(ty)).then_some(Role::Function)
    };
    let roles: Vec<Role> = (0..count).map(role).collect::<Option<_>>()?;
    let times = |wanted: Role| roles.iter().filter(|role| **role == wanted).count();
    (times(Role::Format) <= 1 && times(Role::Function) <= 1 && times(Role::Activation) <= 1).then_some(roles)
}

fn functions(family: &Family, roles: &[Role]) -> Vec<String> {
    let Some(i) = roles.iter().position(|role| *role == Role::Function) else { return Vec::new() };
    let mut functions = Vec::new();
    for ty in family.instances.iter().filter_map(|instance| instance.types.get(i)) {
        if !functions.contains(ty) {
            functions.push(ty.clone());
        }
    }
    functions
}

/// Types of the cache in shaders, and in Rust.
const CACHE_TYPES: [(&str, &str); 8] = [
    ("float", "F32"),
    ("half", "F16"),
    ("kv_q8_0", "Q8_0"),
    ("kv_q4_0", "Q4_0"),
    ("kv_f16_q8_0", "F16_Q8_0"),
    ("kv_f16_q4_0", "F16_Q4_0"),
    ("kv_q8_0_f16", "Q8_0_F16"),
    ("kv_q8_0_q4_0", "Q8_0_Q4_0"),
];

fn cache_type(ty: &str) -> Option<&'static str> {
    CACHE_TYPES.iter().find(|(name, _)| *name == ty).map(|(_, rust)| *rust)
}

/// The format of a decoder or number type: `Q4_0` for `q4_0`, `F16` for `half` or `Plain<half>`.
fn format(ty: &str) -> Option<String> {
    let plain = ty.strip_prefix("Plain<").and_then(|ty| ty.strip_suffix('>')).unwrap_or(ty);
    match plain {
        "float" => Some("F32".into()),
        "half" => Some("F16".into()),
        "bfloat" => Some("BF16".into()),
        _ => {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let is_decoder = ty.starts_with(|c: char| c.is_ascii_lowercase()) && ty.chars().all(is_name);
            let is_decoder = is_decoder && names::scalar(ty).is_none();
            is_decoder.then(|| ty.to_ascii_uppercase())
        }
    }
}

/// True for a struct of the library, such as `Silu`.
fn is_function(ty: &str) -> bool {
    ty.starts_with(|c: char| c.is_ascii_uppercase()) && ty.chars().all(|c| c.is_ascii_alphanumeric())
}
