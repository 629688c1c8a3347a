//! Random numbers: SplitMix64, the same on every machine.

/// The first seed, and the number of seeds: `METALWORKS_RANDOM=2000` tries more, `METALWORKS_RANDOM_FIRST=123` starts
/// there.
pub(crate) fn seeds(default_count: u64) -> (u64, u64) {
    let setting = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        Err(_) => default,
    };
    (setting("METALWORKS_RANDOM_FIRST", 1), setting("METALWORKS_RANDOM", default_count))
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // Mixed, or neighbouring seeds would give nearly the same sequence.
        Random(Random(seed).next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True with a probability of 1 in `once_in`.
    pub(crate) fn chance(&mut self, once_in: usize) -> bool {
        self.below(once_in) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A number of any size, often a small one or one at a limit.
    pub(crate) fn number(&mut self) -> i64 {
        let bits = self.next() as i64;
        match self.below(4) {
            0 => bits & 15,
            1 => bits >> (self.below(64)),
            2 => self.pick(&[
                -1,
                0,
                1,
                i64::MIN,
                i64::MAX,
                i32::MIN as i64,
                i32::MAX as i64,
                u32::MAX as i64,
                255,
                -128,
            ]),
            _ => bits & 0xffff,
        }
    }
}
