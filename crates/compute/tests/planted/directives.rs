//! Directives at the head of a file: its dispatch and its buffers.
//!
//! ```text
//! // dispatch: 2,2 x 8,8            threadgroups, and threads in each
//! // buffer 0: f32[100] iota        elements: zeros, ones, iota, large (1e10 and up) or lowest
//! // buffer 0: f32[100] ones from 64   bound with an offset in bytes
//! // buffer 0: f32[100] uninitialized   declared so, with zeros
//! // buffer 1: u32 = 100            bytes, of one or more numbers
//! // buffer 1: same as 0 unless fixed
//! // threadgroup 0: 64              bytes of a threadgroup argument
//! // constant 0: u32 = 33           a function constant, u32 or bool
//! // checks: nan
//! // steps: 1000                    the step budget
//! ```

use half::f16;
use metalworks_compute::{ConstantValue, FunctionConstantValues};

#[derive(Default)]
pub(crate) struct Directives {
    pub(crate) grid: [usize; 3],
    pub(crate) threadgroup: [usize; 3],
    pub(crate) buffers: Vec<(usize, BufferData)>,
    pub(crate) threadgroup_memory: Vec<(usize, usize)>,
    pub(crate) constants: FunctionConstantValues,
    pub(crate) nan: bool,
    pub(crate) steps: Option<u64>,
}

pub(crate) enum BufferData {
    Bytes(Vec<u8>),
    Buffer {
        bytes: Vec<u8>,
        offset: usize,
        is_uninitialized: bool,
    },
    /// The buffer of another index; one of its own in the corrected twin.
    SameAs(usize),
}

impl Directives {
    pub(crate) fn parse(source: &str) -> Directives {
        let mut directives = Directives::default();
        let head = source.lines().map_while(|line| line.strip_prefix("//"));
        // After the sentence and an empty line.
        for line in head.skip_while(|line| !line.is_empty()).skip(1) {
            let (key, value) = line.trim().split_once(": ").unwrap_or_else(|| panic!("'{line}' is no directive"));
            let value = value.trim();
            match key.split_once(' ') {
                None if key == "dispatch" => {
                    let (grid, threadgroup) = value.split_once(" x ").expect("threadgroups x threads");
                    (directives.grid, directives.threadgroup) = (size(grid), size(threadgroup));
                }
                None if key == "checks" => directives.nan = value == "nan",
                None if key == "steps" => directives.steps = Some(number(value) as u64),
                Some(("buffer", index)) => directives.buffers.push((number(index), buffer(value))),
                Some(("constant", index)) => {
                    directives.constants.set(number(index) as u32, constant(value));
                }
                Some(("threadgroup", index)) => {
                    directives.threadgroup_memory.push((number(index), number(value)));
                }
                _ => panic!("'{line}' is no directive"),
            }
        }
        assert_ne!(directives.grid, [0; 3], "there is no dispatch");
        directives
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is no number"))
}

fn size(text: &str) -> [usize; 3] {
    let mut size = [1; 3];
    for (extent, text) in size.iter_mut().zip(text.split(',')) {
        *extent = number(text);
    }
    size
}

fn buffer(text: &str) -> BufferData {
    if let Some(other) = text.strip_prefix("same as ") {
        return BufferData::SameAs(number(other.strip_suffix(" unless fixed").expect("unless fixed")));
    }
    if let Some((kind, value)) = text.split_once(" = ") {
        let numbers = value.split(' ').map(|value| value.parse().expect("a number"));
        return BufferData::Bytes(numbers.flat_map(|value| element(kind, value)).collect());
    }
    let (kind, rest) = text.split_once('[').expect("TYPE[COUNT] VALUES");
    let (count, values) = rest.split_once("] ").expect("TYPE[COUNT] VALUES");
    let (values, offset) = values.split_once(" from ").unwrap_or((values, "0"));
    let value = |index: usize| match values {
        "zeros" | "uninitialized" => 0.0,
        "ones" => 1.0,
        "iota" => index as f64,
        "large" => 1e10 * (1.0 + index as f64),
        "lowest" => f64::from(i32::MIN),
        other => panic!("'{other}' are no values"),
    };
    let bytes = (0..number(count)).flat_map(|index| element(kind, value(index))).collect();
    BufferData::Buffer { bytes, offset: number(offset), is_uninitialized: values == "uninitialized" }
}

fn constant(text: &str) -> ConstantValue {
    match text.split_once(" = ") {
        Some(("u32", value)) => ConstantValue::Uint(number(value) as u32),
        Some(("bool", value)) => ConstantValue::Bool(value == "true"),
        _ => panic!("'{text}' is no constant"),
    }
}

fn element(kind: &str, value: f64) -> Vec<u8> {
    match kind {
        "f32" => (value as f32).to_le_bytes().to_vec(),
        "f16" => f16::from_f64(value).to_le_bytes().to_vec(),
        "u32" => (value as u32).to_le_bytes().to_vec(),
        "i32" => (value as i32).to_le_bytes().to_vec(),
        "u64" => (value as u64).to_le_bytes().to_vec(),
        "u8" => vec![value as u8],
        other => panic!("'{other}' is no type"),
    }
}
