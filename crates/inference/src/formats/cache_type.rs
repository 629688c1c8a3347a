//! Types of keys and values in the KV cache.

use super::{Activation, Format};
use std::fmt;
use std::str::FromStr;

/// Type of keys and values in the KV cache. Quantized types have blocks of 32 numbers of a head, so that heads have to
/// be a multiple of 32; they are rounded when a token is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, non_camel_case_types, reason = "GGUF's names")]
pub enum CacheType {
    F32,
    F16,
    Q8_0,
    Q4_0,
}

impl CacheType {
    /// All types, from the most precise on.
    pub const ALL: [CacheType; 4] = [CacheType::F32, CacheType::F16, CacheType::Q8_0, CacheType::Q4_0];

    /// The format of its numbers.
    pub const fn format(self) -> Format {
        match self {
            CacheType::F32 => Format::F32,
            CacheType::F16 => Format::F16,
            CacheType::Q8_0 => Format::Q8_0,
            CacheType::Q4_0 => Format::Q4_0,
        }
    }

    /// The type of single numbers; `None` if there are blocks.
    pub const fn plain(self) -> Option<Activation> {
        match self {
            CacheType::F32 => Some(Activation::F32),
            CacheType::F16 => Some(Activation::F16),
            CacheType::Q8_0 | CacheType::Q4_0 => None,
        }
    }

    /// Bytes of so many numbers; `None` if they are not whole blocks, or if the size overflows.
    pub const fn bytes(self, numbers: usize) -> Option<usize> {
        self.format().row_size(numbers)
    }
}

impl From<Activation> for CacheType {
    fn from(activation: Activation) -> CacheType {
        match activation {
            Activation::F32 => CacheType::F32,
            Activation::F16 => CacheType::F16,
        }
    }
}

impl fmt::Display for CacheType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format().fmt(f)
    }
}

impl FromStr for CacheType {
    type Err = String;

    fn from_str(name: &str) -> Result<CacheType, String> {
        let found = CacheType::ALL.into_iter().find(|ty| ty.to_string() == name);
        found.ok_or_else(|| format!("'{name}' is not a type of the KV cache: it must be f32, f16, q8_0 or q4_0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_and_sizes() {
        for ty in CacheType::ALL {
            assert_eq!(ty.to_string().parse(), Ok(ty));
        }
        assert!("q5_0".parse::<CacheType>().is_err());
        assert_eq!(CacheType::ALL.map(|ty| ty.bytes(64)), [Some(256), Some(128), Some(68), Some(36)]);
        assert_eq!(CacheType::Q8_0.bytes(40), None);
    }
}
