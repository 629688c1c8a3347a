//! Functions of several files in one library.

use std::collections::BTreeMap;
use std::path::Path;

use air::metallib::{Function, Header, Library};

use super::{Failure, Result};
use crate::input;

/// A library under construction, and the file of each of its functions.
pub(crate) struct Merge<'f> {
    library: Library<'static>,
    files: BTreeMap<String, &'f Path>,
    /// The first file, which decides for what platform the library is.
    first: Option<&'f Path>,
}

impl<'f> Merge<'f> {
    pub(crate) fn new() -> Merge<'f> {
        Merge { library: Library::new(Header::default()), files: BTreeMap::new(), first: None }
    }

    /// Adds the functions of a file with this header.
    pub(crate) fn add(&mut self, file: &'f Path, header: Header, functions: Vec<Function<'static>>) -> Result<()> {
        self.header(file, header)?;
        for function in functions {
            let name = function.name().to_owned();
            if let Some(first) = self.files.insert(name.clone(), file) {
                let (first, second) = (input::display_name(first), input::display_name(file));
                return Err(Failure::Refused(format!("kernel '{name}' is in both '{first}' and '{second}'")));
            }
            let added = self.library.add(function);
            added.map_err(|error| Failure::Refused(format!("{}: {error}", input::display_name(file))))?;
        }
        Ok(())
    }

    /// Libraries of one platform become a library for the newest of its versions that one of them is for.
    fn header(&mut self, file: &'f Path, header: Header) -> Result<()> {
        let refused = |message: String| Err(Failure::Refused(message));
        let name = input::display_name(file);
        if header.file_type != 0 {
            let found = header.file_type_name();
            return refused(format!(
                "{name}: a library of type '{found}' cannot be merged, only an executable one"
            ));
        }
        let merged = &mut self.library.header;
        let Some(first) = self.first else {
            *merged = header;
            self.first = Some(file);
            return Ok(());
        };
        if (merged.platform, merged.is_macos) != (header.platform, header.is_macos) {
            let (one, other) = (merged.platform_name(), header.platform_name());
            return refused(format!("'{}' is for {one}, and '{name}' for {other}", input::display_name(first)));
        }
        merged.version = merged.version.max(header.version);
        let version = |header: &Header| (header.platform_major, header.platform_minor);
        if version(&header) > version(merged) {
            (merged.platform_major, merged.platform_minor) = version(&header);
        }
        Ok(())
    }

    /// The library. If it has a reflection list, functions of libraries without one are described for it.
    ///
    /// Also returns the function for which this is not possible, so that the library has no reflection list.
    pub(crate) fn finish(mut self) -> (Library<'static>, Option<String>) {
        // Bitcode that cannot be read is a matter of those who use the function.
        let describe = |function: &Function| air::reflect::reflection_of_bitcode(function).ok().flatten();
        let undescribed = self.library.unify_reflection(describe).map(str::to_owned);
        (self.library, undescribed)
    }
}
