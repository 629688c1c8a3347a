//! Reading. Every offset, size and number in the file may be wrong: each is checked against the file before it is
//! used, and parts of different functions may not share bytes, so that a small file cannot stand for a large library.

use super::write::{HEADER_SIZE, REFLECTION_ALIGNMENT};
use super::{Constant, Function, FunctionKind, Header, Library, OtherTag, ParseError, Problem, Tag, unwrap};
use std::borrow::Cow;
use std::ops::Range;

type Result<T> = std::result::Result<T, ParseError>;

/// A part of the file.
#[derive(Clone, Copy)]
struct Part<'a> {
    bytes: &'a [u8],
    /// Offset in the file.
    start: usize,
    /// Its description, for messages.
    what: &'static str,
    /// The number of the function that it belongs to, for messages.
    function: Option<usize>,
}

/// A tag's value.
struct TagValue<'a> {
    tag: Tag,
    value: Part<'a>,
}

/// The sections that the header names.
struct Sections<'a> {
    list: Part<'a>,
    public: Part<'a>,
    private: Part<'a>,
    bitcode: Part<'a>,
    ranges: Vec<(Range<usize>, String)>,
}

/// An entry of the function list, before its offsets are followed.
struct FunctionEntry<'a> {
    part: Part<'a>,
    name: &'a str,
    kind: FunctionKind,
    hash: [u8; 32],
    offsets: [u64; 3],
    versions: [u16; 4],
    size: u64,
    reflection: Option<u64>,
    other_tags: Vec<OtherTag<'a>>,
}

/// The bytes of a section that the functions use; no two may use the same ones.
#[derive(Default)]
struct Taken {
    ranges: Vec<(Range<usize>, String)>,
}

impl<'a> Library<'a> {
    /// Reads a file. The modules stay where they are; their hashes are compared when [`Function::bitcode`] is called.
    pub fn parse(bytes: &'a [u8]) -> Result<Library<'a>> {
        let file = Part { bytes, start: 0, what: "file", function: None };
        let header = header(file)?;
        let mut sections = sections(file)?;
        let (entries, list_end) = function_list(sections.list)?;
        let extension = extension(file, list_end, &mut sections)?;
        disjoint(&mut sections.ranges)?;

        let mut library = Library::new(header);
        library.functions = functions(entries, &sections, extension.reflection)?;
        library.sections = extension.sections;
        library.by_name = by_name(bytes, &library.functions)?;
        library.uuid = extension.uuid.filter(|uuid| *uuid != library.make_uuid());
        Ok(library)
    }
}

/// The UUID that a file has, also if it is the one that [`Library::write`] would make.
pub fn stored_uuid(bytes: &[u8]) -> Result<Option<[u8; 16]>> {
    let file = Part { bytes, start: 0, what: "file", function: None };
    header(file)?;
    let mut sections = sections(file)?;
    let (_, list_end) = function_list(sections.list)?;
    Ok(extension(file, list_end, &mut sections)?.uuid)
}

fn header(file: Part) -> Result<Header> {
    let part = Part { what: "header", ..file };
    if !part.bytes.starts_with(b"MTLB") {
        return Err(part.error(Problem::Magic));
    }
    let part = part.range(0, HEADER_SIZE as u64)?;
    let major = part.u16(4)?;
    let header = Header {
        is_macos: major >> 15 == 1,
        version: [major & 0x7fff, part.u16(6)?, part.u16(8)?],
        file_type: part.bytes[10],
        platform: part.bytes[11],
        platform_major: part.u16(12)?,
        platform_minor: [part.bytes[14], part.bytes[15]],
    };
    if header.version[..2] != [1, 2] {
        return Err(part.error(Problem::Version(header.version)));
    }
    let (declared, actual) = (part.u64(0x10)?, file.bytes.len() as u64);
    if declared != actual {
        return Err(part.error(Problem::FileSize { declared, actual }));
    }
    Ok(header)
}

fn sections<'a>(file: Part<'a>) -> Result<Sections<'a>> {
    let mut ranges = vec![(0..HEADER_SIZE, "header".to_owned())];
    let mut section = |at: usize, what: &'static str, uncounted: u64| {
        let (offset, size) = (file.u64(at)?, file.u64(at + 8)?);
        let section = Part { what, ..file }.range(offset, size.saturating_add(uncounted))?;
        ranges.push((section.range_in_file(), what.to_owned()));
        Ok(section)
    };
    let list = section(0x18, "function list", 4)?;
    let public = section(0x28, "public metadata", 0)?;
    let private = section(0x38, "private metadata", 0)?;
    let bitcode = section(0x48, "bitcode", 0)?;
    Ok(Sections { list, public, private, bitcode, ranges })
}

