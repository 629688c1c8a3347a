//! The error of a kernel that was interrupted.

use super::{Cause, Fault, MemoryAccess};
use crate::backend::cpu::run::grid::Grid;
use crate::backend::{ArgumentMemory, Table};
use crate::error::Error;
use msl::reflect::{Access, ArgumentKind};
use std::ops::Range;

/// Arguments that are farther away say nothing about an access.
const NEAR: usize = 1 << 40;

/// Describes the interruption of a dispatch of a table.
pub(crate) fn describe(fault: &Fault, grid: &Grid, table: &Table, number: usize) -> Error {
    let [x, y, z] = fault.threadgroup;
    let place = format!("in threadgroup ({x}, {y}, {z})");
    let what = match fault.cause {
        Cause::Cancelled => format!("cancelled {place}"),
        Cause::Signal { signal: libc::SIGSEGV | libc::SIGBUS, address, access } => {
            let is_write = access == MemoryAccess::Write;
            let access = match access {
                MemoryAccess::Read => "a read",
                MemoryAccess::Write => "a write",
                MemoryAccess::Unknown => "an access",
            };
            match address {
                None => {
                    format!("{access} at an address far from all memory, which this CPU does not have, {place}")
                }
                Some(address) => {
                    let mut memory = memory(fault, grid, table, number);
                    memory.retain(|memory| memory.is_writable || !is_write);
                    format!("{access} at address {address:#x}, {}, {place}", position(address, &memory))
                }
            }
        }
        Cause::Signal { signal: libc::SIGFPE, .. } => format!("an arithmetic fault {place}"),
        // Compilers emit invalid instructions where code cannot continue.
        Cause::Signal { signal: libc::SIGILL | libc::SIGTRAP, .. } => {
            format!(
                "it reached code that must not be reached, such as the end of a function without a return, {place}"
            )
        }
        Cause::Signal { signal, .. } => format!("signal {signal} {place}"),
    };
    Error::Kernel { kernel: grid.kernel().to_string(), what }
}

/// Memory of a dispatch.
struct NamedMemory {
    name: String,
    range: Range<usize>,
    is_writable: bool,
}

fn memory(fault: &Fault, grid: &Grid, table: &Table, number: usize) -> Vec<NamedMemory> {
    let executable = table.pipeline(&table.dispatches[number]);
    let arguments = &executable.reflection.arguments;
    let argument = |index: u8| {
        let is_bound =
            |kind: ArgumentKind| matches!(kind, ArgumentKind::Buffer | ArgumentKind::VisibleFunctionTable);
        arguments.iter().find(|argument| argument.index == u32::from(index) && is_bound(argument.kind))
    };
    let mut memory = Vec::new();
    for binding in table.bindings_of(number) {
        let len = match binding.memory {
            ArgumentMemory::Buffer { buffer, offset } => table.buffers.items[buffer as usize].len() - offset,
            ArgumentMemory::Bytes { len, .. } => len as usize,
        };
        let start = grid.dispatch().buffers[usize::from(binding.index)].addr();
        let index = binding.index;
        let argument = argument(index);
        let name = match argument {
            Some(argument) => format!("'{}' (buffer({index}), {len} bytes)", argument.name),
            None => format!("buffer({index}) ({len} bytes)"),
        };
        let is_writable = argument.is_none_or(|argument| argument.access != Access::Read);
        memory.push(NamedMemory { name, range: start..start + len, is_writable });
    }
    let len = grid.threadgroup_memory();
    if fault.threadgroup_memory != 0 && len > 0 {
        let range = fault.threadgroup_memory..fault.threadgroup_memory + len;
        let name = format!("threadgroup memory ({len} bytes)");
        memory.push(NamedMemory { name, range, is_writable: true });
    }
    memory
}

/// The position of an address relative to the nearest memory.
fn position(address: usize, memory: &[NamedMemory]) -> String {
    if address < 1 << 12 {
        return "a null pointer".into();
    }
    let distance = |range: &Range<usize>| match range.contains(&address) {
        true => 0,
        // The last byte is one byte away from the end.
        false if address >= range.end => address - range.end + 1,
        false => range.start - address,
    };
    let nearest = memory.iter().min_by_key(|memory| distance(&memory.range));
    match nearest {
        Some(NamedMemory { name, range, .. }) if range.contains(&address) => {
            format!("{} bytes into {name}", address - range.start)
        }
        Some(NamedMemory { name, range, .. }) if distance(range) < NEAR => match address >= range.end {
            true => format!("{} bytes past the end of {name}", address - range.end),
            false => format!("{} bytes before {name}", range.start - address),
        },
        _ => "far from every argument".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_nearest_memory() {
        let memory = |name: &str, range: Range<usize>| NamedMemory { name: name.into(), range, is_writable: true };
        let memory = [memory("'a'", 0x10000..0x10100), memory("'b'", 0x20000..0x20010)];
        for (address, expected) in [
            (0x10100, "0 bytes past the end of 'a'"),
            (0x10200, "256 bytes past the end of 'a'"),
            (0xfff0, "16 bytes before 'a'"),
            (0x1fff0, "16 bytes before 'b'"),
            (0x20008, "8 bytes into 'b'"),
            (8, "a null pointer"),
            (1 << 46, "far from every argument"),
        ] {
            assert_eq!(position(address, &memory), expected);
        }
        assert_eq!(position(0x5000, &[]), "far from every argument");
    }
}
