//! A kernel compiled to PTX, and its form as bytes.
//!
//! One threadgroup is one CUDA block, and one simdgroup one warp: thread `i` of a threadgroup is lane `i % 32` of
//! simdgroup `i / 32`. The CUDA grid counts threadgroups.
//!
//! ```text
//! threadgroups u8 ── waits u8 ── static_threadgroup_memory u32 ── max_threads u32 (0 for none) ── thread_multiple u32
//!                 ── name ── ptx ── entry ── bytes_entry (empty for none) ── parameters ── bytes_parameters ── failures ── early
//! ```
//!
//! Numbers are little-endian; texts have their length (u32) before them, and lists their count (u32). A parameter is
//! its number (u8), index, size and alignment (u32 each, 0 where it has none).

use crate::encoding::Reader;

/// The threadgroups that code is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Threadgroups {
    /// All have the size that was asked for, and it is a multiple of 32 threads.
    Whole,
    /// Anything else: right for every dispatch, and slower. Threads outside of the grid end at once.
    Any,
}

/// A kernel compiled for an NVIDIA GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimtKernel {
    /// The kernel's name.
    pub name: String,
    /// The threadgroups that it was compiled for.
    pub threadgroups: Threadgroups,
    /// True if the entries may be launched before the kernels that they depend on have ended: they wait for them
    /// (`griddepcontrol.wait`) before they access global memory.
    pub waits: bool,
    /// The indices of buffers that the entries read before they wait: if a kernel that they would wait for writes one of
    /// them, they must be launched after its end.
    pub early: Vec<u32>,
    /// The module with both entries.
    pub ptx: String,
    /// The entry that takes every buffer as an address.
    pub entry: String,
    /// The entry for dispatches that set all `constant` references by their bytes: it takes these as values. `None` if
    /// the kernel has no such argument, or they take more than [`BYTES_LIMIT`].
    pub bytes_entry: Option<String>,
    /// Parameters of `entry`.
    pub parameters: Vec<SimtParameter>,
    /// Parameters of `bytes_entry`, in the same order.
    pub bytes_parameters: Vec<SimtParameter>,
    /// Bytes of threadgroup memory for the kernel's own variables. The module declares them; dynamic memory comes on
    /// top.
    pub static_threadgroup_memory: u32,
    /// The most threads of a threadgroup, if the kernel states it (`max_total_threads_per_threadgroup`).
    pub max_threads: Option<u32>,
    /// The number of threads in a threadgroup must be a multiple of it.
    pub thread_multiple: u32,
    /// The messages of the failures that a thread can report, from number 1, in the word of
    /// [`SimtParameter::Failure`].
    pub failures: Vec<String>,
}

/// The most bytes that all arguments of a bytes entry take together: the parameters of a CUDA kernel are limited.
pub const BYTES_LIMIT: u32 = 3072;

/// A parameter of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SimtParameter {
    /// The device address of the buffer or function table at an index: u64.
    Buffer {
        /// The index that it is bound at.
        index: u32,
    },
    /// The contents of a buffer argument, by value.
    Bytes {
        /// The index that it is bound at.
        index: u32,
        /// Bytes.
        size: u32,
        /// Alignment in the parameters.
        align: u32,
    },
    /// The offset of a threadgroup argument in dynamic shared memory: u32.
    Threadgroup {
        /// The index that it is bound at.
        index: u32,
    },
    /// Threads per grid, in three dimensions: `[u32; 3]`. Code for whole threadgroups finds them itself.
    Grid,
    /// The device address of a u32 for the number of a failure. It begins as 0; any thread that fails writes it.
    Failure,
}

impl Threadgroups {
    /// Both.
    pub const ALL: [Threadgroups; 2] = [Threadgroups::Whole, Threadgroups::Any];

    /// `whole` or `any`.
    pub const fn name(self) -> &'static str {
        match self {
            Threadgroups::Whole => "whole",
            Threadgroups::Any => "any",
        }
    }
}

