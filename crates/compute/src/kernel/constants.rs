//! Function constants of a kernel and their values: resolution, type checks, and missing values. The messages match
//! those of the compiler, which does the same for AIR.

use crate::error::{ConstantsProblem, Error, Result};
use abi::{ConstantKey, ConstantValue, Constants};
use std::fmt::{self, Write};

/// A function constant that can be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Available {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// Its type as Metal spells it, or an enumeration's name.
    pub ty: String,
    /// True if the kernel needs it.
    pub must_be_set: bool,
}

impl fmt::Display for Available {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' (index {}, {})", self.name, self.index, self.ty)
    }
}

/// Resolves values: the position of each in `available`.
pub fn assign<'v>(
    kernel: &str,
    available: &[Available],
    values: &'v Constants,
) -> Result<Vec<(usize, &'v ConstantValue)>> {
    let failed = |problem: ConstantsProblem| Err(Error::Constants { kernel: kernel.into(), problem });
    let wrong = |problem: String| failed(ConstantsProblem::Wrong(problem));
    let mut assigned: Vec<(usize, &ConstantValue)> = Vec::new();
    for (key, value) in values.iter() {
        let Some(position) = available.iter().position(|constant| is_meant(constant, key)) else {
            let what = match key {
                ConstantKey::Index(index) => format!("with index {index}"),
                ConstantKey::Name(name) => format!("'{name}'"),
            };
            return wrong(format!("there is no function constant {what}; there is {}", list(available.iter())));
        };
        let constant = &available[position];
        if !fits(value, &constant.ty) {
            let Available { name, index, ty, .. } = constant;
            let found = value.type_name();
            return wrong(format!(
                "function constant '{name}' (index {index}) is a {ty}, and its value is a {found}"
            ));
        }
        match assigned.iter().find(|(other, _)| *other == position) {
            Some((_, other)) if *other != value => {
                return wrong(format!("function constant {constant} is given two values, by index and by name"));
            }
            Some(_) => {}
            None => assigned.push((position, value)),
        }
    }
    let is_set = |at: usize| assigned.iter().any(|(position, _)| *position == at);
    let missing = available.iter().enumerate().filter(|(at, constant)| constant.must_be_set && !is_set(*at));
    let missing: Vec<String> = missing.map(|(_, constant)| constant.to_string()).collect();
    if missing.is_empty() { Ok(assigned) } else { failed(ConstantsProblem::Unset(missing)) }
}

/// True if `key` identifies this constant.
pub fn is_meant(constant: &Available, key: &ConstantKey) -> bool {
    match key {
        ConstantKey::Index(index) => constant.index == *index,
        ConstantKey::Name(name) => constant.name == *name,
    }
}

const SCALARS: [&str; 12] =
    ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat", "float"];

/// True if a value has a type. The type behind an enumeration is unknown here: any integer may fit.
fn fits(value: &ConstantValue, ty: &str) -> bool {
    let is_regular = match value {
        ConstantValue::Vector(parts) => {
            let is_scalar = |part: &ConstantValue| !matches!(part, ConstantValue::Vector(_));
            let is_alike = parts.windows(2).all(|pair| pair[0].type_name() == pair[1].type_name());
            (2..=4).contains(&parts.len()) && is_alike && parts.iter().all(is_scalar)
        }
        _ => true,
    };
    let is_known = SCALARS.contains(&ty.trim_end_matches(['2', '3', '4']));
    is_regular && (!is_known || value.type_name() == ty)
}

/// Formats constants as on the command line: `K=uint:4096, 3=bool:true`.
pub fn describe(constants: &Constants) -> String {
    let mut text = String::new();
    for (key, value) in constants.iter() {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match key {
            ConstantKey::Index(index) => write!(text, "{comma}{index}="),
            ConstantKey::Name(name) => write!(text, "{comma}{name}="),
        };
        let _ = write!(text, "{}:", value.type_name());
        describe_value(&mut text, value);
    }
    text
}

fn describe_value(text: &mut String, value: &ConstantValue) {
    let _ = match value {
        ConstantValue::Bool(value) => write!(text, "{value}"),
        ConstantValue::Char(value) => write!(text, "{value}"),
        ConstantValue::Uchar(value) => write!(text, "{value}"),
        ConstantValue::Short(value) => write!(text, "{value}"),
        ConstantValue::Ushort(value) => write!(text, "{value}"),
        ConstantValue::Int(value) => write!(text, "{value}"),
        ConstantValue::Uint(value) => write!(text, "{value}"),
        ConstantValue::Long(value) => write!(text, "{value}"),
        ConstantValue::Ulong(value) => write!(text, "{value}"),
        ConstantValue::Half(value) => write!(text, "{value}"),
        ConstantValue::Bfloat(value) => write!(text, "{value}"),
        ConstantValue::Float(value) => write!(text, "{value}"),
        ConstantValue::Vector(parts) => {
            for (at, part) in parts.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                describe_value(text, part);
            }
            Ok(())
        }
    };
}

/// The bytes of a value in Metal's layout: contiguous components, a `bool` as one byte. The largest is a `long4`.
pub fn bytes(value: &ConstantValue) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(32);
    match value {
        ConstantValue::Vector(parts) => parts.iter().for_each(|part| add_bytes(part, &mut bytes)),
        value => add_bytes(value, &mut bytes),
    }
    // Vectors were checked to have at most four components.
    bytes.resize(32, 0);
    std::array::from_fn(|at| bytes[at])
}