/// The entries, and where in the file the last one ends.
fn function_list(list: Part<'_>) -> Result<(Vec<FunctionEntry<'_>>, usize)> {
    let count = list.u32(0)?;
    let mut position = 4usize;
    if u64::from(count) > list.bytes.len() as u64 / 8 {
        return Err(list.error(Problem::Count(count.into())));
    }
    let mut entries = Vec::new();
    for index in 0..count as usize {
        let part = Part { function: Some(index), ..list };
        let (group, end) = part.group(position as u64)?;
        entries.push(entry(group)?);
        position = end;
    }
    match list.bytes.len() - position {
        0 => Ok((entries, list.start + position)),
        excess => Err(list.error_at(position, Problem::Excess(excess as u64))),
    }
}

fn entry(part: Part<'_>) -> Result<FunctionEntry<'_>> {
    let (mut name, mut kind, mut hash, mut offsets, mut versions) = (None, None, None, None, None);
    let (mut size, mut reflection, mut other_tags) = (None, None, Vec::new());
    for tag in part.tags()? {
        let value = tag.value;
        match &tag.tag {
            b"NAME" => set(&mut name, &tag, terminated(value)?)?,
            b"TYPE" => set(&mut kind, &tag, FunctionKind::from_number(tag.fixed::<1>()?[0]))?,
            b"HASH" => set(&mut hash, &tag, tag.fixed::<32>()?)?,
            b"OFFT" => {
                tag.fixed::<24>()?;
                set(&mut offsets, &tag, [value.u64(0)?, value.u64(8)?, value.u64(16)?])?;
            }
            b"VERS" => {
                tag.fixed::<8>()?;
                set(&mut versions, &tag, [value.u16(0)?, value.u16(2)?, value.u16(4)?, value.u16(6)?])?;
            }
            b"MDSZ" => set(&mut size, &tag, u64::from_le_bytes(tag.fixed::<8>()?))?,
            b"RFLT" => set(&mut reflection, &tag, u64::from_le_bytes(tag.fixed::<8>()?))?,
            _ => other_tags.push((tag.tag, Cow::Borrowed(value.bytes))),
        }
    }
    let missing = |tag| part.error(Problem::MissingTag(tag));
    Ok(FunctionEntry {
        part,
        name: name.ok_or_else(|| missing("NAME"))?,
        kind: kind.ok_or_else(|| missing("TYPE"))?,
        hash: hash.ok_or_else(|| missing("HASH"))?,
        offsets: offsets.ok_or_else(|| missing("OFFT"))?,
        versions: versions.ok_or_else(|| missing("VERS"))?,
        size: size.ok_or_else(|| missing("MDSZ"))?,
        reflection,
        other_tags,
    })
}

/// The contents of the header extension.
#[derive(Default)]
struct Extension<'a> {
    uuid: Option<[u8; 16]>,
    reflection: Option<Part<'a>>,
    sections: Vec<OtherTag<'a>>,
}

