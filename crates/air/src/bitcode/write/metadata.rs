//! Metadata: strings, nodes, values, debug information. Their numbers follow from their order, which stays.

use super::codes::{block, metadata as code};
use super::input::{Input, integer};
use super::intrinsics::metal_type;
use super::stream::{Abbreviation, Field, Stream};
use super::tree::Record;
use super::types::{TypeId, Types};
use super::{Result, missing};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

const STRINGS: Abbreviation = Abbreviation {
    number: 4,
    fields: &[Field::Literal(code::STRINGS), Field::Variable(6), Field::Variable(6), Field::Blob],
};
const NODE: Abbreviation =
    Abbreviation { number: 5, fields: &[Field::Literal(code::NODE), Field::ArrayVariable(6)] };
const VALUE: Abbreviation =
    Abbreviation { number: 6, fields: &[Field::Literal(code::VALUE), Field::Variable(6), Field::Variable(6)] };
const NAME: Abbreviation = Abbreviation { number: 7, fields: &[Field::Literal(code::NAME), Field::ArrayFixed(8)] };
const LOCATION: Abbreviation = Abbreviation {
    number: 8,
    fields: &[
        Field::Literal(code::LOCATION),
        Field::Fixed(1),
        Field::Variable(6),
        Field::Variable(8),
        Field::Variable(6),
        Field::Variable(6),
        Field::Fixed(1),
    ],
};

/// Writes the metadata of a module or function. `value` gives the number and type of a value in LLVM 14.
pub(super) fn write(
    stream: &mut Stream,
    types: &mut Types,
    records: &[Record],
    mut value: impl FnMut(&mut Types, u32) -> Result<(u32, TypeId)>,
) -> Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    stream.enter(block::METADATA);
    [STRINGS, NODE, VALUE, NAME, LOCATION].into_iter().for_each(|one| stream.define(one));
    for Record { code, operands, blob } in records {
        let at_most = |count: usize| &operands[..operands.len().min(count)];
        match *code {
            // An index of the nodes, for a reader that loads them one by one.
            code::INDEX_OFFSET | code::INDEX => {}
            code::STRINGS => stream.with_blob(STRINGS, operands, blob),
            code::VALUE => {
                let number = operands.get(1).copied().ok_or_else(|| missing("metadata"))?;
                let (number, ty) = value(types, number as u32)?;
                stream.abbreviated(VALUE, code::VALUE, &[types.number(ty), number.into()]);
            }
            code::NODE => stream.abbreviated(NODE, code::NODE, operands),
            code::NAME => stream.abbreviated(NAME, code::NAME, operands),
            code::DISTINCT_NODE | code::NAMED_NODE => stream.record(*code, operands),
            code::GLOBAL_DECL_ATTACHMENT => {
                let mut operands = operands.clone();
                let global = operands.first_mut().ok_or_else(|| missing("global"))?;
                *global = value(types, *global as u32)?.0.into();
                stream.record(*code, &operands);
            }
            // Later versions have added operands at the end.
            code::LOCATION => stream.abbreviated(LOCATION, code::LOCATION, at_most(6)),
            code::FILE => stream.record(*code, at_most(6)),
            code::SUBROUTINE_TYPE => stream.record(*code, at_most(4)),
            code::COMPILE_UNIT => stream.record(*code, &compile_unit(at_most(22))?),
            code::SUBPROGRAM => stream.record(*code, at_most(19)),
            code::LEXICAL_BLOCK => stream.record(*code, at_most(5)),
            code::LEXICAL_BLOCK_FILE | code::NAMESPACE => stream.record(*code, at_most(4)),
            code::EXPRESSION => stream.record(*code, operands),
            code => return Err(format!("debug information of kind {code}")),
        }
    }
    stream.leave();
    Ok(())
}

/// LLVM 22 marks a language that has a version by the highest bit.
fn compile_unit(operands: &[u64]) -> Result<Vec<u64>> {
    match operands.get(1) {
        Some(language) if *language <= 0xffff => Ok(operands.to_vec()),
        _ => Err("a unit of compilation in a language with a version".into()),
    }
}

/// Writes the names of the kinds that are used.
pub(super) fn write_kinds(stream: &mut Stream, kinds: &[Vec<u64>], used: &BTreeSet<u64>) {
    stream.enter(block::METADATA_KIND);
    for record in kinds.iter().filter(|record| record.first().is_some_and(|kind| used.contains(kind))) {
        stream.record(code::KIND, record);
    }
    stream.leave();
}

