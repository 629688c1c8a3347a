//! Metal sources of the kernels in `mlx.metallib`.
//!
//! The wheel has MLX's headers, which define kernels as templates, and not the files that instantiate them. The name of
//! a kernel tells its template and arguments: `v_Absfloat32float32` is `unary_v<float, float, Abs, 1>`. The table in
//! `rules.rs` has every family whose source is in a header.
//!
//! Tests of other crates include this folder with `#[path]`.

mod pattern;
mod rules;

use rules::{FAMILIES, Family};

/// Folder of the headers, from the folder to search for includes (`mlx` in the corpus).
const KERNELS: &str = "mlx/backend/metal/kernels";

/// Prefixes of floating-point formats, which share their kernels: the format is in the template arguments.
const FLOATING: [&str; 3] = ["mxfp4_", "mxfp8_", "nvfp4_"];

/// A kernel of the library as an instance of a template.
pub(crate) struct Instance {
    family: &'static Family,
    /// The template and its arguments: `unary_v<float, float, Abs, 1>`. Empty for a kernel that is no template.
    pub(crate) template: String,
}

impl Instance {
    /// The family; kernels of one family can be in one source.
    pub(crate) fn family(&self) -> &'static str {
        self.family.name
    }
}

/// The instance that a kernel's name stands for; `None` if its source is not in the headers.
pub(crate) fn instance(name: &str) -> Option<Instance> {
    let format = FLOATING.iter().find_map(|format| name.strip_prefix(format));
    let name = format.map_or_else(|| name.to_string(), |rest| format!("fp_{rest}"));
    FAMILIES.iter().find_map(|family| {
        let (values, template) = family
            .rules
            .iter()
            .find_map(|(pattern, template)| pattern::matches(pattern, &name).map(|values| (values, template)))?;
        Some(Instance { family, template: substitute(template, &values) })
    })
}

/// The template with values for `$0`, `$1`, ….
fn substitute(template: &str, values: &[String]) -> String {
    let mut text = template.to_string();
    // `$1` is also the start of `$10`.
    for (index, value) in values.iter().enumerate().rev() {
        text = text.replace(&format!("${index}"), value);
    }
    text
}

/// One Metal source with these kernels, to be compiled with the corpus's folder `mlx` as a folder to search for
/// includes. `None` if a kernel's source is not in the headers, or if they are of different families.
pub(crate) fn source_for(names: &[impl AsRef<str>]) -> Option<String> {
    let instances: Vec<Instance> = names.iter().map(|name| instance(name.as_ref())).collect::<Option<_>>()?;
    let family = instances.first()?.family;
    if instances.iter().any(|instance| instance.family() != family.name) {
        return None;
    }
    let mut source = String::new();
    for header in family.headers {
        match header.starts_with('<') {
            true => source += &format!("#include {header}\n"),
            false => source += &format!("#include \"{KERNELS}/{header}\"\n"),
        }
        if *header == "<metal_simdgroup>" {
            // As in MLX's files: some headers rely on it.
            source += "using namespace metal;\n";
        }
    }
    for (name, instance) in names.iter().zip(&instances).filter(|(_, instance)| !instance.template.is_empty()) {
        let (name, template) = (name.as_ref(), &instance.template);
        source += &format!("template [[host_name(\"{name}\")]] [[kernel]] decltype({template}) {template};\n");
    }
    Some(source)
}