/// The header extension: between the function list and what comes next, if there is something between them.
fn extension<'a>(file: Part<'a>, start: usize, sections: &mut Sections<'a>) -> Result<Extension<'a>> {
    let starts = sections.ranges.iter().map(|(range, _)| range.start).filter(|&next| next >= start);
    let end = starts.min().unwrap_or(file.bytes.len());
    let mut extension = Extension::default();
    if start == end {
        return Ok(extension);
    }
    let part = Part { what: "header extension", ..file }.range(start as u64, (end - start) as u64)?;
    sections.ranges.push((part.range_in_file(), part.what.to_owned()));
    for tag in part.tags()? {
        if &tag.tag == b"UUID" {
            set(&mut extension.uuid, &tag, tag.fixed::<16>()?)?;
            continue;
        }
        tag.fixed::<16>()?;
        let (offset, size) = (tag.value.u64(0)?, tag.value.u64(8)?);
        let is_reflection = &tag.tag == b"RLST";
        let what = if is_reflection { "reflection list" } else { "section of the header extension" };
        let section = Part { what, ..file }.range(offset, size)?;
        sections.ranges.push((section.range_in_file(), what.to_owned()));
        if is_reflection {
            set(&mut extension.reflection, &tag, section)?;
        } else if extension.sections.iter().any(|(known, _)| *known == tag.tag) {
            return Err(tag.value.error(Problem::DuplicateTag(tag.name())));
        } else {
            extension.sections.push((tag.tag, Cow::Borrowed(section.bytes)));
        }
    }
    Ok(extension)
}

fn functions<'a>(
    entries: Vec<FunctionEntry<'a>>,
    sections: &Sections<'a>,
    reflection: Option<Part<'a>>,
) -> Result<Vec<Function<'a>>> {
    let mut taken: [Taken; 4] = Default::default();
    let mut functions = Vec::with_capacity(entries.len());
    let mut reflections = Vec::new();
    for entry in entries {
        let within = |section: Part<'a>| Part { function: entry.part.function, ..section };
        let [public_start, private_start, bitcode_start] = entry.offsets;
        let public = taken[0].group(within(sections.public), public_start)?;
        let private = taken[1].group(within(sections.private), private_start)?;
        let bitcode = within(sections.bitcode).range(bitcode_start, entry.size)?;
        taken[2].take(bitcode);
        if unwrap(bitcode.bytes).is_none() {
            return Err(bitcode.error(Problem::Wrapper));
        }
        reflections.push(match (reflection, entry.reflection) {
            (Some(list), Some(offset)) => Some(taken[3].group(within(list), offset)?),
            (Some(_), None) => return Err(entry.part.error(Problem::MissingTag("RFLT"))),
            (None, Some(_)) => return Err(entry.part.error(Problem::MissingTag("RLST"))),
            (None, None) => None,
        });
        let [air_major, air_minor, major, minor] = entry.versions;
        let mut function = Function {
            name: Cow::Borrowed(entry.name),
            bitcode: Cow::Borrowed(bitcode.bytes),
            hash: entry.hash,
            kind: entry.kind,
            air_version: (air_major, air_minor),
            language_version: (major, minor),
            constants: Vec::new(),
            reflection: None,
            other_tags: entry.other_tags,
            public_tags: Vec::new(),
            private_tags: Vec::new(),
        };
        public_metadata(public, &mut function)?;
        function.private_tags = raw_tags(private)?;
        functions.push(function);
    }
    for taken in &mut taken {
        disjoint(&mut taken.ranges)?;
    }
    for (function, group) in functions.iter_mut().zip(reflections) {
        function.reflection = group.map(reflection_buffer).transpose()?;
    }
    Ok(functions)
}

fn public_metadata<'a>(part: Part<'a>, function: &mut Function<'a>) -> Result<()> {
    let mut found = None;
    for tag in part.tags()? {
        if &tag.tag == b"CNST" {
            set(&mut found, &tag, constants(tag.value)?)?;
        } else {
            function.public_tags.push((tag.tag, Cow::Borrowed(tag.value.bytes)));
        }
    }
    function.constants = found.unwrap_or_default();
    Ok(())
}

