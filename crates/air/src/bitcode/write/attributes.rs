//! Attributes, in groups for one parameter or function, and in lists of groups. Their numbers never change; LLVM 22 has
//! more of them, and says in one (`memory`, `captures`) what LLVM 14 says in several. Those that LLVM 14 does not have
//! only promise more, and are left out.

use super::codes::block;
use super::input::Input;
use super::stream::Stream;
use super::types::{TypeId, Types};
use super::{Result, missing};
use std::collections::{BTreeMap, BTreeSet};

/// The last that LLVM 14 has.
const LAST: u64 = 78;

const NO_CAPTURE: u64 = 11;
const READ_NONE: u64 = 20;
const READ_ONLY: u64 = 21;
const UNWIND_TABLE: u64 = 33;
const ARGMEM_ONLY: u64 = 45;
const INACCESSIBLEMEM_ONLY: u64 = 49;
const INACCESSIBLEMEM_OR_ARGMEM_ONLY: u64 = 50;
const WRITE_ONLY: u64 = 52;
/// Of LLVM 22.
const MEMORY: u64 = 86;
const CAPTURES: u64 = 102;

/// The attributes of the function itself, in place of a parameter's.
const OF_FUNCTION: u64 = 0xffff_ffff;

/// Groups and lists, in LLVM 14's form.
pub(super) struct Attributes {
    groups: Vec<Vec<u64>>,
    lists: Vec<Vec<u64>>,
    /// Lists for functions with one more parameter.
    shifted: BTreeMap<u64, u64>,
}

impl Attributes {
    /// Converts those of LLVM 22. A list keeps its number.
    pub(super) fn convert(groups: &[Vec<u64>], lists: &[Vec<u64>], types: &mut Types) -> Result<Attributes> {
        let mut groups = groups.iter().map(|record| group(record, types)).collect::<Result<Vec<_>>>()?;
        // A group without attributes is an error to LLVM; a list without groups is not.
        groups.retain(|record| record.len() > 2);
        let known: BTreeSet<u64> = groups.iter().map(|record| record[0]).collect();
        let lists = lists.iter().map(|list| list.iter().copied().filter(|group| known.contains(group)).collect());
        Ok(Attributes { groups, lists: lists.collect(), shifted: BTreeMap::new() })
    }

    /// A list for a function that has one more parameter before the first; zero is the empty list.
    pub(super) fn with_new_first_parameter(&mut self, list: u64) -> Result<u64> {
        if list == 0 {
            return Ok(0);
        }
        if let Some(shifted) = self.shifted.get(&list) {
            return Ok(*shifted);
        }
        let old = self.lists.get(list as usize - 1).ok_or_else(|| missing("attributes"))?.clone();
        let mut next = self.groups.iter().filter_map(|record| record.first()).max().copied().unwrap_or(0);
        let mut new = Vec::new();
        for number in old {
            let record = self.groups.iter().find(|record| record.first() == Some(&number));
            let mut record = record.ok_or_else(|| missing("attributes"))?.clone();
            match record.get(1) {
                Some(1..OF_FUNCTION) => {
                    next += 1;
                    record[0] = next;
                    record[1] += 1;
                    self.groups.push(record);
                    new.push(next);
                }
                _ => new.push(number),
            }
        }
        self.lists.push(new);
        self.shifted.insert(list, self.lists.len() as u64);
        Ok(self.lists.len() as u64)
    }

    pub(super) fn write(&self, stream: &mut Stream) {
        if self.lists.is_empty() {
            return;
        }
        stream.enter(block::PARAMATTR_GROUP);
        self.groups.iter().for_each(|record| stream.record(3, record));
        stream.leave();
        stream.enter(block::PARAMATTR);
        self.lists.iter().for_each(|record| stream.record(2, record));
        stream.leave();
    }
}

/// The type that an attribute such as `byval` gives a parameter, in LLVM 22.
pub(super) fn parameter_type(input: &Input, types: &Types, list: u64, parameter: usize) -> Option<TypeId> {
    let list = input.attribute_lists.get(usize::try_from(list).ok()?.checked_sub(1)?)?;
    let of_parameter = |group: &&Vec<u64>| list.contains(&group[0]) && group[1] == parameter as u64 + 1;
    let group = input.attribute_groups.iter().filter(|group| group.len() > 2).find(of_parameter)?;
    let mut rest = &group[2..];
    while let [form, after @ ..] = rest {
        let length = length(*form, after).ok()?;
        if let (6, [_, ty, ..]) = (*form, after) {
            return types.numbered(*ty).ok();
        }
        rest = after.get(length..)?;
    }
    None
}

