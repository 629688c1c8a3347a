//! Types of keys and values in the KV cache.

use super::{Activation, Format};
use std::fmt;
use std::str::FromStr;

/// Types of keys and values in the KV cache: one for both, or that of keys and that of values. Quantized types have blocks
/// of 32 numbers of a head, so that heads have to be a multiple of 32; they are rounded when a token is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, non_camel_case_types, reason = "GGUF's names")]
pub enum CacheType {
    F32,
    F16,
    Q8_0,
    Q4_0,
    F16_Q8_0,
    F16_Q4_0,
    Q8_0_F16,
    Q8_0_Q4_0,
}

impl CacheType {
    /// All types: those of both keys and values, from the most precise on, then the others.
    pub const ALL: [CacheType; 8] = [
        CacheType::F32,
        CacheType::F16,
        CacheType::Q8_0,
        CacheType::Q4_0,
        CacheType::F16_Q8_0,
        CacheType::F16_Q4_0,
        CacheType::Q8_0_F16,
        CacheType::Q8_0_Q4_0,
    ];

    /// The format of keys.
    pub const fn keys(self) -> Format {
        match self {
            CacheType::F32 => Format::F32,
            CacheType::F16 | CacheType::F16_Q8_0 | CacheType::F16_Q4_0 => Format::F16,
            CacheType::Q8_0 | CacheType::Q8_0_F16 | CacheType::Q8_0_Q4_0 => Format::Q8_0,
            CacheType::Q4_0 => Format::Q4_0,
        }
    }

    /// The format of values.
    pub const fn values(self) -> Format {
        match self {
            CacheType::F32 => Format::F32,
            CacheType::F16 | CacheType::Q8_0_F16 => Format::F16,
            CacheType::Q8_0 | CacheType::F16_Q8_0 => Format::Q8_0,
            CacheType::Q4_0 | CacheType::F16_Q4_0 | CacheType::Q8_0_Q4_0 => Format::Q4_0,
        }
    }

    /// The type of single numbers, if keys and values have the same and no blocks.
    pub const fn plain(self) -> Option<Activation> {
        match self {
            CacheType::F32 => Some(Activation::F32),
            CacheType::F16 => Some(Activation::F16),
            _ => None,
        }
    }

    /// Bytes of so many numbers of keys, and of values; `None` if they are not whole blocks, or if the size overflows.
    pub const fn bytes(self, numbers: usize) -> Option<[usize; 2]> {
        match (self.keys().row_size(numbers), self.values().row_size(numbers)) {
            (Some(keys), Some(values)) if numbers.is_multiple_of(self.block_len()) => Some([keys, values]),
            _ => None,
        }
    }

    /// Numbers of a block: heads have to be a multiple of it.
    pub const fn block_len(self) -> usize {
        let (keys, values) = (self.keys().block_len(), self.values().block_len());
        if keys > values { keys } else { values }
    }

    /// Name in the names of kernels: `q8_0`, or with that of values `q8_0_f16`.
    pub fn kernel_name(self) -> String {
        match self.keys() == self.values() {
            true => self.keys().to_string(),
            false => format!("{}_{}", self.keys(), self.values()),
        }
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
        match self.keys() == self.values() {
            true => self.keys().fmt(f),
            false => write!(f, "k={},v={}", self.keys(), self.values()),
        }
    }
}

impl FromStr for CacheType {
    type Err = String;

    fn from_str(name: &str) -> Result<CacheType, String> {
        let parts = name.split(',').map(|part| part.split_once('=')).collect::<Option<Vec<_>>>();
        let (keys, values) = match parts.as_deref() {
            Some([("k", keys), ("v", values)] | [("v", values), ("k", keys)]) => (*keys, *values),
            _ => (name, name),
        };
        let is_found = |ty: &CacheType| ty.keys().to_string() == keys && ty.values().to_string() == values;
        CacheType::ALL.into_iter().find(is_found).ok_or_else(|| {
            let apart = CacheType::ALL.iter().filter(|ty| ty.keys() != ty.values());
            let apart: Vec<String> = apart.map(CacheType::to_string).collect();
            format!(
                "'{name}' is not a type of the KV cache: it must be f32, f16, q8_0 or q4_0, or for keys and values {}",
                apart.join(", ")
            )
        })
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
        assert_eq!("v=f16,k=q8_0".parse(), Ok(CacheType::Q8_0_F16));
        assert_eq!("k=f16,v=f16".parse(), Ok(CacheType::F16));
        assert_eq!(CacheType::Q8_0_F16.to_string(), "k=q8_0,v=f16");
        for wrong in ["q5_0", "k=q8_0", "k=q8_0,v=", "k=q4_0,v=f16", "k=f16,k=f16", "q8_0,f16", ""] {
            let error = wrong.parse::<CacheType>().unwrap_err();
            assert!(error.contains("k=q8_0,v=q4_0"), "{error}");
        }
        let sizes = [[256, 256], [128, 128], [68, 68], [36, 36], [128, 68], [128, 36], [68, 128], [68, 36]];
        assert_eq!(CacheType::ALL.map(|ty| ty.bytes(64)), sizes.map(Some));
        assert_eq!((CacheType::Q8_0.bytes(40), CacheType::F16_Q4_0.bytes(40)), (None, None));
        assert_eq!(CacheType::F16.bytes(40), Some([80, 80]));
    }
}
