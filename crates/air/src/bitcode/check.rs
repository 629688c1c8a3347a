//! Checks that LLVM's reader lacks, without which it takes all the time or memory there is: impossible counts,
//! constants that contain themselves, lists of numbers for types that are no lists.

use super::bitstream::{self, Error, Record, Visitor, walk};
use crate::metallib::unwrap;

const MODULE: u64 = 8;
const ATTRIBUTE_GROUPS: u64 = 10;
const CONSTANTS: u64 = 11;
const FUNCTION: u64 = 12;
const METADATA: u64 = 15;
const TYPES: u64 = 17;

/// `[group, parameter, attribute…]` in the block of attribute groups.
const ATTRIBUTE_GROUP: u64 = 3;
/// `[number, offset]` and a blob in the block of metadata.
const METADATA_STRINGS: u64 = 35;

/// The attributes of the function itself, in place of a parameter's.
const OF_FUNCTION: u64 = 0xffff_ffff;
/// More parameters than a kernel can have bindings.
const MAX_PARAMETERS: u64 = 1024;
/// The longest vectors of AIR are simdgroup matrices with 64 elements.
const MAX_VECTOR: u64 = 4096;

/// Refuses modules in which some number is larger than it can be, or a constant is part of itself.
pub(super) fn check(bitcode: &[u8]) -> Result<(), String> {
    const MAGIC: &[u8] = b"BC\xc0\xde";
    let stream = if bitcode.starts_with(MAGIC) { Some(bitcode) } else { unwrap(bitcode) };
    let stream = stream.and_then(|stream| stream.strip_prefix(MAGIC)).ok_or("it does not begin as bitcode does")?;
    walk(stream, &mut Check { limit: stream.len() as u64, ..Check::default() }).map_err(|error| match error {
        Error::End => "it ends too early".into(),
        Error::Malformed(problem) => problem.into(),
    })
}

/// The state of the check.
#[derive(Default)]
struct Check {
    /// The size of the stream: no count in a module is larger.
    limit: u64,
    types: Vec<Type>,
    /// The type of the constants that follow.
    current: Type,
    /// For each function with a body, in order, the number of its parameters.
    bodies: Vec<u64>,
    /// The number of bodies that have begun.
    begun: usize,
    /// The number of values of the module: variables and functions, then constants.
    values: u64,
    /// The number of the first value that belongs to the function at hand.
    locals: Option<u64>,
    /// The constants of the block at hand: the operands of each.
    constants: Vec<Vec<u64>>,
}

/// A type, as far as the checks need it.
#[derive(Clone, Copy, PartialEq, Default)]
enum Type {
    /// One with this many parameters.
    Function(u64),
    /// An array or a vector.
    List,
    #[default]
    Other,
}

impl Visitor for Check {
    fn enter(&mut self, depth: usize, block: u64) -> bool {
        match (depth, block) {
            (0, MODULE) => true,
            (1, FUNCTION) => {
                let parameters = self.bodies.get(self.begun).copied().unwrap_or(0);
                self.begun += 1;
                self.locals = Some(self.values.saturating_add(parameters));
                true
            }
            (_, ATTRIBUTE_GROUPS | METADATA | TYPES | CONSTANTS) => depth > 0,
            _ => false,
        }
    }

    fn record(&mut self, block: u64, record: Record) -> bitstream::Result<()> {
        let operand = |at: usize| record.operands.get(at).copied().unwrap_or(0);
        match block {
            MODULE => {
                self.module_record(&record);
                Ok(())
            }
            TYPES => self.type_record(&record),
            CONSTANTS => self.constant_record(&record),
            ATTRIBUTE_GROUPS if record.code == ATTRIBUTE_GROUP => match operand(1) {
                0..=MAX_PARAMETERS | OF_FUNCTION => Ok(()),
                _ => Err(Error::Malformed("an attribute belongs to a parameter that no function has")),
            },
            METADATA if record.code == METADATA_STRINGS && operand(0) > self.limit => {
                Err(Error::Malformed("it has more strings than bytes"))
            }
            _ => Ok(()),
        }
    }

    fn leave(&mut self, block: u64) -> bitstream::Result<()> {
        if block == FUNCTION {
            self.locals = None;
        }
        if block != CONSTANTS {
            return Ok(());
        }
        let constants = std::mem::take(&mut self.constants);
        let next = self.locals.as_mut().unwrap_or(&mut self.values);
        let first = *next;
        *next += constants.len() as u64;
        match has_cycle(&constants, first) {
            true => Err(Error::Malformed("a constant is part of itself")),
            false => Ok(()),
        }
    }
}