fn constants(part: Part<'_>) -> Result<Vec<Constant<'_>>> {
    let count = part.u16(0)?;
    let mut position = 2;
    let mut constants = Vec::new();
    for _ in 0..count {
        let rest = part.from(position)?;
        let length = rest.bytes.iter().position(|&byte| byte == 0).ok_or_else(|| rest.error(Problem::Name))?;
        let name = terminated(rest.range(0, length as u64 + 1)?)?;
        let rest = rest.from(length + 1)?.range(0, 4)?;
        let is_active = match rest.bytes[3] {
            0 => false,
            1 => true,
            _ => return Err(rest.error(Problem::Value("whether a function constant is used"))),
        };
        constants.push(Constant {
            name: Cow::Borrowed(name),
            data_type: rest.bytes[0],
            index: rest.u16(1)?,
            is_active,
        });
        position += length + 5;
    }
    match part.bytes.len() - position {
        0 => Ok(constants),
        excess => Err(part.error_at(position, Problem::Excess(excess as u64))),
    }
}

/// The FlatBuffer in a group of the reflection list, without the zeros before it.
fn reflection_buffer(group: Part<'_>) -> Result<Cow<'_, [u8]>> {
    if !group.bytes.starts_with(b"RBUF") {
        return Err(group.error(Problem::MissingTag("RBUF")));
    }
    let length = u64::from(group.u32(4)?);
    let value = group.range(8, length)?;
    if group.from(value.bytes.len() + 8)?.bytes != b"ENDT" {
        return Err(group.error(Problem::MissingTag("ENDT")));
    }
    let padding = value.start.next_multiple_of(REFLECTION_ALIGNMENT) - value.start;
    let is_padded = value.bytes.get(..padding).is_some_and(|zeros| zeros.iter().all(|&byte| byte == 0));
    Ok(Cow::Borrowed(if is_padded { &value.bytes[padding..] } else { value.bytes }))
}

/// The indices of the functions by name.
fn by_name(file: &[u8], functions: &[Function]) -> Result<Vec<u32>> {
    let mut indices: Vec<u32> = (0..functions.len() as u32).collect();
    indices.sort_by_key(|&index| functions[index as usize].name());
    for pair in indices.windows(2) {
        let name = functions[pair[1] as usize].name();
        if functions[pair[0] as usize].name() == name {
            let at = format!("function list, entry {}", pair[1]);
            // The name is a part of the file.
            let offset = (name.as_ptr() as u64).checked_sub(file.as_ptr() as u64);
            return Err(ParseError { problem: Problem::DuplicateName(name.into()), offset, at });
        }
    }
    Ok(indices)
}

fn raw_tags<'a>(part: Part<'a>) -> Result<Vec<OtherTag<'a>>> {
    Ok(part.tags()?.into_iter().map(|tag| (tag.tag, Cow::Borrowed(tag.value.bytes))).collect())
}

/// A name: UTF-8 and one zero at its end.
fn terminated(part: Part<'_>) -> Result<&str> {
    let Some((0, name)) = part.bytes.split_last() else { return Err(part.error(Problem::Name)) };
    match std::str::from_utf8(name) {
        Ok(name) if !name.contains('\0') => Ok(name),
        _ => Err(part.error(Problem::Name)),
    }
}

fn set<T>(slot: &mut Option<T>, tag: &TagValue, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(tag.value.error(Problem::DuplicateTag(tag.name()))),
    }
}

/// Fails if two ranges share a byte.
fn disjoint(ranges: &mut [(Range<usize>, String)]) -> Result<()> {
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    for pair in ranges.windows(2) {
        let [(before, with), (after, at)] = pair else { continue };
        if after.start < before.end {
            let problem = Problem::Overlap { with: with.clone() };
            return Err(ParseError { problem, offset: Some(after.start as u64), at: at.clone() });
        }
    }
    Ok(())
}

impl Taken {
    fn take(&mut self, part: Part) {
        self.ranges.push((part.range_in_file(), part.name()));
    }

    /// The content of the group at `offset` of a section, without the size.
    fn group<'a>(&mut self, section: Part<'a>, offset: u64) -> Result<Part<'a>> {
        let group = section.metadata_group(offset)?;
        self.take(group);
        Ok(group)
    }
}

