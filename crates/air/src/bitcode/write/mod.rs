//! Writing bitcode that Apple's tools read, which are of the age of LLVM 14: pointers with the types of what they point
//! to, and the records and attributes of that time.
//!
//! LLVM 22 cannot write such modules. It writes its own form into memory, and that is translated, record by record:
//!
//! ```text
//! module ─ LLVM's writer ─ bitstream ─ tree ─┬─ input: globals, constants, metadata   types
//!                                            └─ body: instructions of a function
//!          pointees: the type of each pointer
//! constants, attributes, metadata, function (casts) ─ encode ─ stream ─ .metallib
//! ```
//!
//! The alternative is to walk the module through LLVM's C API, which cannot read all of it: whether a node is distinct,
//! the fields of debug information, the scopes of atomics. Translation needs no unsafe code, and most records (metadata,
//! globals, numbers) stay as they are. The price is that this code knows the records of LLVM 22: those that it does not
//! know are errors.

mod attributes;
mod body;
mod codes;
mod constants;
mod encode;
mod function;
mod input;
mod intrinsics;
mod metadata;
mod pointees;
mod stream;
#[cfg(test)]
mod tests;
mod tree;
mod types;

use crate::metallib::unwrap;
use attributes::Attributes;
use body::Body;
use codes::{block, module as code};
use constants::Constants;
use input::{Global, Input};
use pointees::Pointees;
use std::collections::BTreeSet;
use stream::{Abbreviation, Field, Stream};
use types::Types;

/// The error names what cannot be written.
pub(crate) type Result<T> = std::result::Result<T, String>;

const MAGIC: &[u8] = b"BC\xc0\xde";

/// The position of the names of functions, in words.
const VSTOFFSET: Abbreviation =
    Abbreviation { number: 4, fields: &[Field::Literal(code::VSTOFFSET), Field::Fixed(32)] };
/// The place of the initializer in the record of a variable without its name.
const INITIALIZER: usize = 2;
const BLOB: Abbreviation = Abbreviation { number: 4, fields: &[Field::Literal(1), Field::Blob] };

/// Writes a module that has been verified.
pub(crate) fn write(module: &inkwell::module::Module) -> Result<Vec<u8>> {
    translate(module.write_bitcode_to_memory().as_slice())
}

/// Translates bitcode of LLVM 22.
fn translate(bitcode: &[u8]) -> Result<Vec<u8>> {
    // LLVM wraps modules for Apple's systems.
    let stream = if bitcode.starts_with(MAGIC) { Some(bitcode) } else { unwrap(bitcode) };
    let stream =
        stream.and_then(|stream| stream.strip_prefix(MAGIC)).ok_or("LLVM's bitcode begins in another way")?;
    let mut types = Types::default();
    let input = Input::read(tree::read(stream)?, &mut types)?;
    let values = input.value_types();
    let functions: Vec<usize> =
        input.globals.iter().enumerate().filter(has_body).map(|(number, _)| number).collect();
    let bodies = functions.iter().zip(&input.bodies);
    let bodies = bodies.map(|(number, block)| Body::read(&mut types, &values, input.globals[*number].ty, block));
    let bodies: Vec<Body> = bodies.collect::<Result<_>>()?;
    let hints = metadata::argument_types(&input, &mut types);
    let pointees = pointees::analyse(&input, &mut types, &bodies, &functions, &hints)?;
    Output::new(&input, types, pointees)?.write(&bodies, &functions)
}

fn has_body((_, global): &(usize, &Global)) -> bool {
    global.is_function && global.is_defined
}

/// An error for a record that refers to something that is not there.
fn missing(what: &str) -> String {
    format!("LLVM's bitcode names a {what} that is not there")
}

/// The module that is written.
struct Output<'a> {
    input: &'a Input,
    types: Types,
    pointees: Pointees,
    attributes: Attributes,
    constants: Constants,
    /// The names of globals, and the text of all of them.
    names: Vec<(u64, u64)>,
    text: Vec<u8>,
}

