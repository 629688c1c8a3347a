//! A recorded result: samples of its numbers, with a sum over all of them.

use crate::cases::{Number, Output};

/// One result of an operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// As the operation calls it.
    pub name: String,
    /// The type of its numbers.
    pub number: Number,
    /// Count of its numbers.
    pub count: usize,
    /// The bits of those at [`Expected::places`].
    pub samples: Vec<u32>,
    /// The sum of all numbers, each with a sign that looks random: a wrong one shows in it, wherever it is, and small
    /// errors that all have the same sign cancel out.
    pub mix: f64,
}

impl Expected {
    /// The numbers of a result: `most` samples at most.
    pub fn of(output: &Output, most: usize) -> Expected {
        let bits = output.bits();
        let samples = places(bits.len(), most.min(bits.len())).map(|place| bits[place]).collect();
        let mix = mix(output.number, &bits);
        Expected { name: output.name.into(), number: output.number, count: bits.len(), samples, mix }
    }

    /// Indices of the samples.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        places(self.count, self.samples.len())
    }
}

/// So many places of `count`: spread out, and at no regular distance.
fn places(count: usize, samples: usize) -> impl Iterator<Item = usize> {
    (0..samples).map(move |i| {
        let (begin, end) = (i * count / samples, (i + 1) * count / samples);
        begin + scramble(i) % (end - begin).max(1)
    })
}

/// Exact for what is exact itself, in f64. What is not finite counts as a large number.
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
    fn places_are_all_of_few_and_some_of_many() {
        assert_eq!(places(5, 5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let some: Vec<usize> = places(1000, 48).collect();
        assert!(some.is_sorted() && some[0] < 21 && some[47] >= 979 && some[47] < 1000, "{some:?}");
        let steps: std::collections::BTreeSet<usize> = some.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.len() > 10, "{steps:?}");
        assert_eq!(places(0, 0).count(), 0);
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
