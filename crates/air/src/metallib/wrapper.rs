//! LLVM's wrapper around bitcode: five numbers of 32 bits, then bitcode, then zeros up to a multiple of 16.
//!
//! They are the magic number, version 0, the offset of the bitcode (20), its size, and a CPU type, all ones for AIR.
//! LLVM writes the same itself for triples of Apple's systems, AIR's included.

const MAGIC: u32 = 0x0B17_C0DE;
const SIZE: usize = 20;
const CPU_TYPE: u32 = 0xFFFF_FFFF;
const ALIGNMENT: usize = 16;

/// `bitcode` in a wrapper; as it is where it already has one.
pub fn wrap(bitcode: &[u8]) -> Vec<u8> {
    if bitcode.starts_with(&MAGIC.to_le_bytes()) {
        return bitcode.to_vec();
    }
    let size = (SIZE + bitcode.len()).next_multiple_of(ALIGNMENT);
    let mut out = Vec::with_capacity(size);
    for number in [MAGIC, 0, SIZE as u32, bitcode.len() as u32, CPU_TYPE] {
        out.extend(number.to_le_bytes());
    }
    out.extend(bitcode);
    out.resize(size, 0);
    out
}

/// The bitcode in a wrapper; `None` where there is no wrapper, or none that fits.
pub fn unwrap(wrapped: &[u8]) -> Option<&[u8]> {
    let number = |index: usize| Some(u32::from_le_bytes(wrapped.get(index * 4..index * 4 + 4)?.try_into().ok()?));
    if number(0)? != MAGIC {
        return None;
    }
    let offset = number(2)? as usize;
    wrapped.get(offset..offset.checked_add(number(3)? as usize)?)
}
