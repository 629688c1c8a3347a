//! Pseudorandom numbers.

/// Stream of pseudorandom numbers (SplitMix64).
pub(super) struct Numbers(u64);

impl Numbers {
    /// Creates the stream of a seed and a name.
    pub(super) fn new(seed: u64, name: &str) -> Numbers {
        // FNV-1a: names that differ in one character get unrelated streams.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Numbers(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Number with mean 0 and variance 1: the sum of four uniform ones, with tails short enough for every format.
    pub(super) fn normal(&mut self) -> f32 {
        let bits = self.bits();
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        (sum as f32 / 65_536.0 - 2.0) * 3f32.sqrt()
    }

    /// Uniform number less than `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }
}
