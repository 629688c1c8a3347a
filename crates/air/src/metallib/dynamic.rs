//! Dynamic libraries: functions that kernels of other libraries call, and the names under which these find each other.
//!
//! The functions are of the kind `unqualified`, named by their symbols. The section `HDYN` of the header extension has
//! the tags `NAME`, the install name of a dynamic library, and `DYNL`, that of a library that was linked; each with a
//! zero, up to `ENDT`. The notes of others name these tags; no file of Apple's with them was seen here.

use super::{Library, Tag};
use std::borrow::Cow;

/// The type of a dynamic library in the header.
const DYNAMIC: u8 = 2;
const SECTION: Tag = *b"HDYN";
const INSTALL_NAME: Tag = *b"NAME";
const LINKED: Tag = *b"DYNL";
const END: Tag = *b"ENDT";

impl Library<'_> {
    /// True for a dynamic library.
    pub fn is_dynamic(&self) -> bool {
        self.header.file_type & 0x7f == DYNAMIC
    }

    /// Makes it a dynamic library.
    pub fn make_dynamic(&mut self, install_name: &str) {
        self.header.file_type = DYNAMIC;
        self.add_names(INSTALL_NAME, [install_name]);
    }

    /// Notes the install names of the libraries that it was linked with.
    pub fn link_with<'n>(&mut self, install_names: impl IntoIterator<Item = &'n str>) {
        self.add_names(LINKED, install_names);
    }

    /// The install name of a dynamic library.
    pub fn install_name(&self) -> Option<String> {
        self.names(INSTALL_NAME).next()
    }

    /// The install names of the libraries that it was linked with.
    pub fn linked_libraries(&self) -> Vec<String> {
        self.names(LINKED).collect()
    }

    fn add_names<'n>(&mut self, tag: Tag, names: impl IntoIterator<Item = &'n str>) {
        let mut names = names.into_iter().peekable();
        if names.peek().is_none() {
            return;
        }
        let old = self.sections.iter().position(|(section, _)| *section == SECTION);
        let mut content = old.map(|index| self.sections.remove(index).1.into_owned()).unwrap_or_default();
        content.truncate(content.len().saturating_sub(END.len()));
        for name in names {
            // A name is a path, and no longer than one; beyond the limit it would damage the section.
            let name: String = name.chars().filter(|c| *c != '\0').take(4096).collect();
            content.extend(tag);
            content.extend((name.len() as u16 + 1).to_le_bytes());
            content.extend(name.as_bytes());
            content.push(0);
        }
        content.extend(END);
        self.sections.push((SECTION, Cow::Owned(content)));
    }

    /// The values of a tag in the section. What cannot be read ends the list.
    fn names(&self, wanted: Tag) -> impl Iterator<Item = String> {
        let section = self.sections.iter().find(|(section, _)| *section == SECTION);
        let mut rest = section.map(|(_, content)| &**content).unwrap_or_default();
        let tags = std::iter::from_fn(move || {
            let (tag, after) = rest.split_first_chunk::<4>()?;
            let (length, after) = after.split_first_chunk::<2>()?;
            let (value, after) = after.split_at_checked(u16::from_le_bytes(*length).into())?;
            rest = after;
            Some((*tag, value))
        });
        tags.filter(move |(tag, _)| *tag == wanted).map(|(_, value)| {
            let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
            String::from_utf8_lossy(&value[..end]).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::metallib::{Function, FunctionKind, Header, Library};

    #[test]
    fn names_are_read_back() {
        let mut library = Library::new(Header::default());
        library.add(Function::new("_Z1fv", FunctionKind::Unqualified, b"BC\xc0\xde")).expect("one function");
        assert!(!library.is_dynamic() && library.install_name().is_none());
        library.make_dynamic("@rpath/x.metallib");
        library.link_with(["a", "b"]);
        library.link_with(["c"]);
        let bytes = library.write().expect("a file");
        let read = Library::parse(&bytes).expect("it was just written");
        assert!(read.is_dynamic());
        assert_eq!(read.install_name().as_deref(), Some("@rpath/x.metallib"));
        assert_eq!(read.linked_libraries(), ["a", "b", "c"]);
        assert_eq!(read.functions()[0].kind, FunctionKind::Unqualified);
    }

    #[test]
    fn damaged_names_are_no_names() {
        let mut library = Library::new(Header::default());
        library.sections.push((*b"HDYN", b"NAME\xff\xffx"[..].into()));
        assert_eq!(library.install_name(), None);
    }
}