/// The number of operands of an attribute of this form.
fn length(form: u64, after: &[u64]) -> Result<usize> {
    let incomplete = || missing("attribute");
    Ok(match form {
        0 | 5 => 1,
        1 | 6 => 2,
        // Text, and text with a value: each ends with a zero.
        3 | 4 => {
            let end = |from: usize| {
                let text = after.get(from..).ok_or_else(incomplete)?;
                text.iter().position(|byte| *byte == 0).map(|end| from + end + 1).ok_or_else(incomplete)
            };
            if form == 3 { end(0)? } else { end(end(0)?)? }
        }
        // A range: the width of its numbers, and the two ends.
        7 => 2 + range(after.get(1).copied(), after.get(2).copied()).ok_or_else(incomplete)?,
        // A list of ranges with numbers of at most 64 bits: their number and width come first.
        8 if after.get(2).is_some_and(|width| *width <= 64) => 3 + 2 * after[1] as usize,
        _ => return Err(format!("an attribute of the form {form}")),
    })
}

/// `[number, parameter, attribute…]`
fn group(record: &[u64], types: &mut Types) -> Result<Vec<u64>> {
    let incomplete = || missing("attribute");
    let mut new = record.get(..2).ok_or_else(incomplete)?.to_vec();
    let mut rest = &record[2..];
    while let [form, after @ ..] = rest {
        let key = *after.first().ok_or_else(incomplete)?;
        let length = length(*form, after)?;
        let attribute = after.get(..length).ok_or_else(incomplete)?;
        match (*form, key, attribute) {
            (3 | 4, ..) => new.extend(std::iter::once(form).chain(attribute)),
            (1, MEMORY, [_, effects]) => memory(*effects).into_iter().for_each(|one| new.extend([0, one])),
            (1, CAPTURES, [_, 0]) => new.extend([0, NO_CAPTURE]),
            (1, UNWIND_TABLE, _) => new.extend([0, UNWIND_TABLE]),
            (6, key, [_, ty]) if key <= LAST => {
                let ty = types.numbered(*ty)?;
                let ty = types.typed(ty);
                new.extend([6, key, types.number(ty)]);
            }
            (0 | 1 | 5, key, _) if key <= LAST => new.extend(std::iter::once(form).chain(attribute)),
            _ => {}
        }
        rest = &after[length..];
    }
    Ok(new)
}

/// The number of operands for the ends of a range.
fn range(width: Option<u64>, sizes: Option<u64>) -> Option<usize> {
    match width? {
        0..=64 => Some(2),
        // The numbers of words of both ends come first.
        _ => Some(1 + (sizes? & 0xffff_ffff) as usize + (sizes? >> 32) as usize),
    }
}

/// The attributes for `memory`, which has two bits for each kind of memory: may read, may write.
fn memory(effects: u64) -> Vec<u64> {
    let kind = |index: u64| effects >> (2 * index) & 3;
    let (arguments, inaccessible) = (kind(0), kind(1) | kind(4) | kind(5));
    let (other, all) = (kind(2) | kind(3), kind(0) | kind(1) | kind(2) | kind(3) | kind(4) | kind(5));
    let mut new = Vec::new();
    match (arguments, inaccessible, other) {
        (0, 0, 0) => return vec![READ_NONE],
        (_, 0, 0) => new.push(ARGMEM_ONLY),
        (0, _, 0) => new.push(INACCESSIBLEMEM_ONLY),
        (_, _, 0) => new.push(INACCESSIBLEMEM_OR_ARGMEM_ONLY),
        _ => {}
    }
    match all {
        1 => new.push(READ_ONLY),
        2 => new.push(WRITE_ONLY),
        _ => {}
    }
    new
}

#[cfg(test)]
mod tests {
    use super::memory;

    #[test]
    fn effects_on_memory() {
        assert_eq!(memory(0), [20]);
        // Everything is read.
        assert_eq!(memory(0b01_01_01_01_01_01), [21]);
        assert_eq!(memory(0b10_10_10_10_10_10), [52]);
        assert_eq!(memory(0b11), [45]);
        assert_eq!(memory(0b01), [45, 21]);
        assert_eq!(memory(0b11_00), [49]);
        assert_eq!(memory(0b11_11), [50]);
        // Arguments are not read, but other memory is.
        assert_eq!(memory(0b01_01_01_01_01_00), [21]);
        assert!(memory(0b01_01_11_01_01_01).is_empty());
    }
}
