//! Values for function constants, by index or by name.

use half::{bf16, f16};
use std::collections::BTreeMap;

/// The key of a function constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConstantKey {
    /// The number in `[[function_constant(n)]]`.
    Index(u32),
    /// The name of the variable.
    Name(String),
}

/// The value of a function constant. A vector has two to four components of one type.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum ConstantValue {
    Bool(bool),
    Char(i8),
    Uchar(u8),
    Short(i16),
    Ushort(u16),
    Int(i32),
    Uint(u32),
    Long(i64),
    Ulong(u64),
    Half(f16),
    Bfloat(bf16),
    Float(f32),
    Vector(Vec<ConstantValue>),
}

impl ConstantValue {
    /// The type as MSL spells it: `uint`, `float4`.
    pub fn type_name(&self) -> String {
        match self {
            ConstantValue::Bool(_) => "bool".into(),
            ConstantValue::Char(_) => "char".into(),
            ConstantValue::Uchar(_) => "uchar".into(),
            ConstantValue::Short(_) => "short".into(),
            ConstantValue::Ushort(_) => "ushort".into(),
            ConstantValue::Int(_) => "int".into(),
            ConstantValue::Uint(_) => "uint".into(),
            ConstantValue::Long(_) => "long".into(),
            ConstantValue::Ulong(_) => "ulong".into(),
            ConstantValue::Half(_) => "half".into(),
            ConstantValue::Bfloat(_) => "bfloat".into(),
            ConstantValue::Float(_) => "float".into(),
            ConstantValue::Vector(parts) => {
                format!("{}{}", parts.first().map(Self::type_name).unwrap_or_default(), parts.len())
            }
        }
    }
}

/// Values for the function constants of a kernel.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Constants {
    values: BTreeMap<ConstantKey, ConstantValue>,
}

impl Constants {
    /// No values.
    pub fn new() -> Constants {
        Constants::default()
    }

    /// Sets the constant with this index.
    pub fn set(&mut self, index: u32, value: ConstantValue) -> &mut Constants {
        self.values.insert(ConstantKey::Index(index), value);
        self
    }

    /// Sets the constant with this name.
    pub fn set_named(&mut self, name: &str, value: ConstantValue) -> &mut Constants {
        self.values.insert(ConstantKey::Name(name.to_string()), value);
        self
    }

    /// All values, by index first, then by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ConstantKey, &ConstantValue)> {
        self.values.iter()
    }

    /// True if no constant is set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