impl<'a> Output<'a> {
    fn new(input: &'a Input, mut types: Types, pointees: Pointees) -> Result<Output<'a>> {
        let attributes = Attributes::convert(&input.attribute_groups, &input.attribute_lists, &mut types)?;
        let mut output = Output {
            input,
            types,
            pointees,
            attributes,
            constants: Constants::default(),
            names: Vec::new(),
            text: Vec::new(),
        };
        for global in &input.globals {
            let is_written = input.numbers[output.names.len()].is_some();
            let name = match global.is_function && is_written {
                true => intrinsics::name(&global.name)?,
                false => global.name.clone(),
            };
            let name = output.add_text(&name);
            output.names.push(name);
        }
        Ok(output)
    }

    fn add_text(&mut self, text: &[u8]) -> (u64, u64) {
        let place = (self.text.len() as u64, text.len() as u64);
        self.text.extend_from_slice(text);
        place
    }

    fn write(mut self, bodies: &[Body], functions: &[usize]) -> Result<Vec<u8>> {
        let Input { metadata: records, globals, .. } = self.input;
        let module =
            constants::Module { input: self.input, globals: &self.pointees.globals, constants: None, body: None };
        // All constants of the module must be known before the first has a number.
        let mut initializers = Vec::new();
        for (global, ty) in globals.iter().zip(&self.pointees.globals) {
            let initializer = (!global.is_function).then(|| global.record[INITIALIZER].checked_sub(1)).flatten();
            initializers.push(match initializer {
                Some(value) => Some(self.constants.get(module, &mut self.types, value as u32, Some(*ty))?.0),
                None => None,
            });
        }
        for record in records.iter().filter(|record| record.code == codes::metadata::VALUE) {
            let value = record.operands.get(1).copied().ok_or_else(|| missing("metadata"))?;
            self.constants.get(module, &mut self.types, value as u32, None)?;
        }
        let first = self.input.global_count();
        let first_local = first + self.constants.finish(first, &mut self.types);

        let mut kinds: BTreeSet<u64> = metadata::kinds_of_globals(records).collect();
        let mut function_blocks = Vec::new();
        for ((body, locals), number) in bodies.iter().zip(&self.pointees.locals).zip(functions) {
            let module = constants::Module { constants: Some(&self.constants), body: Some(body), ..module };
            let ty = self.pointees.globals[*number];
            let mut block = Stream::nested();
            function::Writer::new(&mut self.types, &mut self.attributes, module, body, locals, ty)?.write(
                &mut block,
                first_local,
                &mut kinds,
            )?;
            function_blocks.push(block);
        }
        let mut blocks = Stream::nested();
        self.constants.write(&mut blocks, &mut self.types);
        let own = &mut self.constants;
        metadata::write(&mut blocks, &mut self.types, records, |types, value| {
            let (constant, ty) = own.get(module, types, value, None)?;
            Ok((own.number(constant), ty))
        })?;
        self.tags(&mut blocks, bodies);
        let initializers: Vec<u64> = initializers
            .into_iter()
            .map(|one| one.map_or(0, |one| u64::from(self.constants.number(one)) + 1))
            .collect();
        self.assemble(&initializers, &kinds, &blocks, &function_blocks, functions)
    }

    /// Puts the parts together. Types and names come first, and are complete last.
    fn assemble(
        mut self,
        initializers: &[u64],
        kinds: &BTreeSet<u64>,
        blocks: &Stream,
        function_blocks: &[Stream],
        functions: &[usize],
    ) -> Result<Vec<u8>> {
        let mut records = Vec::new();
        for (name, selection) in &self.input.comdats {
            let (place, length) = self.add_text(name);
            let mut record = vec![place, length];
            record.extend(selection);
            records.push((code::COMDAT, record));
        }
        for (number, initializer) in initializers.iter().enumerate() {
            let global = &self.input.globals[number];
            if self.input.numbers[number].is_none() {
                continue;
            }
            let record =
                if global.is_function { self.function(number)? } else { self.variable(number, *initializer) };
            records.push((if global.is_function { code::FUNCTION } else { code::GLOBALVAR }, record));
        }

        let mut stream = Stream::default();
        MAGIC.iter().for_each(|byte| stream.fixed((*byte).into(), 8));
        stream.enter(block::IDENTIFICATION);
        stream.record(1, &b"Metalworks".map(u64::from));
        stream.record(2, &[0]);
        stream.leave();
        stream.enter(block::MODULE);
        stream.record(code::VERSION, &[2]);
        write_abbreviations(&mut stream);
        self.types.write(&mut stream);
        self.attributes.write(&mut stream);
        self.input.texts.iter().for_each(|(code, text)| stream.record(*code, text));
        records.iter().for_each(|(code, record)| stream.record(*code, record));
        stream.define(VSTOFFSET);
        let offset = stream.reserve(VSTOFFSET);
        // After it, the stream is at the end of a word, where whole blocks can be appended.
        metadata::write_kinds(&mut stream, &self.input.metadata_kinds, kinds);
        stream.append(blocks);
        let mut positions = Vec::new();
        for (block, number) in function_blocks.iter().zip(functions) {
            let number = self.input.numbers[*number].ok_or_else(|| missing("function"))?;
            positions.push((number.into(), (stream.position() / 32) as u64));
            stream.append(block);
        }
        let position = stream.position() / 32;
        stream.set(offset, position as u32);
        stream.enter(block::VALUE_SYMTAB);
        positions.iter().for_each(|(number, position)| stream.record(3, &[*number, *position]));
        stream.leave();
        stream.leave();
        stream.enter(block::STRTAB);
        stream.define(BLOB);
        stream.with_blob(BLOB, &[], &self.text);
        stream.leave();
        Ok(stream.finish())
    }

    /// `[name, length, type, flags, initializer, linkage, …, partition]`
    fn variable(&mut self, number: usize, initializer: u64) -> Vec<u64> {
        /// The place of the partition, which is none; LLVM 22 has more behind it.
        const PARTITION: usize = 14;
        let (place, length) = self.names[number];
        let mut record = self.input.globals[number].record.clone();
        record[0] = self.types.number(self.pointees.globals[number]);
        record[INITIALIZER] = initializer;
        record.truncate(PARTITION);
        if record.len() == PARTITION {
            record.extend([0, 0]);
        }
        [place, length].into_iter().chain(record).collect()
    }

    /// `[name, length, type, calling convention, is a declaration, linkage, attributes, …, partition]`
    fn function(&mut self, number: usize) -> Result<Vec<u64>> {
        const ATTRIBUTES: usize = 4;
        /// Constants before the function's code, before the function, and for exceptions.
        const CONSTANTS: [usize; 3] = [10, 13, 14];
        const PARTITION: usize = 17;
        let global = &self.input.globals[number];
        let (place, length) = self.names[number];
        let mut record = global.record.clone();
        if CONSTANTS.iter().any(|constant| record.get(*constant).is_some_and(|value| *value != 0)) {
            return Err("a function with a prologue, a prefix or a personality".into());
        }
        record[0] = self.types.number(self.pointees.globals[number]);
        if intrinsics::is_lifetime(&global.name) {
            record[ATTRIBUTES] = self.attributes.with_new_first_parameter(record[ATTRIBUTES])?;
        }
        record.truncate(PARTITION);
        if record.len() == PARTITION {
            record.extend([0, 0]);
        }
        Ok([place, length].into_iter().chain(record).collect())
    }

    /// Writes the names of operand bundles and of scopes that are used.
    fn tags(&self, stream: &mut Stream, bodies: &[Body]) {
        let has_bundles = bodies.iter().flat_map(|body| &body.instructions).any(|one| !one.bundles.is_empty());
        let mut write = |id: u64, names: &[Vec<u64>]| {
            stream.enter(id);
            names.iter().for_each(|name| stream.record(1, name));
            stream.leave();
        };
        if has_bundles {
            write(block::OPERAND_BUNDLE_TAGS, &self.input.bundle_tags);
        }
        // The first two are always there.
        if self.input.scope_names.len() > 2 {
            write(block::SYNC_SCOPE_NAMES, &self.input.scope_names);
        }
    }
}

/// Writes the encodings that constants and instructions have in all their blocks.
fn write_abbreviations(stream: &mut Stream) {
    /// The record that says which block the encodings after it are for.
    const SET_BLOCK: u64 = 1;
    stream.enter(block::INFO);
    stream.record(SET_BLOCK, &[block::CONSTANTS]);
    constants::ABBREVIATIONS.into_iter().for_each(|one| stream.define(one));
    stream.record(SET_BLOCK, &[block::FUNCTION]);
    encode::ABBREVIATIONS.into_iter().for_each(|one| stream.define(one));
    stream.leave();
}