impl TagValue<'_> {
    fn name(&self) -> String {
        self.tag.escape_ascii().to_string()
    }

    /// The value, which has this length.
    fn fixed<const LENGTH: usize>(&self) -> Result<[u8; LENGTH]> {
        let length =
            |_| Problem::Length { tag: self.name(), found: self.value.bytes.len() as u64, expected: LENGTH as u64 };
        self.value.bytes.try_into().map_err(length).map_err(|problem| self.value.error(problem))
    }
}

impl<'a> Part<'a> {
    fn name(&self) -> String {
        match self.function {
            Some(function) => format!("{}, entry {function}", self.what),
            None => self.what.into(),
        }
    }

    fn error(&self, problem: Problem) -> ParseError {
        self.error_at(0, problem)
    }

    fn error_at(&self, position: usize, problem: Problem) -> ParseError {
        let offset = (self.start as u64).saturating_add(position as u64);
        ParseError { problem, offset: Some(offset), at: self.name() }
    }

    fn range_in_file(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }

    /// `size` bytes at `offset`.
    fn range(self, offset: u64, size: u64) -> Result<Part<'a>> {
        let limit = self.bytes.len() as u64;
        let end = offset.saturating_add(size);
        // Both fit into `usize` once they are within the part.
        if offset <= limit && end <= limit {
            let start = self.start + offset as usize;
            return Ok(Part { bytes: &self.bytes[offset as usize..end as usize], start, ..self });
        }
        let start = self.start as u64;
        Err(self.error(Problem::OutOfBounds { end: end.saturating_add(start), limit: limit + start }))
    }

    /// All from `position` on.
    fn from(self, position: usize) -> Result<Part<'a>> {
        self.range(position as u64, (self.bytes.len() as u64).saturating_sub(position as u64))
    }

    fn array<const LENGTH: usize>(&self, position: usize) -> Result<[u8; LENGTH]> {
        let rest = self.bytes.get(position..).unwrap_or_default();
        let truncated = Problem::Truncated { needed: LENGTH as u64, left: rest.len() as u64 };
        rest.first_chunk().copied().ok_or_else(|| self.error_at(position, truncated))
    }

    fn u16(&self, position: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(position)?))
    }

    fn u32(&self, position: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(position)?))
    }

    fn u64(&self, position: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(position)?))
    }

    /// The content of the group at `offset`, without the size, and where it ends.
    fn group(self, offset: u64) -> Result<(Part<'a>, usize)> {
        let size = u64::from(self.range(offset, 4)?.u32(0)?);
        let group = self.range(offset, size)?;
        Ok((group.from(4)?, offset as usize + group.bytes.len()))
    }

    /// The same in a section of metadata. There, one of Apple's linkers does not count the size itself: `ENDT` tells.
    fn metadata_group(self, offset: u64) -> Result<Part<'a>> {
        let size = u64::from(self.range(offset, 4)?.u32(0)?);
        let ends = |size: u64| {
            let group = self.range(offset, size).ok()?;
            group.bytes.get(4..)?.ends_with(b"ENDT").then_some(group)
        };
        match (ends(size), ends(size.saturating_add(4))) {
            (None, Some(group)) => group.from(4),
            _ => Ok(self.group(offset)?.0),
        }
    }

    /// The tags up to `ENDT`, which ends the part.
    fn tags(self) -> Result<Vec<TagValue<'a>>> {
        let mut tags = Vec::new();
        let mut position = 0;
        loop {
            let tag: Tag = self.array(position)?;
            if &tag == b"ENDT" {
                break;
            }
            let length = self.u16(position + 4)?;
            let value = self.range(position as u64 + 6, length.into())?;
            tags.push(TagValue { tag, value });
            position += 6 + usize::from(length);
        }
        match self.bytes.len() - position - 4 {
            0 => Ok(tags),
            excess => Err(self.error_at(position + 4, Problem::Excess(excess as u64))),
        }
    }
}