impl SimtParameter {
    fn to_bytes(self) -> [u8; 13] {
        let (number, values) = match self {
            SimtParameter::Buffer { index } => (0, [index, 0, 0]),
            SimtParameter::Bytes { index, size, align } => (1, [index, size, align]),
            SimtParameter::Threadgroup { index } => (2, [index, 0, 0]),
            SimtParameter::Grid => (3, [0; 3]),
            SimtParameter::Failure => (4, [0; 3]),
        };
        let mut bytes = [number; 13];
        for (place, value) in bytes[1..].chunks_exact_mut(4).zip(values) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    fn from_reader(reader: &mut Reader) -> Option<SimtParameter> {
        let [number] = reader.array()?;
        let parameter = match (number, [reader.u32()?, reader.u32()?, reader.u32()?]) {
            (0, [index, 0, 0]) => SimtParameter::Buffer { index },
            (1, [index, size, align]) => SimtParameter::Bytes { index, size, align },
            (2, [index, 0, 0]) => SimtParameter::Threadgroup { index },
            (3, [0, 0, 0]) => SimtParameter::Grid,
            (4, [0, 0, 0]) => SimtParameter::Failure,
            _ => return None,
        };
        Some(parameter)
    }
}

impl SimtKernel {
    /// The bytes that [`SimtKernel::from_bytes`] reads. `None` if a part is larger than 4 GiB.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let count = |len: usize| Some(u32::try_from(len).ok()?.to_le_bytes());
        let mut bytes = vec![self.threadgroups as u8, u8::from(self.waits)];
        bytes.extend(self.static_threadgroup_memory.to_le_bytes());
        bytes.extend(self.max_threads.unwrap_or(0).to_le_bytes());
        bytes.extend(self.thread_multiple.to_le_bytes());
        for text in [&self.name, &self.ptx, &self.entry, self.bytes_entry.as_deref().unwrap_or_default()] {
            bytes.extend(count(text.len())?);
            bytes.extend(text.as_bytes());
        }
        for parameters in [&self.parameters, &self.bytes_parameters] {
            bytes.extend(count(parameters.len())?);
            bytes.extend(parameters.iter().flat_map(|parameter| parameter.to_bytes()));
        }
        bytes.extend(count(self.failures.len())?);
        for message in &self.failures {
            bytes.extend(count(message.len())?);
            bytes.extend(message.as_bytes());
        }
        bytes.extend(count(self.early.len())?);
        bytes.extend(self.early.iter().flat_map(|index| index.to_le_bytes()));
        Some(bytes)
    }

    /// Reads the bytes of [`SimtKernel::to_bytes`]; `None` for others.
    pub fn from_bytes(bytes: &[u8]) -> Option<SimtKernel> {
        let mut reader = Reader(bytes);
        let [threadgroups, waits] = reader.array()?;
        let parameters = |reader: &mut Reader| -> Option<Vec<SimtParameter>> {
            (0..reader.u32()?).map(|_| SimtParameter::from_reader(reader)).collect()
        };
        let kernel = SimtKernel {
            threadgroups: Threadgroups::ALL.into_iter().find(|known| *known as u8 == threadgroups)?,
            waits: waits != 0,
            static_threadgroup_memory: reader.u32()?,
            max_threads: Some(reader.u32()?).filter(|&count| count != 0),
            thread_multiple: Some(reader.u32()?).filter(|&count| count != 0)?,
            name: reader.text()?,
            ptx: reader.text()?,
            entry: reader.text()?,
            bytes_entry: Some(reader.text()?).filter(|entry| !entry.is_empty()),
            parameters: parameters(&mut reader)?,
            bytes_parameters: parameters(&mut reader)?,
            failures: (0..reader.u32()?).map(|_| reader.text()).collect::<Option<_>>()?,
            early: (0..reader.u32()?).map(|_| reader.u32()).collect::<Option<_>>()?,
        };
        reader.0.is_empty().then_some(kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(threadgroups: Threadgroups) -> SimtKernel {
        let is_whole = threadgroups == Threadgroups::Whole;
        SimtKernel {
            name: "kernel".into(),
            threadgroups,
            waits: is_whole,
            early: if is_whole { vec![0, 3] } else { Vec::new() },
            ptx: ".version 8.3".into(),
            entry: "f".into(),
            bytes_entry: is_whole.then(|| "g".into()),
            parameters: vec![SimtParameter::Buffer { index: 7 }, SimtParameter::Grid, SimtParameter::Failure],
            bytes_parameters: vec![
                SimtParameter::Bytes { index: 1, size: 20, align: 8 },
                SimtParameter::Threadgroup { index: 2 },
            ],
            static_threadgroup_memory: 16,
            max_threads: is_whole.then_some(256),
            thread_multiple: if is_whole { 128 } else { 1 },
            failures: vec!["stack".into(), String::new()],
        }
    }

    #[test]
    fn bytes_are_read_as_they_were_written() {
        for threadgroups in Threadgroups::ALL {
            let bytes = kernel(threadgroups).to_bytes().expect("it is small");
            assert_eq!(SimtKernel::from_bytes(&bytes), Some(kernel(threadgroups)));
        }
    }

    #[test]
    fn other_lengths_and_numbers_are_refused() {
        let bytes = kernel(Threadgroups::Whole).to_bytes().expect("it is small");
        for len in 0..bytes.len() {
            assert_eq!(SimtKernel::from_bytes(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(SimtKernel::from_bytes(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(SimtKernel::from_bytes(&[&[9], &bytes[1..]].concat()), None);
    }
}
