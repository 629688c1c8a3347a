//! Writing: every section by itself, then the header that says where they are.

use super::{Constant, Function, Library, Tag, WriteError};
use sha2::{Digest, Sha256};

/// The size of the header, and where the function list begins.
pub(super) const HEADER_SIZE: usize = 0x58;

/// The alignment in the file of FlatBuffers in the reflection list.
pub(super) const REFLECTION_ALIGNMENT: usize = 16;

/// Offsets that one function's entry needs.
struct Offsets {
    public: usize,
    private: usize,
    bitcode: usize,
    reflection: Option<usize>,
}

impl Library<'_> {
    /// The file.
    ///
    /// Without a [`Library::uuid`] one is made from the functions' hashes, so that equal libraries are equal files.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        let count = u32::try_from(self.functions.len()).map_err(|_| WriteError::TooMany)?;
        let with_reflection = self.functions.iter().filter(|function| function.reflection.is_some()).count();
        if with_reflection != 0 && with_reflection != self.functions.len() {
            return Err(WriteError::PartialReflection);
        }
        let has_reflection = with_reflection != 0;

        let (mut public, mut private, mut bitcode) = (Vec::new(), Vec::new(), 0);
        let mut offsets = Vec::with_capacity(self.functions.len());
        for function in &self.functions {
            let reflection = has_reflection.then_some(0);
            offsets.push(Offsets { public: public.len(), private: private.len(), bitcode, reflection });
            public_metadata(function, &mut public)?;
            group(function, &mut private, |out| other_tags(function, &function.private_tags, out))?;
            bitcode += function.bitcode.len();
        }

        // The length of the function list does not depend on the offsets in it, so the offsets can be computed from it.
        let list_size = self.function_list(count, &offsets)?.len();
        let extension_size = self.extension(has_reflection, &[]).len();
        let public_start = HEADER_SIZE + list_size + extension_size;
        let private_start = public_start + public.len();
        let bitcode_start = private_start + private.len();

        let mut position = bitcode_start + bitcode;
        let mut placed = Vec::new();
        for (_, content) in &self.sections {
            placed.push((position, content.len()));
            position += content.len();
        }
        let reflection =
            if has_reflection { self.reflection_list(count, position, &mut offsets)? } else { Vec::new() };
        placed.push((position, reflection.len()));
        let size = position + reflection.len();

        let mut out = Vec::with_capacity(size);
        self.header(&mut out);
        let sections = [
            (HEADER_SIZE, list_size - 4),
            (public_start, public.len()),
            (private_start, private.len()),
            (bitcode_start, bitcode),
        ];
        out.extend((size as u64).to_le_bytes());
        for (start, length) in sections {
            out.extend((start as u64).to_le_bytes());
            out.extend((length as u64).to_le_bytes());
        }
        out.extend(self.function_list(count, &offsets)?);
        out.extend(self.extension(has_reflection, &placed));
        out.extend(public);
        out.extend(private);
        self.functions.iter().for_each(|function| out.extend(&*function.bitcode));
        self.sections.iter().for_each(|(_, content)| out.extend(&**content));
        out.extend(reflection);
        Ok(out)
    }

    fn header(&self, out: &mut Vec<u8>) {
        let header = &self.header;
        let [major, minor, patch] = header.version;
        out.extend(b"MTLB");
        out.extend((major & 0x7fff | u16::from(header.is_macos) << 15).to_le_bytes());
        out.extend(minor.to_le_bytes());
        out.extend(patch.to_le_bytes());
        out.extend([header.file_type, header.platform]);
        out.extend(header.platform_major.to_le_bytes());
        out.extend(header.platform_minor);
    }

    fn function_list(&self, count: u32, offsets: &[Offsets]) -> Result<Vec<u8>, WriteError> {
        let mut out = count.to_le_bytes().to_vec();
        for (function, offsets) in self.functions.iter().zip(offsets) {
            group(function, &mut out, |out| entry(function, offsets, out))?;
        }
        Ok(out)
    }

    /// The header extension; `placed` says where its sections are, the reflection list last.
    fn extension(&self, has_reflection: bool, placed: &[(usize, usize)]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut section = |tag: Tag, index: usize| {
            let (start, length) = placed.get(index).copied().unwrap_or_default();
            out.extend(tag);
            out.extend(16u16.to_le_bytes());
            out.extend((start as u64).to_le_bytes());
            out.extend((length as u64).to_le_bytes());
        };
        self.sections.iter().enumerate().for_each(|(index, (tag, _))| section(*tag, index));
        if has_reflection {
            section(*b"RLST", self.sections.len());
        }
        out.extend(b"UUID");
        out.extend(16u16.to_le_bytes());
        out.extend(self.uuid.unwrap_or_else(|| self.make_uuid()));
        out.extend(b"ENDT");
        out
    }

    /// A UUID of version 8, "custom", from what the library holds.
    pub(super) fn make_uuid(&self) -> [u8; 16] {
        let mut hash = Sha256::new();
        for function in &self.functions {
            hash.update((function.name().len() as u64).to_le_bytes());
            hash.update(function.name());
            hash.update(function.hash);
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&hash.finalize()[..16]);
        uuid[6] = uuid[6] & 0x0f | 0x80;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        uuid
    }

    /// The reflection list that begins at `start` in the file; notes where each function's group is.
    fn reflection_list(&self, count: u32, start: usize, offsets: &mut [Offsets]) -> Result<Vec<u8>, WriteError> {
        let mut out = count.to_le_bytes().to_vec();
        for (function, offsets) in self.functions.iter().zip(offsets) {
            offsets.reflection = Some(out.len());
            group(function, &mut out, |out| {
                let content = function.reflection.as_deref().unwrap_or_default();
                let data = start + out.len() + 8;
                let padding = data.next_multiple_of(REFLECTION_ALIGNMENT) - data;
                let length = u32::try_from(padding + content.len()).map_err(|_| WriteError::TooMany)?;
                out.extend(b"RBUF");
                out.extend(length.to_le_bytes());
                out.resize(out.len() + padding, 0);
                out.extend(content);
                Ok(())
            })?;
        }
        Ok(out)
    }
}

