//! Checks that function constants agree: across all shaders, one name for each index and one index for each name.

use super::Shader;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A line for each function constant that contradicts one of another shader; empty if all agree.
pub(crate) fn contradictions(shaders: &[Shader]) -> String {
    let mut problems = String::new();
    let mut by_index = BTreeMap::new();
    let mut by_name = BTreeMap::new();
    for shader in shaders {
        for constant in &shader.function_constants {
            let (index, name, file) = (constant.index, constant.name.as_str(), &shader.name);
            let (other_name, other_file) = *by_index.entry(index).or_insert((name, file));
            if other_name != name {
                let _ = writeln!(
                    problems,
                    "{file}.metal: function constant {index} is '{name}', but '{other_name}' in {other_file}.metal: an \
                     index means the same in all shaders; the first free one is {}",
                    free(shaders)
                );
            }
            let (other, other_file) = *by_name.entry(name).or_insert((constant, file));
            if (other.index, &other.ty) != (index, &constant.ty) {
                let _ = writeln!(
                    problems,
                    "{file}.metal: '{name}' is the function constant {index} ({}), but {} ({}) in {other_file}.metal: a \
                     name means the same in all shaders",
                    constant.ty, other.index, other.ty
                );
            }
        }
    }
    problems
}

/// The lowest unused index.
fn free(shaders: &[Shader]) -> u32 {
    let used = |index: &u32| {
        let mut constants = shaders.iter().flat_map(|shader| &shader.function_constants);
        constants.any(|constant| constant.index == *index)
    };
    (0..).find(|index| !used(index)).unwrap_or_default()
}
