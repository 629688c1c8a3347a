//! A compiled kernel as bytes, for archives.
//!
//! ```text
//! lanes u8 ── has_barrier u8 ── flush_denormals u8 ── static_threadgroup_memory u32 ── private_memory u64
//!          ── name ── symbol ── object
//! ```
//!
//! Numbers are little-endian; texts and bytes have their length (u32) before them.

use crate::kernel::{Lanes, WaveKernel};

impl Lanes {
    /// Both.
    pub const ALL: [Lanes; 2] = [Lanes::Row, Lanes::Any];

    /// `row` or `any`.
    pub const fn name(self) -> &'static str {
        match self {
            Lanes::Row => "row",
            Lanes::Any => "any",
        }
    }
}

impl WaveKernel {
    /// The bytes that [`WaveKernel::from_bytes`] reads. `None` where something in it is larger than 4 GiB.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![self.lanes as u8, u8::from(self.has_barrier), u8::from(self.flush_denormals)];
        bytes.extend(self.static_threadgroup_memory.to_le_bytes());
        bytes.extend(self.private_memory.to_le_bytes());
        for part in [self.name.as_bytes(), self.symbol.as_bytes(), &self.object] {
            bytes.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
            bytes.extend(part);
        }
        Some(bytes)
    }

    /// Reads what [`WaveKernel::to_bytes`] wrote; `None` where it did not write this.
    pub fn from_bytes(bytes: &[u8]) -> Option<WaveKernel> {
        let mut reader = Reader(bytes);
        let [lanes, has_barrier, flush_denormals] = reader.array()?;
        let kernel = WaveKernel {
            lanes: Lanes::ALL.into_iter().find(|known| *known as u8 == lanes)?,
            has_barrier: has_barrier != 0,
            flush_denormals: flush_denormals != 0,
            static_threadgroup_memory: u32::from_le_bytes(reader.array()?),
            private_memory: u64::from_le_bytes(reader.array()?),
            name: reader.text()?,
            symbol: reader.text()?,
            object: reader.part()?.to_vec(),
        };
        reader.0.is_empty().then_some(kernel)
    }
}

/// The bytes that are left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        self.take(LEN)?.try_into().ok()
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let len = u32::from_le_bytes(self.array()?);
        self.take(len as usize)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.part()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(lanes: Lanes) -> WaveKernel {
        WaveKernel {
            name: "kernel".into(),
            symbol: "f".into(),
            object: vec![7; 5],
            lanes,
            has_barrier: lanes == Lanes::Row,
            static_threadgroup_memory: 16,
            private_memory: 1 << 33,
            flush_denormals: lanes == Lanes::Any,
        }
    }

    #[test]
    fn bytes_are_read_as_they_were_written() {
        for lanes in Lanes::ALL {
            let bytes = kernel(lanes).to_bytes().expect("it is small");
            assert_eq!(WaveKernel::from_bytes(&bytes), Some(kernel(lanes)));
        }
    }

    #[test]
    fn other_lengths_and_lanes_are_refused() {
        let bytes = kernel(Lanes::Row).to_bytes().expect("it is small");
        for len in 0..bytes.len() {
            assert_eq!(WaveKernel::from_bytes(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(WaveKernel::from_bytes(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(WaveKernel::from_bytes(&[&[9], &bytes[1..]].concat()), None);
    }
}