fn entry(function: &Function, offsets: &Offsets, out: &mut Vec<u8>) -> Result<(), WriteError> {
    tag(function, *b"NAME", &terminated(function.name())?, out)?;
    tag(function, *b"TYPE", &[function.kind.number()], out)?;
    tag(function, *b"HASH", &function.hash, out)?;
    let starts = [offsets.public, offsets.private, offsets.bitcode];
    tag(function, *b"OFFT", &starts.map(|start| (start as u64).to_le_bytes()).concat(), out)?;
    let (air, language) = (function.air_version, function.language_version);
    let versions = [air.0, air.1, language.0, language.1];
    tag(function, *b"VERS", &versions.map(u16::to_le_bytes).concat(), out)?;
    tag(function, *b"MDSZ", &(function.bitcode.len() as u64).to_le_bytes(), out)?;
    if let Some(reflection) = offsets.reflection {
        tag(function, *b"RFLT", &(reflection as u64).to_le_bytes(), out)?;
    }
    other_tags(function, &function.other_tags, out)
}

fn public_metadata(function: &Function, out: &mut Vec<u8>) -> Result<(), WriteError> {
    group(function, out, |out| {
        if !function.constants.is_empty() {
            tag(function, *b"CNST", &constants(function, &function.constants)?, out)?;
        }
        other_tags(function, &function.public_tags, out)
    })
}

fn constants(function: &Function, constants: &[Constant]) -> Result<Vec<u8>, WriteError> {
    let count = u16::try_from(constants.len()).map_err(|_| too_long(function, *b"CNST", constants.len()))?;
    let mut out = count.to_le_bytes().to_vec();
    for constant in constants {
        out.extend(terminated(&constant.name)?);
        out.push(constant.data_type);
        out.extend(constant.index.to_le_bytes());
        out.push(constant.is_active.into());
    }
    Ok(out)
}

fn other_tags(function: &Function, tags: &[super::OtherTag], out: &mut Vec<u8>) -> Result<(), WriteError> {
    tags.iter().try_for_each(|(name, value)| tag(function, *name, value, out))
}

/// A group: its size, what `content` writes, and `ENDT`.
fn group(
    function: &Function,
    out: &mut Vec<u8>,
    content: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let start = out.len();
    out.extend([0; 4]);
    content(out)?;
    out.extend(b"ENDT");
    let length = out.len() - start;
    let size = u32::try_from(length).map_err(|_| too_long(function, *b"ENDT", length))?;
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
    Ok(())
}

fn tag(function: &Function, name: Tag, value: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let length = u16::try_from(value.len()).map_err(|_| too_long(function, name, value.len()))?;
    out.extend(name);
    out.extend(length.to_le_bytes());
    out.extend(value);
    Ok(())
}

fn terminated(name: &str) -> Result<Vec<u8>, WriteError> {
    if name.contains('\0') {
        return Err(WriteError::Name(name.into()));
    }
    Ok([name.as_bytes(), &[0]].concat())
}

fn too_long(function: &Function, tag: Tag, length: usize) -> WriteError {
    WriteError::TooLong { function: function.name().into(), tag: tag.escape_ascii().to_string(), length }
}
