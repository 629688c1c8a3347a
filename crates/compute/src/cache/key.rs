//! Keys of pipelines.

use super::constants::{ConstantBits, ConstantName, KernelConstants};
use crate::backend::Simdgroups;
use crate::error::{ConstantsProblem, Error, Result};
use abi::{ConstantKey, Constants};
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The key of a pipeline: a kernel and the values of its function constants.
///
/// The order of constants does not matter. A constant set by index and the same constant set by name give two keys,
/// because only the kernel's source relates them.
///
/// It prints as `gemv_k4096_bias1`: the kernel, and each constant by its name in lower case without a leading `use_`,
/// with its value. A `=` separates them if the name ends in a digit (`tile2=8`, and `c0=4096` for the index 0).
///
/// Clones share their contents, so that a lookup with a clone of the stored key is fast.
#[derive(Clone, Debug)]
pub struct PipelineKey {
    contents: Arc<KeyContents>,
}

#[derive(Clone, Debug)]
struct KeyContents {
    kernel: Box<str>,
    /// In the order in which they were first given, which lookups usually repeat.
    constants: Box<[(ConstantKey, ConstantBits)]>,
    simdgroups: Simdgroups,
    hash: u64,
}

/// A key to look up, without allocations.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a, C> {
    pub(super) kernel: &'a str,
    pub(super) constants: C,
    pub(super) simdgroups: Simdgroups,
}

impl<C: KernelConstants> Wanted<'_, C> {
    /// The hash, independent of the order of constants.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let mut sum = hash_text(self.kernel) ^ self.simdgroups as u64;
        self.constants.for_each(|name, value| {
            let mut hasher = FxHasher::default();
            match name {
                ConstantName::Index(index) => hasher.write_u32(index),
                ConstantName::Name(name) => hasher.write(name.as_bytes()),
            }
            value.hash(|word| hasher.write_u64(word));
            sum = sum.wrapping_add(hasher.finish());
        });
        sum
    }

    /// True if `key` is this one.
    #[inline]
    pub(super) fn is(&self, key: &PipelineKey) -> bool {
        let contents = &*key.contents;
        if self.simdgroups != contents.simdgroups || !same_text(self.kernel, &contents.kernel) {
            return false;
        }
        // One bit per constant of the key, set when seen: a constant given twice does not count as two.
        let (mut seen, mut same, mut places) = (0, true, 0u64);
        self.constants.for_each(|name, value| {
            match contents.place(seen, name, value) {
                Some(place) if places & bit(place) == 0 => places |= bit(place),
                _ => same = false,
            }
            seen += 1;
        });
        same && seen == contents.constants.len()
    }

    pub(super) fn to_key(&self) -> PipelineKey {
        let mut constants: Vec<(ConstantKey, ConstantBits)> = Vec::new();
        self.constants.for_each(|name, value| {
            match constants.iter_mut().find(|(known, _)| ConstantName::from(known) == name) {
                Some((_, known)) => *known = value,
                None => constants.push((name.into(), value)),
            }
        });
        let (kernel, simdgroups) = (self.kernel.into(), self.simdgroups);
        // Hash the key, not this lookup: a constant that was set twice is in the lookup twice.
        let mut contents = KeyContents { kernel, constants: constants.into(), simdgroups, hash: 0 };
        contents.hash = contents.wanted().hash();
        PipelineKey { contents: Arc::new(contents) }
    }
}

/// Kernels have at most 64 constants in practice; beyond that, a constant given twice goes unnoticed.
fn bit(place: usize) -> u64 {
    1u64.checked_shl(place as u32).unwrap_or(0)
}

#[inline]
fn is_named(key: &ConstantKey, name: ConstantName<'_>) -> bool {
    match (key, name) {
        (ConstantKey::Index(key), ConstantName::Index(name)) => *key == name,
        (ConstantKey::Name(key), ConstantName::Name(name)) => same_text(key, name),
        _ => false,
    }
}

/// Names are short: a call of `memcmp` for each would dominate the cost of a hit.
#[inline]
fn same_text(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // First and last bytes overlap in short names.
    match a.len() {
        len if len != b.len() => false,
        8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
        4..=7 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
        2..=3 => a.first_chunk::<2>() == b.first_chunk() && a.last_chunk::<2>() == b.last_chunk(),
        1 => a[0] == b[0],
        _ => a == b,
    }
}

