//! Split models: `model-00001-of-00003.gguf` has the metadata, and each part its own tensors.

use std::path::{Path, PathBuf};

use super::header::{self, Header};
use super::{Gguf, Metadata};
use crate::weights::{FileError, FileErrorKind, WeightFile};

const COUNT: &str = "split.count";
const NUMBER: &str = "split.no";
const TENSORS: &str = "split.tensors.count";

/// Opens the model that an open file belongs to: the file alone, or all parts of a split model.
pub(super) fn open(path: &Path, file: WeightFile, header: Header, convert: bool) -> Result<Gguf, FileError> {
    let of_path = |error: FileError| error.of(Some(path));
    let count = count(&header.metadata).map_err(of_path)?;
    if count <= 1 {
        return Gguf::new(header.version, header.metadata, vec![file], header.tensors, convert);
    }
    let wrong = |message: String| Err(FileError::new(FileErrorKind::WrongPart, message).of(Some(path)));
    let Some(name) = PartName::of(path) else {
        return wrong(format!(
            "is one of {count} parts, but its name does not say which: it must end in -00001-of-{count:05}.gguf, with \
             the other parts in the same folder"
        ));
    };
    if name.count != count {
        return wrong(format!(
            "is one of {count} parts, but its name says one of {}: restore its original name",
            name.count
        ));
    }
    drop((file, header));

    let (mut files, mut tensors) = (Vec::new(), Vec::new());
    let mut first = None;
    for number in 0..count {
        let (file, mut part) = open_part(&name, number)?;
        tensors.append(&mut part.tensors);
        files.push(file);
        first.get_or_insert(part);
    }
    let Some(Header { version, metadata, .. }) = first else { return wrong("has no parts".into()) };
    let expected = metadata.get_optional::<u64>(TENSORS).map_err(of_path)?;
    if let Some(expected) = expected.filter(|&expected| expected != tensors.len() as u64) {
        return wrong(format!(
            "key '{TENSORS}': expected {expected} tensors in all parts, found {}: download all parts of one model",
            tensors.len()
        ));
    }
    Gguf::new(version, metadata, files, tensors, convert)
}

/// Opens one part and checks its number and the number of parts.
fn open_part(name: &PartName, number: u64) -> Result<(WeightFile, Header), FileError> {
    let path = name.part(number);
    let wrong = |message: String| FileError::new(FileErrorKind::WrongPart, message).of(Some(&path));
    let one_based = number + 1;
    if !path.exists() {
        return Err(wrong(format!("part {one_based} of {} is missing: download it too", name.count)));
    }
    let file = WeightFile::open(&path)?;
    let check = || {
        let header = header::read(file.bytes(), number as usize)?;
        let (is, of) = (header.metadata.get::<u64>(NUMBER)?, count(&header.metadata)?);
        match (is, of) == (number, name.count) {
            true => Ok(header),
            false => Err(wrong(format!(
                "is part {} of {of}, but its name says part {one_based} of {}: download all parts of one model",
                is.saturating_add(1),
                name.count
            ))),
        }
    };
    let header = check().map_err(|error| error.of(Some(&path)))?;
    Ok((file, header))
}

/// Rejects one part of a split model that was read from memory: the other parts cannot be found.
pub(super) fn reject_part(metadata: &Metadata) -> Result<(), FileError> {
    match count(metadata)? {
        0 | 1 => Ok(()),
        count => {
            let message = format!("is one of {count} parts: open it from a folder that has them all");
            Err(FileError::new(FileErrorKind::WrongPart, message))
        }
    }
}

fn count(metadata: &Metadata) -> Result<u64, FileError> {
    // The specification has 16 bits, which also bounds the search for parts.
    Ok(metadata.get_optional::<u16>(COUNT)?.map_or(1, u64::from))
}

/// File name pattern of a split model, from the name of any part.
pub(crate) struct PartName {
    /// Path before `-00001-of-00003.gguf`.
    prefix: PathBuf,
    /// Number of parts.
    pub(crate) count: u64,
}

impl PartName {
    /// Parses the name of a part. Returns `None` for any other name.
    pub(crate) fn of(path: &Path) -> Option<PartName> {
        let (prefix, count) = path.file_name()?.to_str()?.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let (prefix, number) = prefix.rsplit_once('-')?;
        let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(number) || !is_number(count) {
            return None;
        }
        Some(PartName { prefix: path.with_file_name(prefix), count: count.parse().ok()? })
    }

    /// Path of a part. `number` counts from 0.
    pub(crate) fn part(&self, number: u64) -> PathBuf {
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!("-{:05}-of-{:05}.gguf", number + 1, self.count));
        path.into()
    }
}
