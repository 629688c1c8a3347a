//! What a compiled kernel is known by.
//!
//! ```text
//! digest of the source or AIR ┐
//! kernel, function constants  ├─ Identity ── + lanes, compiler, abi ── Key ── + target ── one piece of machine code
//! ```
//!
//! **Invariant:** all that decides the machine code is in the key or the target. What is not known (a source that asks
//! whether files exist) has no key, and is never kept.

use super::digest::{Digest, Hasher};
use crate::library::{FunctionDescriptor, Library};
use abi::{ConstantKey, ConstantValue, Constants, Lanes};
use std::fmt::Write;
use std::sync::Arc;

/// A kernel of a library with its constants.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) library: Library,
    pub(crate) kernel: Arc<str>,
    pub(crate) constants: Arc<Constants>,
}

/// Names the code of a kernel, whatever processor it is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Key(pub(crate) Digest);

impl Identity {
    pub(crate) fn new(function: &FunctionDescriptor) -> Identity {
        Identity {
            library: function.library.clone(),
            kernel: function.name.into(),
            constants: Arc::new(function.constants.clone()),
        }
    }

    /// `None` where it is not known what decides the code.
    pub(crate) fn key(&self, lanes: Lanes) -> Option<Key> {
        let source = self.library.digest(&self.kernel)?;
        Some(key(&source, &self.kernel, &self.constants, lanes, abi::COMPILER_FINGERPRINT))
    }
}

fn key(source: &Digest, kernel: &str, constants: &Constants, lanes: Lanes, compiler: &str) -> Key {
    let mut hasher = Hasher::new("pipeline");
    hasher.bytes(source);
    hasher.text(kernel);
    hasher.text(lanes_name(lanes));
    hasher.text(compiler);
    hasher.bytes(&abi::call::VERSION.to_le_bytes());
    for (key, value) in constants.iter() {
        match key {
            ConstantKey::Index(index) => {
                hasher.text("index");
                hasher.bytes(&index.to_le_bytes());
            }
            ConstantKey::Name(name) => {
                hasher.text("name");
                hasher.text(name);
            }
        }
        hash_value(&mut hasher, value);
    }
    Key(hasher.finish())
}

pub(crate) fn lanes_name(lanes: Lanes) -> &'static str {
    match lanes {
        Lanes::Row => "row",
        Lanes::Any => "any",
    }
}

pub(crate) fn lanes_description(lanes: Lanes) -> &'static str {
    match lanes {
        Lanes::Row => "full simdgroups",
        Lanes::Any => "threadgroups that are no multiple of 32 wide",
    }
}

/// Numbers by their bits: 0 and -0 make different code, and a NaN is equal to itself.
fn hash_value(hasher: &mut Hasher, value: &ConstantValue) {
    hasher.text(&value.type_name());
    match value {
        ConstantValue::Bool(value) => hasher.bytes(&[u8::from(*value)]),
        ConstantValue::Char(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Uchar(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Short(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Ushort(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Int(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Uint(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Long(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Ulong(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Half(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Bfloat(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Float(value) => hasher.bytes(&value.to_le_bytes()),
        ConstantValue::Vector(parts) => parts.iter().for_each(|part| hash_value(hasher, part)),
    }
}

/// The constants as people write them: `K=uint:4096, 3=bool:true`.
pub(crate) fn describe(constants: &Constants) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(set: impl Fn(&mut Constants) -> &mut Constants) -> Constants {
        let mut constants = Constants::new();
        set(&mut constants);
        constants
    }

    #[test]
    fn every_ingredient_changes_the_key() {
        let none = Constants::new();
        let row = |constants: &Constants| key(&[0; 32], "k", constants, Lanes::Row, "1");
        let first = |value: ConstantValue| row(&constants(|c| c.set(0, value.clone())));
        let two = ConstantValue::Vector(vec![ConstantValue::Uint(1), ConstantValue::Uint(2)]);
        let keys = [
            row(&none),
            key(&[1; 32], "k", &none, Lanes::Row, "1"),
            key(&[0; 32], "l", &none, Lanes::Row, "1"),
            key(&[0; 32], "k", &none, Lanes::Any, "1"),
            key(&[0; 32], "k", &none, Lanes::Row, "2"),
            first(ConstantValue::Float(0.0)),
            first(ConstantValue::Float(-0.0)),
            first(ConstantValue::Float(f32::NAN)),
            first(ConstantValue::Uint(0)),
            first(ConstantValue::Int(0)),
            first(two),
            row(&constants(|c| c.set(1, ConstantValue::Int(0)))),
            row(&constants(|c| c.set_named("0", ConstantValue::Int(0)))),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "the one at {at}");
        }
        assert_eq!(first(ConstantValue::Float(f32::NAN)), keys[7]);
    }

    #[test]
    fn constants_are_described_as_they_are_written() {
        let constants = constants(|c| {
            let two = ConstantValue::Vector(vec![ConstantValue::Float(0.5), ConstantValue::Float(2.0)]);
            c.set_named("K", ConstantValue::Uint(4096)).set(3, ConstantValue::Bool(true)).set(4, two)
        });
        assert_eq!(describe(&constants), "3=bool:true, 4=float2:0.5,2, K=uint:4096");
    }
}
