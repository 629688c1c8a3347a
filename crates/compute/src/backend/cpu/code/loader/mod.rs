//! Loads a kernel's object file: lays out its sections in memory, resolves relocations, and makes the pages executable.
//!
//! ```text
//! page-aligned: section, section, … ── a stub for each called function of the C library
//! ```
//!
//! The code generator emits an object without undefined symbols, except `memcpy` and its relatives, which LLVM calls on
//! its own. They may be out of reach of a direct call, hence the stubs.
//!
//! **Invariant:** no page is writable and executable at the same time. Writable sections are refused.

use super::relocate::{ElfMachine, relocate};
use crate::error::{Error, Result};
use abi::{Entry, WaveKernel};
use memmap2::{Mmap, MmapMut};
use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::read::elf::ElfFile64;
use object::{
    Architecture, LittleEndian, Object, ObjectKind, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget,
    SectionFlags, SectionIndex, SymbolIndex, SymbolSection,
};
use std::ops::Range;

type ElfFile<'a> = ElfFile64<'a, LittleEndian>;

/// A kernel's machine code, ready to be called.
pub(crate) struct Image {
    mapping: Mmap,
    /// Offset of the kernel's function in the mapping.
    entry: usize,
}

impl Image {
    pub(crate) fn load(kernel: &WaveKernel) -> Result<Image> {
        let refused =
            |problem: String| Error::Library(format!("machine code of kernel '{}': {problem}", kernel.name));
        let file = ElfFile::parse(&*kernel.object).map_err(|error| refused(format!("no ELF object ({error})")))?;
        let plan = ImageLayout::new(&file).map_err(refused)?;
        if machine(&file).map_err(refused)? != ElfMachine::host() {
            return Err(refused("it is for another kind of CPU".into()));
        }
        let out_of_memory = |_| Error::OutOfMemory { what: "machine code".into(), bytes: plan.size as u64 };
        let mut mapping = MmapMut::map_anon(plan.size).map_err(out_of_memory)?;
        let base = mapping.as_ptr().addr() as u64;
        let entry = link(&file, &plan, &kernel.symbol, &mut mapping, base).map_err(refused)?;
        clear_instruction_cache(&mapping);
        let mapping =
            mapping.make_exec().map_err(|error| refused(format!("cannot be made executable ({error})")))?;
        Ok(Image { mapping, entry })
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.mapping.len()
    }

    /// Its addresses.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let addresses = self.mapping.as_ptr_range();
        addresses.start.addr()..addresses.end.addr()
    }

    /// The kernel's function. Do not call it after the image is dropped.
    pub(crate) fn entry(&self) -> Entry {
        // SAFETY: `link` found the function there, and the code generator promises its type.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.mapping.as_ptr().add(self.entry)) }
    }
}

fn machine(file: &ElfFile) -> std::result::Result<ElfMachine, String> {
    match file.architecture() {
        Architecture::X86_64 => Ok(ElfMachine::X86_64),
        Architecture::Aarch64 => Ok(ElfMachine::Aarch64),
        other => Err(format!("it is for another kind of CPU ({other:?})")),
    }
}

/// Layout of the sections in memory.
struct ImageLayout {
    /// Sections and their offsets.
    sections: Vec<(SectionIndex, usize)>,
    /// Functions of the C library and the offsets of their stubs.
    stubs: Vec<(SymbolIndex, u64, usize)>,
    size: usize,
}

/// Limit for the size of an image: larger code is a bug, and within it every relative address fits.
const MAX_SIZE: usize = 64 << 20;

impl ImageLayout {
    fn new(file: &ElfFile) -> std::result::Result<ImageLayout, String> {
        if file.kind() != ObjectKind::Relocatable {
            return Err("it is not a relocatable object".into());
        }
        let mut plan = ImageLayout { sections: Vec::new(), stubs: Vec::new(), size: 0 };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let name = section.name().unwrap_or_default();
            // Unwind tables: no panic unwinds through a kernel.
            let is_loaded = sh_flags.contains(SHF_ALLOC) && section.size() > 0 && name != ".eh_frame";
            if !is_loaded {
                continue;
            }
            // Constants with addresses are written only while relocating.
            if sh_flags.contains(SHF_WRITE) && !name.starts_with(".data.rel.ro") {
                return Err(format!("section '{name}' is writable"));
            }
            let offset = plan.reserve(section.size(), section.align())?;
            plan.sections.push((section.index(), offset));
        }
        for symbol in file.symbols().filter(|symbol| symbol.is_undefined()) {
            let name = symbol.name().map_err(|error| error.to_string())?;
            if !name.is_empty() {
                let address = library_function(name).ok_or_else(|| format!("'{name}' is undefined"))?;
                let offset = plan.reserve(STUB_SIZE as u64, STUB_SIZE as u64)?;
                plan.stubs.push((symbol.index(), address, offset));
            }
        }
        match plan.size {
            0 => Err("the object has no code".into()),
            _ => Ok(plan),
        }
    }

    fn reserve(&mut self, size: u64, align: u64) -> std::result::Result<usize, String> {
        let align = usize::try_from(align.max(1)).ok().filter(|align| align.is_power_of_two() && *align <= 4096);
        let align = align.ok_or("a section has an invalid alignment")?;
        let offset = self.size.next_multiple_of(align);
        let end = usize::try_from(size).ok().and_then(|size| offset.checked_add(size));
        self.size = end.filter(|&end| end <= MAX_SIZE).ok_or("it is too large")?;
        Ok(offset)
    }

    fn section(&self, index: SectionIndex) -> Option<usize> {
        self.sections.iter().find(|(section, _)| *section == index).map(|(_, offset)| *offset)
    }

    /// The offset of a symbol.
    fn symbol(&self, file: &ElfFile, index: SymbolIndex) -> std::result::Result<u64, String> {
        if let Some((.., offset)) = self.stubs.iter().find(|(symbol, ..)| *symbol == index) {
            return Ok(*offset as u64);
        }
        let symbol = file.symbol_by_index(index).map_err(|error| error.to_string())?;
        let offset = match symbol.section() {
            SymbolSection::Section(section) => self.section(section),
            _ => None,
        };
        let name = symbol.name().unwrap_or_default();
        let offset = offset.ok_or_else(|| format!("'{name}' is not in a section that is loaded"))?;
        Ok((offset as u64).wrapping_add(symbol.address()))
    }
}

