//! Mutations of bytes and of texts.

/// Pseudo-random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    /// A number below `bound`, which is 0 for 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % (bound.max(1) as u64)) as usize
    }
}

/// Numbers that readers get wrong, as bytes.
const NUMBERS: [u64; 10] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];

/// Changes bytes, numbers and lengths.
pub(crate) fn bytes(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(6) {
        // Most of what a reader decides on is at the beginning.
        let at = match random.below(2) {
            0 => random.below(bytes.len()),
            _ => random.below(bytes.len().min(4096)),
        };
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 | 4 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let len = [1, 2, 4, 8][random.below(4)];
                for (to, from) in bytes.iter_mut().skip(at).zip(&number[..len]) {
                    *to = *from;
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    bytes
}

/// Deletes, doubles, swaps and inserts words.
pub(crate) fn text(seed: &str, words: &[&str], random: &mut Random) -> String {
    let mut parts: Vec<&str> = split(seed);
    for _ in 0..1 + random.below(8) {
        let at = random.below(parts.len());
        let end = (at + 1 + random.below(8)).min(parts.len());
        match random.below(6) {
            0 => drop(parts.drain(at..end)),
            1 => {
                let part = parts[at..end].to_vec();
                let times = 1 + random.below(4) * random.below(40);
                for _ in 0..times {
                    parts.splice(at..at, part.iter().copied());
                }
            }
            2 => {
                let other = random.below(parts.len());
                if !parts.is_empty() {
                    parts.swap(at, other);
                }
            }
            _ => {
                let word = words[random.below(words.len())];
                parts.insert(at.min(parts.len()), word);
            }
        }
    }
    parts.concat()
}

/// Numbers at limits, and operators, for [`same_kinds`].
const NUMERALS: [&str; 10] = ["0", "1", "2", "3", "8", "31", "32", "255", "65536", "2147483647"];
const OPERATORS: [&str; 10] = ["+", "-", "*", "/", "%", "&", "|", "^", "<", ">"];

/// Replaces words by words, numbers by numbers and operators by operators: readers accept more of it than of [`text`].
pub(crate) fn same_kinds(seed: &str, random: &mut Random) -> String {
    let mut parts = split(seed);
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let is_word = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    for _ in 0..1 + random.below(8) {
        let at = random.below(parts.len());
        let Some(&part) = parts.get(at) else { break };
        // Some word behind it, or the first.
        let other = |random: &mut Random, is_wanted: &dyn Fn(&str) -> bool| {
            let from = random.below(parts.len());
            let (first, second) = parts.split_at(from);
            second.iter().chain(first).copied().find(|part| is_wanted(part))
        };
        let new = match part {
            part if is_number(part) && random.below(2) == 0 => Some(NUMERALS[random.below(NUMERALS.len())]),
            part if is_number(part) => other(random, &is_number),
            part if is_word(part) => other(random, &is_word),
            part if OPERATORS.contains(&part) => Some(OPERATORS[random.below(OPERATORS.len())]),
            _ => None,
        };
        parts[at] = new.unwrap_or(part);
    }
    parts.concat()
}

/// Words, numbers, blanks, and single other characters.
fn split(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match kind(first) {
            2 => first.len_utf8(),
            first => rest.find(|c| kind(c) != first).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(len);
        parts.push(part);
        rest = after;
    }
    parts
}