impl Check {
    fn module_record(&mut self, record: &Record) {
        const VARIABLE: u64 = 7;
        const FUNCTION: u64 = 8;
        const ALIASES: [u64; 3] = [9, 14, 15];
        if record.code == VARIABLE || record.code == FUNCTION || ALIASES.contains(&record.code) {
            self.values += 1;
        }
        // [name, length of the name, type, calling convention, is a declaration, …]
        if let (FUNCTION, [_, _, ty, _, 0, ..]) = (record.code, &record.operands[..]) {
            self.bodies.push(match self.types.get(*ty as usize) {
                Some(Type::Function(parameters)) => *parameters,
                _ => 0,
            });
        }
    }

    fn type_record(&mut self, record: &Record) -> bitstream::Result<()> {
        const COUNT: u64 = 1;
        const VECTOR: u64 = 12;
        const ARRAY: u64 = 11;
        const STRUCT_NAME: u64 = 19;
        const FUNCTION: u64 = 21;
        let first = record.operands.first().copied().unwrap_or(0);
        match record.code {
            COUNT if first > self.limit => return Err(Error::Malformed("it has more types than bytes")),
            VECTOR if first > MAX_VECTOR => return Err(Error::Malformed("a vector is too long")),
            COUNT | STRUCT_NAME => return Ok(()),
            // [is variadic, result, parameter…]
            FUNCTION => self.types.push(Type::Function(record.operands.len().saturating_sub(2) as u64)),
            VECTOR | ARRAY => self.types.push(Type::List),
            _ => self.types.push(Type::Other),
        }
        Ok(())
    }

    fn constant_record(&mut self, record: &Record) -> bitstream::Result<()> {
        const TYPE: u64 = 1;
        const DATA: u64 = 22;
        const AGGREGATE: u64 = 7;
        const BINARY: u64 = 10;
        const CAST: u64 = 11;
        const ELEMENT_POINTERS: [u64; 5] = [12, 20, 24, 31, 32];
        let operands = &record.operands;
        self.constants.push(match record.code {
            TYPE => {
                let ty = operands.first().and_then(|ty| self.types.get(usize::try_from(*ty).ok()?));
                self.current = *ty.ok_or(Error::Malformed("a constant has a type that is not there"))?;
                return Ok(());
            }
            DATA if self.current != Type::List => {
                return Err(Error::Malformed("a list of numbers has another type"));
            }
            AGGREGATE => operands.clone(),
            // [operation, value, value] and [operation, type, value]
            BINARY => operands.iter().skip(1).copied().collect(),
            CAST => operands.get(2).copied().into_iter().collect(),
            // A type and flags, then a type and a value for each operand.
            code if ELEMENT_POINTERS.contains(&code) => {
                let pairs = operands.len().saturating_sub(2) / 2;
                operands.iter().rev().step_by(2).take(pairs.max(1)).copied().collect()
            }
            _ => Vec::new(),
        });
        Ok(())
    }
}

/// True if a constant contains itself, directly or not. The constants are numbered from `first`.
fn has_cycle(constants: &[Vec<u64>], first: u64) -> bool {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; constants.len()];
    for root in 0..constants.len() {
        // Each with the position of the part that comes next.
        let mut path = vec![(root, 0)];
        while let Some((constant, part)) = path.last_mut() {
            let constant = *constant;
            if *part == 0 {
                match states[constant] {
                    State::New => states[constant] = State::Open,
                    State::Open => return true,
                    State::Done => {
                        path.pop();
                        continue;
                    }
                }
            }
            let Some(value) = constants[constant].get(*part) else {
                states[constant] = State::Done;
                path.pop();
                continue;
            };
            *part += 1;
            if let Some(index) = value.checked_sub(first).filter(|index| *index < constants.len() as u64) {
                path.push((index as usize, 0));
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{check, has_cycle};
    use crate::metallib::{Library, apple_library};

    #[test]
    fn cycles() {
        assert!(!has_cycle(&[], 0));
        assert!(!has_cycle(&[vec![], vec![10, 10, 12], vec![10, 3]], 10));
        assert!(has_cycle(&[vec![10]], 10));
        assert!(has_cycle(&[vec![11], vec![5, 12], vec![10]], 10));
        assert!(!has_cycle(&[vec![11, 12], vec![12], vec![99]], 10));
    }

    #[test]
    #[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
    fn apples_modules_are_accepted() {
        let file = apple_library();
        let library = Library::parse(&file).unwrap();
        for function in library.functions() {
            let bitcode = function.bitcode().unwrap();
            check(bitcode).unwrap_or_else(|error| panic!("{}: {error}", function.name()));
        }
    }
}
