//! Conversion of one tensor: slabs of rows, divided between threads, and written in order.

use std::io;
use std::ops::Range;
use std::thread;

use super::encode::encode;
use super::input::QuantizeInput;
use crate::formats::Format;
use crate::weights::{TensorInfo, TensorType};

/// Numbers that a thread converts at a time: bounds the memory, and is work for some ten milliseconds.
const NUMBERS: u64 = 1 << 19;

/// Converts a tensor, or copies it. `write` gets its bytes in order.
pub(super) fn convert(
    input: &dyn QuantizeInput,
    tensor: &TensorInfo,
    to: TensorType,
    threads: usize,
    write: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let columns = tensor.columns().max(1);
    let rows = tensor.elements() / columns;
    let part = (NUMBERS / columns).max(1);
    let threads = threads.max(1) as u64;
    let mut first = 0;
    while first < rows {
        let parts = (0..threads).map(|thread| first + thread * part).filter(|&start| start < rows);
        let parts: Vec<Range<u64>> = parts.map(|start| start..(start + part).min(rows)).collect();
        first = parts.last().map_or(rows, |last| last.end);
        let results: Vec<io::Result<Vec<u8>>> = match parts.len() {
            1 => parts.into_iter().map(|rows| convert_rows(input, tensor, to, rows)).collect(),
            _ => thread::scope(|scope| {
                let start = |rows| scope.spawn(move || convert_rows(input, tensor, to, rows));
                let workers: Vec<_> = parts.into_iter().map(start).collect();
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(panicked(tensor)))).collect()
            }),
        };
        for bytes in results {
            write(&bytes?)?;
        }
    }
    Ok(())
}

fn panicked(tensor: &TensorInfo) -> io::Error {
    io::Error::other(format!("tensor '{}': the conversion failed", tensor.name))
}

fn convert_rows(
    input: &dyn QuantizeInput,
    tensor: &TensorInfo,
    to: TensorType,
    rows: Range<u64>,
) -> io::Result<Vec<u8>> {
    let format = match to.format() {
        Some(format) if tensor.kind != to => format,
        _ => return input.read_rows(tensor, rows).map_err(io::Error::other),
    };
    let first = rows.start;
    let numbers = input.read_numbers(tensor, rows).map_err(io::Error::other)?;
    let columns = tensor.columns().max(1);
    let row_of = |index: usize| first + index as u64 / columns;
    if let Some(index) = numbers.iter().position(|number| !number.is_finite()) {
        let message = format!("tensor '{}', row {}: {} is no weight", tensor.name, row_of(index), numbers[index]);
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    let size = format.row_size(numbers.len()).ok_or_else(|| panicked(tensor))?;
    let mut bytes = Vec::with_capacity(size);
    encode(format, &numbers, &mut bytes);
    match first_overflow(format, &bytes) {
        Some(block) => {
            let row = row_of(block * format.block_len());
            let message = format!("tensor '{}', row {row}: its weights are too large for {to}", tensor.name);
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
        None => Ok(bytes),
    }
}

/// The first block with an infinite scale or number.
fn first_overflow(format: Format, bytes: &[u8]) -> Option<usize> {
    bytes.chunks_exact(format.block_size()).position(|block| !format.is_finite(block))
}
