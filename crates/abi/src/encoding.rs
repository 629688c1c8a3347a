//! A compiled kernel as bytes, for archives.
//!
//! ```text
//! lanes u8 ── has_barrier u8 ── flush_denormals u8 ── static_threadgroup_memory u32 ── private_memory u64
//!          ── name ── symbol ── object ── count of failures u32 ── their messages ── count of sites u32 ── sites
//! ```
//!
//! Numbers are little-endian; texts and bytes have their length (u32) before them.

use crate::kernel::{Lanes, WaveKernel};
use crate::site::Site;

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
    /// The bytes that [`WaveKernel::from_bytes`] reads. `None` if a part is larger than 4 GiB.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![self.lanes as u8, u8::from(self.has_barrier), u8::from(self.flush_denormals)];
        bytes.extend(self.static_threadgroup_memory.to_le_bytes());
        bytes.extend(self.private_memory.to_le_bytes());
        for part in [self.name.as_bytes(), self.symbol.as_bytes(), &self.object] {
            bytes.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
            bytes.extend(part);
        }
        bytes.extend(u32::try_from(self.failures.len()).ok()?.to_le_bytes());
        for message in &self.failures {
            bytes.extend(u32::try_from(message.len()).ok()?.to_le_bytes());
            bytes.extend(message.as_bytes());
        }
        bytes.extend(u32::try_from(self.sites.len()).ok()?.to_le_bytes());
        for site in &self.sites {
            site.write(&mut bytes)?;
        }
        Some(bytes)
    }

    /// Reads the bytes of [`WaveKernel::to_bytes`]; `None` for others.
    pub fn from_bytes(bytes: &[u8]) -> Option<WaveKernel> {
        let mut reader = Reader(bytes);
        let [lanes, has_barrier, flush_denormals] = reader.array()?;
        let kernel = WaveKernel {
            lanes: Lanes::ALL.into_iter().find(|known| *known as u8 == lanes)?,
            has_barrier: has_barrier != 0,
            flush_denormals: flush_denormals != 0,
            static_threadgroup_memory: reader.u32()?,
            private_memory: reader.u64()?,
            name: reader.text()?,
            symbol: reader.text()?,
            object: reader.bytes()?.to_vec(),
            failures: (0..reader.u32()?).map(|_| reader.text()).collect::<Option<_>>()?,
            sites: (0..reader.u32()?).map(|_| Site::read(&mut reader)).collect::<Option<_>>()?,
        };
        reader.0.is_empty().then_some(kernel)
    }
}

/// Bytes that are left to read; every method returns `None` if there are too few.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next bytes, as many as the array has.
    pub fn array<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        self.take(LEN)?.try_into().ok()
    }

    /// A number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes with their length (u32) before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    /// Text with its length (u32) before it.
    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
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
            failures: vec!["stack".into(), String::new()],
            sites: crate::site::tests::sites(),
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
