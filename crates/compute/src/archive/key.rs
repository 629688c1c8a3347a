//! Keys of compiled kernels.
//!
//! ```text
//! digest of the source or AIR ┐
//! kernel, function constants  ├─ + variant, compiler, abi ── Key ── + target ── one artifact
//! ```
//!
//! **Invariant:** everything that affects the machine code is in the key or the target. A source with unknown inputs
//! (it asks if files exist) has no key, and its code is not archived.

use crate::digest::{Digest, Hasher};
use abi::{ConstantKey, ConstantValue, Constants};

/// Identifies the code of a kernel, for any target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Key(pub(crate) Digest);

impl Key {
    /// `source` is the digest of everything that affects the kernel's AIR.
    pub(crate) fn new(source: &Digest, kernel: &str, constants: &Constants, variant: &str) -> Key {
        key(source, kernel, constants, variant, abi::COMPILER_FINGERPRINT)
    }
}

fn key(source: &Digest, kernel: &str, constants: &Constants, variant: &str, compiler: &str) -> Key {
    let mut hasher = Hasher::new("pipeline");
    hasher.bytes(source);
    hasher.text(kernel);
    hasher.text(variant);
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

/// Hashes numbers by their bits: 0 and -0 give different code, and a NaN equals itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(set: impl Fn(&mut Constants) -> &mut Constants) -> Constants {
        let mut constants = Constants::new();
        set(&mut constants);
        constants
    }

    #[test]
    fn every_input_changes_the_key() {
        let none = Constants::new();
        let row = |constants: &Constants| key(&[0; 32], "k", constants, "row", "1");
        let first = |value: ConstantValue| row(&constants(|c| c.set(0, value.clone())));
        let two = ConstantValue::Vector(vec![ConstantValue::Uint(1), ConstantValue::Uint(2)]);
        let keys = [
            row(&none),
            key(&[1; 32], "k", &none, "row", "1"),
            key(&[0; 32], "l", &none, "row", "1"),
            key(&[0; 32], "k", &none, "any", "1"),
            key(&[0; 32], "k", &none, "row", "2"),
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
            assert!(!keys[..at].contains(key), "key {at} is a duplicate");
        }
        assert_eq!(first(ConstantValue::Float(f32::NAN)), keys[7]);
    }
}