/// The kinds of the attachments of globals.
pub(super) fn kinds_of_globals(records: &[Record]) -> impl Iterator<Item = u64> {
    let attachments = records.iter().filter(|record| record.code == code::GLOBAL_DECL_ATTACHMENT);
    attachments.flat_map(|record| record.operands.iter().skip(1).step_by(2).copied())
}

/// The types of kernels' buffers that their metadata gives, by function and parameter.
pub(super) fn argument_types(input: &Input, types: &mut Types) -> FxHashMap<(usize, usize), TypeId> {
    let mut hints = FxHashMap::default();
    let graph = Graph::read(&input.metadata);
    for kernel in graph.kernels() {
        let function = graph.value(kernel.first()).filter(|value| (*value as usize) < input.globals.len());
        let arguments = kernel.get(2).and_then(|node| graph.node(*node));
        let (Some(function), Some(arguments)) = (function, arguments) else { continue };
        for argument in arguments.iter().filter_map(|node| graph.node(*node)) {
            let index = graph.value(argument.first()).and_then(|value| integer(input.constant(value, None)?));
            let name = argument.windows(2).find(|pair| graph.string(pair[0]) == Some("air.arg_type_name"));
            let ty = name.and_then(|pair| metal_type(graph.string(pair[1])?, types));
            if let (Some(index), Some(ty)) = (index, ty) {
                hints.insert((function as usize, index as usize), ty);
            }
        }
    }
    hints
}

/// Metadata by number. An operand of a node is a number plus one.
#[derive(Default)]
struct Graph<'a> {
    strings: Vec<&'a str>,
    /// The record of each of those after the strings.
    others: Vec<&'a Record>,
    named: Vec<(Vec<u8>, &'a [u64])>,
}

impl<'a> Graph<'a> {
    fn read(records: &'a [Record]) -> Graph<'a> {
        let mut graph = Graph::default();
        let mut name = Vec::new();
        for record in records {
            match record.code {
                code::STRINGS => graph.strings = strings(record),
                code::NAME => name = record.operands.iter().map(|byte| *byte as u8).collect(),
                code::NAMED_NODE => graph.named.push((std::mem::take(&mut name), &record.operands)),
                code::KIND | code::INDEX | code::INDEX_OFFSET | code::GLOBAL_DECL_ATTACHMENT => {}
                _ => graph.others.push(record),
            }
        }
        graph
    }

    fn kernels(&self) -> impl Iterator<Item = &'a [u64]> {
        let named = self.named.iter().filter(|(name, _)| name == b"air.kernel");
        // These operands are numbers as they are.
        named.flat_map(|(_, nodes)| nodes.iter()).filter_map(|number| self.node(number + 1))
    }

    fn record(&self, operand: u64) -> Option<&'a Record> {
        let place = usize::try_from(operand).ok()?.checked_sub(1 + self.strings.len())?;
        self.others.get(place).copied()
    }

    fn node(&self, operand: u64) -> Option<&'a [u64]> {
        let record = self.record(operand)?;
        (record.code == code::NODE || record.code == code::DISTINCT_NODE).then_some(&record.operands[..])
    }

    fn value(&self, operand: Option<&u64>) -> Option<u32> {
        let record = self.record(*operand?)?;
        if record.code == code::VALUE { record.operands.get(1).map(|value| *value as u32) } else { None }
    }

    fn string(&self, operand: u64) -> Option<&'a str> {
        self.strings.get(usize::try_from(operand).ok()?.checked_sub(1)?).copied()
    }
}

/// `[count, offset of the characters]`, and a blob: lengths as numbers of six bits, then characters.
fn strings(record: &Record) -> Vec<&str> {
    let [count, offset] = record.operands[..] else { return Vec::new() };
    let Some((lengths, mut characters)) = record.blob.split_at_checked(offset as usize) else { return Vec::new() };
    let mut bit = 0;
    let mut piece = || -> Option<usize> {
        let at = |bit: usize| Some(lengths.get(bit / 8)? >> (bit % 8) & 1);
        let value = (0..6).try_fold(0, |value, index| Some(value | usize::from(at(bit + index)?) << index))?;
        bit += 6;
        Some(value)
    };
    let mut strings = Vec::new();
    for _ in 0..count {
        let (mut length, mut shift) = (0, 0);
        loop {
            let Some(value) = piece().filter(|_| shift < 40) else { return strings };
            length |= (value & 31) << shift;
            shift += 5;
            if value & 32 == 0 {
                break;
            }
        }
        let Some((text, rest)) = characters.split_at_checked(length) else { return strings };
        // Other bytes than text are no names of types.
        strings.push(std::str::from_utf8(text).unwrap_or_default());
        characters = rest;
    }
    strings
}