fn add_bytes(value: &ConstantValue, to: &mut Vec<u8>) {
    match value {
        ConstantValue::Bool(value) => to.push(u8::from(*value)),
        ConstantValue::Char(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Uchar(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Short(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Ushort(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Int(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Uint(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Long(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Ulong(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Half(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Bfloat(value) => to.extend(value.to_ne_bytes()),
        ConstantValue::Float(value) => to.extend(value.to_ne_bytes()),
        // Vectors were checked to contain no vectors.
        ConstantValue::Vector(_) => {}
    }
}

fn list<'a>(constants: impl Iterator<Item = &'a Available>) -> String {
    let texts: Vec<String> = constants.map(Available::to_string).collect();
    if texts.is_empty() { "none".into() } else { texts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gemv() -> [Available; 3] {
        let constant = |name: &str, index, ty: &str, must_be_set| Available {
            name: name.into(),
            index,
            ty: ty.into(),
            must_be_set,
        };
        [constant("K", 0, "uint", true), constant("USE_BIAS", 1, "bool", true), constant("MODE", 4, "Mode", false)]
    }

    fn problem(values: &Constants) -> String {
        match assign("gemv", &gemv(), values) {
            Err(Error::Constants { kernel, problem }) if kernel == "gemv" => problem.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_are_resolved() {
        let mut values = Constants::new();
        values.set_named("K", ConstantValue::Uint(8)).set(1, ConstantValue::Bool(true));
        let found = assign("gemv", &gemv(), &values).expect("they fit");
        assert_eq!(found, [(1, &ConstantValue::Bool(true)), (0, &ConstantValue::Uint(8))]);
        values.set(0, ConstantValue::Uint(8)).set(4, ConstantValue::Ushort(1));
        let mut positions: Vec<usize> = assign("gemv", &gemv(), &values)
            .expect("equal values by index and name are accepted")
            .iter()
            .map(|(position, _)| *position)
            .collect();
        positions.sort_unstable();
        assert_eq!(positions, [0, 1, 2]);
    }

    #[test]
    fn rejects_wrong_values() {
        let mut values = Constants::new();
        assert_eq!(problem(&values), "function constants not set: 'K' (index 0, uint), 'USE_BIAS' (index 1, bool)");
        values.set(0, ConstantValue::Uint(8));
        assert_eq!(problem(&values), "function constant not set: 'USE_BIAS' (index 1, bool)");
        values.set(1, ConstantValue::Int(1));
        assert_eq!(problem(&values), "function constant 'USE_BIAS' (index 1) is a bool, and its value is a int");
        values.set(1, ConstantValue::Bool(true)).set_named("K", ConstantValue::Uint(9));
        assert_eq!(
            problem(&values),
            "function constant 'K' (index 0, uint) is given two values, by index and by name"
        );
        let (mut by_index, mut by_name) = (Constants::new(), Constants::new());
        by_index.set(7, ConstantValue::Bool(true));
        by_name.set_named("BIAS", ConstantValue::Bool(true));
        for (values, what) in [(by_index, "with index 7"), (by_name, "'BIAS'")] {
            assert_eq!(
                problem(&values),
                format!(
                    "there is no function constant {what}; there is 'K' (index 0, uint), 'USE_BIAS' (index 1, bool), \
                     'MODE' (index 4, Mode)"
                )
            );
        }
    }

    #[test]
    fn values_have_metals_layout() {
        let start = |value: ConstantValue, len: usize| {
            let bytes = bytes(&value);
            let (start, rest) = bytes.split_at(len);
            assert!(rest.iter().all(|byte| *byte == 0), "{value:?}");
            start.to_vec()
        };
        assert_eq!(start(ConstantValue::Bool(true), 1), [1]);
        assert_eq!(start(ConstantValue::Char(-2), 1), [254]);
        assert_eq!(start(ConstantValue::Ushort(0x102), 2), 0x102u16.to_ne_bytes());
        assert_eq!(start(ConstantValue::Half(half::f16::ONE), 2), 0x3c00u16.to_ne_bytes());
        assert_eq!(start(ConstantValue::Bfloat(half::bf16::ONE), 2), 0x3f80u16.to_ne_bytes());
        assert_eq!(start(ConstantValue::Float(1.0), 4), 0x3f80_0000u32.to_ne_bytes());
        let three = ConstantValue::Vector(vec![ConstantValue::Bool(true); 3]);
        assert_eq!(start(three, 3), [1, 1, 1]);
        let four = ConstantValue::Vector((0..4).map(|part| ConstantValue::Long(-part)).collect());
        assert_eq!(start(four, 32), [0i64, -1, -2, -3].map(i64::to_ne_bytes).concat());
    }

    #[test]
    fn types_have_metals_names() {
        let vector = |parts: Vec<ConstantValue>| ConstantValue::Vector(parts);
        let two = vector(vec![ConstantValue::Float(0.5); 2]);
        assert!(fits(&two, "float2") && !fits(&two, "float3") && !fits(&two, "half2") && fits(&two, "Anything"));
        let ragged = vector(vec![ConstantValue::Float(0.5), ConstantValue::Uint(1)]);
        assert!(!fits(&ragged, "float2") && !fits(&ragged, "Anything"));
        assert!(!fits(&vector(vec![two]), "Anything"));
    }

    #[test]
    fn constants_are_formatted_as_on_the_command_line() {
        let mut constants = Constants::new();
        let two = ConstantValue::Vector(vec![ConstantValue::Float(0.5), ConstantValue::Float(2.0)]);
        constants.set_named("K", ConstantValue::Uint(4096)).set(3, ConstantValue::Bool(true)).set(4, two);
        assert_eq!(describe(&constants), "3=bool:true, 4=float2:0.5,2, K=uint:4096");
    }
}