fn hash_text(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The constants of a key.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a>(&'a [(ConstantKey, ConstantBits)]);

impl KernelConstants for Listed<'_> {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        self.0.iter().for_each(|(name, value)| each(name.into(), *value));
    }
}

impl PipelineKey {
    /// A kernel with constants.
    pub fn new(kernel: &str, constants: impl KernelConstants) -> PipelineKey {
        Wanted { kernel, constants, simdgroups: Simdgroups::Any }.to_key()
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.contents.kernel
    }

    /// The promise about the simdgroups of all its dispatches.
    pub fn simdgroups(&self) -> Simdgroups {
        self.contents.simdgroups
    }

    pub(super) fn with_simdgroups(&self, simdgroups: Simdgroups) -> PipelineKey {
        Wanted { simdgroups, ..self.wanted() }.to_key()
    }

    /// The values of its function constants.
    pub fn constants(&self) -> Result<Constants> {
        let mut constants = Constants::new();
        for (name, bits) in &self.contents.constants {
            let value = bits.value().ok_or_else(|| Error::Constants {
                kernel: self.kernel().to_string(),
                problem: ConstantsProblem::Wrong(format!(
                    "{} is not a vector of two to four scalars of one type",
                    described(name)
                )),
            })?;
            match name {
                ConstantKey::Index(index) => constants.set(*index, value),
                ConstantKey::Name(name) => constants.set_named(name, value),
            };
        }
        Ok(constants)
    }

    /// The constants in messages: `K = 4096 (uint), USE_BIAS = 1 (bool)`.
    pub(super) fn constants_text(&self) -> String {
        let one = |(name, bits): &(ConstantKey, ConstantBits)| {
            let ty = bits.value().map_or_else(|| "malformed".into(), |value| value.type_name());
            format!("{} = {bits} ({ty})", described(name))
        };
        self.sorted().into_iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[inline]
    pub(super) fn hash_value(&self) -> u64 {
        self.contents.hash
    }

    pub(super) fn wanted(&self) -> Wanted<'_, Listed<'_>> {
        self.contents.wanted()
    }

    /// The constants by index, then by name.
    fn sorted(&self) -> Vec<&(ConstantKey, ConstantBits)> {
        let mut constants: Vec<_> = self.contents.constants.iter().collect();
        constants.sort_by(|(a, _), (b, _)| a.cmp(b));
        constants
    }
}

impl KeyContents {
    fn wanted(&self) -> Wanted<'_, Listed<'_>> {
        Wanted { kernel: &self.kernel, constants: Listed(&self.constants), simdgroups: self.simdgroups }
    }

    /// Position of the constant with this value, probably `likely`.
    #[inline]
    fn place(&self, likely: usize, name: ConstantName<'_>, value: ConstantBits) -> Option<usize> {
        match self.constants.get(likely) {
            Some((known, bits)) if *bits == value && is_named(known, name) => Some(likely),
            _ => self.search(name, value),
        }
    }

    #[cold]
    fn search(&self, name: ConstantName<'_>, value: ConstantBits) -> Option<usize> {
        self.constants.iter().position(|(known, bits)| *bits == value && is_named(known, name))
    }
}

/// The name of a constant in messages.
fn described(name: &ConstantKey) -> String {
    match name {
        ConstantKey::Index(index) => format!("constant {index}"),
        ConstantKey::Name(name) => name.clone(),
    }
}

impl PartialEq for PipelineKey {
    #[inline]
    fn eq(&self, other: &PipelineKey) -> bool {
        Arc::ptr_eq(&self.contents, &other.contents)
            || (self.hash_value() == other.hash_value() && self.wanted().is(other))
    }
}

impl Eq for PipelineKey {}

impl Hash for PipelineKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash_value());
    }
}

impl fmt::Display for PipelineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kernel())?;
        for (name, value) in self.sorted() {
            match name {
                ConstantKey::Index(index) => write!(f, "_c{index}={value}")?,
                ConstantKey::Name(name) => {
                    let name = name.to_lowercase();
                    let name = name.strip_prefix("use_").unwrap_or(&name);
                    let sign = if name.ends_with(|last: char| last.is_ascii_digit()) { "=" } else { "" };
                    write!(f, "_{name}{sign}{value}")?;
                }
            }
        }
        f.write_str(match self.simdgroups() {
            Simdgroups::Any => "",
            Simdgroups::Full => "_full",
            Simdgroups::Rows => "_rows",
        })
    }
}