/// Fills `image`, which will be mapped at `base`, and returns the offset of the function `entry`.
fn link(
    file: &ElfFile,
    plan: &ImageLayout,
    entry: &str,
    image: &mut [u8],
    base: u64,
) -> std::result::Result<usize, String> {
    let machine = machine(file)?;
    for &(_, address, offset) in &plan.stubs {
        image[offset..offset + STUB_SIZE].copy_from_slice(&stub(machine, address));
    }
    for &(index, offset) in &plan.sections {
        let section = file.section_by_index(index).map_err(|error| error.to_string())?;
        let data = section.data().map_err(|error| error.to_string())?;
        // A section without data (`.bss`) stays zero.
        image
            .get_mut(offset..offset + data.len())
            .ok_or("a section is larger than its header says")?
            .copy_from_slice(data);
        for (place, relocation) in section.relocations() {
            let target = match relocation.target() {
                RelocationTarget::Symbol(symbol) => plan.symbol(file, symbol)?,
                other => return Err(format!("a relocation to {other:?}")),
            };
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let place = usize::try_from(place).ok().and_then(|place| place.checked_add(offset));
            let place = place.ok_or("a relocation is outside its section")?;
            let value = base.wrapping_add(target).wrapping_add(relocation.addend() as u64);
            relocate(machine, r_type, image, place, base, value)?;
        }
    }
    let symbol = file.symbols().find(|symbol| symbol.is_definition() && symbol.name() == Ok(entry));
    let symbol = symbol.ok_or_else(|| format!("there is no function '{entry}'"))?;
    let offset = usize::try_from(plan.symbol(file, symbol.index())?).ok().filter(|&offset| offset < image.len());
    offset.ok_or_else(|| format!("the function '{entry}' is outside its section"))
}

/// The address of a C library function that LLVM calls on its own.
fn library_function(name: &str) -> Option<u64> {
    let function: *const () = match name {
        "memcpy" => libc::memcpy as *const (),
        "memmove" => libc::memmove as *const (),
        "memset" => libc::memset as *const (),
        _ => return None,
    };
    Some(function.addr() as u64)
}

const STUB_SIZE: usize = 16;

/// A jump to any address.
fn stub(machine: ElfMachine, address: u64) -> [u8; STUB_SIZE] {
    let mut stub = [0; STUB_SIZE];
    match machine {
        // jmp *0(%rip)
        ElfMachine::X86_64 => {
            stub[..6].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
            stub[6..14].copy_from_slice(&address.to_le_bytes());
        }
        // ldr x16, 8; br x16
        ElfMachine::Aarch64 => {
            stub[..4].copy_from_slice(&0x5800_0050_u32.to_le_bytes());
            stub[4..8].copy_from_slice(&0xd61f_0200_u32.to_le_bytes());
            stub[8..].copy_from_slice(&address.to_le_bytes());
        }
    }
    stub
}

/// Synchronizes the instruction cache with code written as data.
fn clear_instruction_cache(code: &[u8]) {
    // x86-64 caches are coherent.
    #[cfg(target_arch = "aarch64")]
    {
        // Clean the data cache, then invalidate the instruction cache. A line has at least 16 bytes; repeating one does
        // no harm.
        let range = code.as_ptr_range();
        for address in (range.start.addr()..range.end.addr()).step_by(16) {
            // SAFETY: the address is in a mapping of ours, and cache maintenance changes no data.
            unsafe { std::arch::asm!("dc cvau, {0}", in(reg) address, options(nostack, preserves_flags)) };
        }
        // SAFETY: as above.
        unsafe { std::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
        for address in (range.start.addr()..range.end.addr()).step_by(16) {
            // SAFETY: as above.
            unsafe { std::arch::asm!("ic ivau, {0}", in(reg) address, options(nostack, preserves_flags)) };
        }
        // SAFETY: as above.
        unsafe { std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
    }
    #[cfg(not(target_arch = "aarch64"))]
    let _ = code;
}

#[cfg(all(test, llvm))]
mod tests;
