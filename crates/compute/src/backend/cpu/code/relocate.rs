//! Relocations of ELF objects, as LLVM emits them for the small code model.

use object::elf::{self, RelocationType};

/// An architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ElfMachine {
    X86_64,
    Aarch64,
}

impl ElfMachine {
    /// The machine of this program.
    pub(crate) const fn host() -> ElfMachine {
        if cfg!(target_arch = "aarch64") { ElfMachine::Aarch64 } else { ElfMachine::X86_64 }
    }
}

/// Applies one relocation: `value` is the symbol's address plus the addend, `place` an offset into `image`, which will
/// be mapped at `base`.
pub(crate) fn relocate(
    machine: ElfMachine,
    kind: RelocationType,
    image: &mut [u8],
    place: usize,
    base: u64,
    value: u64,
) -> Result<(), String> {
    let mut patch = RelocationSite { image, place, base, value };
    match machine {
        ElfMachine::X86_64 => x86_64(kind, &mut patch),
        ElfMachine::Aarch64 => aarch64(kind, &mut patch),
    }
}

fn x86_64(kind: RelocationType, patch: &mut RelocationSite) -> Result<(), String> {
    match kind {
        elf::R_X86_64_NONE => Ok(()),
        elf::R_X86_64_64 => patch.write(&patch.value.to_le_bytes()),
        elf::R_X86_64_PC64 => patch.write(&patch.relative().to_le_bytes()),
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => patch.write(&signed_32(patch.relative())?.to_le_bytes()),
        elf::R_X86_64_32S => patch.write(&signed_32(patch.value as i64)?.to_le_bytes()),
        elf::R_X86_64_32 => {
            let value = u32::try_from(patch.value).map_err(|_| OUT_OF_RANGE)?;
            patch.write(&value.to_le_bytes())
        }
        other => Err(format!("relocation {} of x86-64 is not known", other.0)),
    }
}

fn aarch64(kind: RelocationType, patch: &mut RelocationSite) -> Result<(), String> {
    match kind {
        elf::R_AARCH64_NONE => Ok(()),
        elf::R_AARCH64_ABS64 => patch.write(&patch.value.to_le_bytes()),
        elf::R_AARCH64_PREL64 => patch.write(&patch.relative().to_le_bytes()),
        elf::R_AARCH64_PREL32 => patch.write(&signed_32(patch.relative())?.to_le_bytes()),
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
            let words = scaled(patch.relative(), 26, 4)?;
            patch.instruction(0x03ff_ffff, words)
        }
        elf::R_AARCH64_ADR_PREL_PG_HI21 => {
            let pages = (patch.value & !0xfff).wrapping_sub(patch.address() & !0xfff) as i64;
            let pages = scaled(pages, 21, 4096)?;
            patch.instruction(0x60ff_ffe0, (pages & 3) << 29 | (pages >> 2) << 5)
        }
        elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => patch.low_12(0),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => patch.low_12(1),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => patch.low_12(2),
        elf::R_AARCH64_LDST64_ABS_LO12_NC => patch.low_12(3),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => patch.low_12(4),
        other => Err(format!("relocation {} of AArch64 is not known", other.0)),
    }
}

/// A location to patch.
struct RelocationSite<'a> {
    image: &'a mut [u8],
    place: usize,
    base: u64,
    value: u64,
}

impl RelocationSite<'_> {
    fn address(&self) -> u64 {
        self.base.wrapping_add(self.place as u64)
    }

    /// Distance from the location to the value.
    fn relative(&self) -> i64 {
        self.value.wrapping_sub(self.address()) as i64
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let place = self.place..self.place.saturating_add(bytes.len());
        self.image.get_mut(place).ok_or("a relocation is outside its section")?.copy_from_slice(bytes);
        Ok(())
    }

    /// Replaces the bits of an instruction that `mask` selects.
    fn instruction(&mut self, mask: u32, bits: u32) -> Result<(), String> {
        let place = self.place..self.place.saturating_add(4);
        let bytes = self.image.get(place).ok_or("a relocation is outside its section")?;
        let old = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.write(&(old & !mask | bits & mask).to_le_bytes())
    }

    /// The low twelve bits of the value, in units of `1 << scale`, as an immediate operand.
    fn low_12(&mut self, scale: u32) -> Result<(), String> {
        let low = (self.value & 0xfff) as u32;
        if !low.is_multiple_of(1 << scale) {
            return Err("a relocation to a misaligned address".into());
        }
        self.instruction(0xfff << 10, low >> scale << 10)
    }
}

const OUT_OF_RANGE: &str = "a relocation does not reach its target; compile position-independent code";

fn signed_32(value: i64) -> Result<i32, String> {
    i32::try_from(value).map_err(|_| OUT_OF_RANGE.into())
}

/// Divides `value` by `unit`, if the quotient is exact and fits in `bits` signed bits.
fn scaled(value: i64, bits: u32, unit: i64) -> Result<u32, String> {
    let scaled = value / unit;
    let limit = 1 << (bits - 1);
    if value % unit != 0 || scaled < -limit || scaled >= limit {
        return Err(OUT_OF_RANGE.into());
    }
    Ok(scaled as u32)
}
