//! A recorded output: samples of its numbers, and a sum of all of them.

use crate::cases::{Number, Output};

/// One output of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// Name of the argument.
    pub name: String,
    /// Type of its numbers.
    pub number: Number,
    /// Number of its numbers.
    pub count: usize,
    /// Bits of the numbers at [`Expected::sample_indices`].
    pub samples: Vec<u32>,
    /// Sum of all numbers with pseudo-random signs: any wrong number changes it, and small errors of the same sign
    /// cancel out.
    pub mix: f64,
}

impl Expected {
    /// Samples an output, at most `most` numbers.
    pub fn of(output: &Output, most: usize) -> Expected {
        let bits = output.bits();
        let samples = sample_indices(bits.len(), most.min(bits.len())).map(|index| bits[index]).collect();
        let mix = mix(output.number, &bits);
        Expected { name: output.name.into(), number: output.number, count: bits.len(), samples, mix }
    }

    /// Indices of the samples.
    pub fn sample_indices(&self) -> impl Iterator<Item = usize> {
        sample_indices(self.count, self.samples.len())
    }
}

/// `samples` indices below `count`: spread out, at irregular distances.
fn sample_indices(count: usize, samples: usize) -> impl Iterator<Item = usize> {
    (0..samples).map(move |i| {
        let (begin, end) = (i * count / samples, (i + 1) * count / samples);
        begin + scramble(i) % (end - begin).max(1)
    })
}

/// Sum of all numbers with pseudo-random signs: exact in f64 if the numbers are. Infinity and NaN count as a large
/// number.
pub(super) fn mix(number: Number, bits: &[u32]) -> f64 {
    let signed = |(i, bits): (usize, &u32)| {
        let value = number.value(*bits);
        let value = if value.is_finite() { value } else { 4096.0 };
        if scramble(i) & 1 == 0 { value } else { -value }
    };
    bits.iter().enumerate().map(signed).sum()
}

fn scramble(i: usize) -> usize {
    let x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_all_of_few_and_some_of_many() {
        assert_eq!(sample_indices(5, 5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let some: Vec<usize> = sample_indices(1000, 48).collect();
        assert!(some.is_sorted() && some[0] < 21 && some[47] >= 979 && some[47] < 1000, "{some:?}");
        let steps: std::collections::BTreeSet<usize> = some.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.len() > 10, "{steps:?}");
        assert_eq!(sample_indices(0, 0).count(), 0);
    }

    #[test]
    fn every_number_is_in_the_mix() {
        let bits: Vec<u32> = (0..300).map(|i| (i as f32 / 7.0).to_bits()).collect();
        let all = mix(Number::F32, &bits);
        for i in 0..bits.len() {
            let mut wrong = bits.clone();
            wrong[i] = f32::NAN.to_bits();
            assert_ne!(mix(Number::F32, &wrong), all, "{i}");
        }
        assert_eq!(mix(Number::U32, &[u32::MAX]).abs(), f64::from(u32::MAX));
    }
}
