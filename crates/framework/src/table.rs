//! All classes, and from them the table of all selectors and their state, which `docs/framework.md` shows.

use crate::runtime::Class;
use crate::{dispatch, foundation, metal};

static FOUNDATION: &[&Class] = &[
    &foundation::object::NS_OBJECT,
    &foundation::object::PROTOCOL,
    &foundation::object::NS_NULL,
    &foundation::object::NS_AUTORELEASE_POOL,
    &foundation::string::NS_STRING,
    &foundation::string::NS_MUTABLE_STRING,
    &foundation::string::NS_CONSTANT_STRING,
    &foundation::scanner::NS_CHARACTER_SET,
    &foundation::scanner::NS_SCANNER,
    &foundation::array::NS_ARRAY,
    &foundation::array::NS_MUTABLE_ARRAY,
    &foundation::dictionary::NS_DICTIONARY,
    &foundation::dictionary::NS_MUTABLE_DICTIONARY,
    &foundation::set::NS_SET,
    &foundation::set::NS_MUTABLE_SET,
    &foundation::enumerate::NS_ENUMERATOR,
    &foundation::number::NS_VALUE,
    &foundation::number::NS_NUMBER,
    &foundation::data::NS_DATA,
    &foundation::url::NS_URL,
    &foundation::error::NS_ERROR,
    &foundation::error::NS_EXCEPTION,
    &foundation::lock::NS_LOCK,
    &foundation::lock::NS_RECURSIVE_LOCK,
    &foundation::files::NS_FILE_MANAGER,
    &foundation::process::NS_PROCESS_INFO,
    &foundation::bundle::NS_BUNDLE,
];

/// All classes of the framework.
pub(crate) fn classes() -> impl Iterator<Item = &'static Class> {
    FOUNDATION.iter().chain(dispatch::CLASSES).chain(metal::CLASSES).copied()
}

/// The names of selectors of each class and their state, as tables for `docs/framework.md`.
#[cfg(test)]
fn document() -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for class in classes() {
        let data = class.data;
        let methods = || data.methods.iter().chain(data.properties);
        let name = |selector: &std::ffi::CStr| selector.to_string_lossy().into_owned();
        let listed = |is_of_class: bool| -> Vec<String> {
            let sign = if is_of_class { "+" } else { "" };
            let own = methods().filter(|method| method.is_of_class == is_of_class);
            own.map(|method| format!("`{sign}{}`", name(method.selector))).collect()
        };
        let protocols = data.conforms.iter().filter(|protocol| protocol.starts_with("MTL"));
        let protocols: Vec<String> = protocols.map(|protocol| format!("`{protocol}`")).collect();
        let also = if protocols.is_empty() { String::new() } else { format!(": {}", protocols.join(", ")) };
        let _ = writeln!(text, "### `{}`{also}\n", class.name());
        let works = [listed(true), listed(false)].concat();
        if !works.is_empty() {
            let _ = writeln!(text, "Works: {}.\n", works.join(", "));
        }
        for (selector, why) in data.refused {
            let _ = writeln!(text, "- refused: `{selector}`: {why}");
        }
        if !data.refused.is_empty() {
            text.push('\n');
        }
        if !data.absent.is_empty() {
            let absent: Vec<String> = data.absent.iter().map(|selector| format!("`{selector}`")).collect();
            let _ = writeln!(text, "Absent: {}.\n", absent.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const BEGIN: &str = "<!-- generated: BLESS=1 cargo test -p metalworks-framework table -->\n";

    #[test]
    fn a_selector_has_one_state() {
        for class in classes() {
            let data = class.data;
            let mut seen = BTreeSet::new();
            for method in data.methods.iter().chain(data.properties) {
                let selector = method.selector.to_string_lossy().into_owned();
                assert!(seen.insert((method.is_of_class, selector.clone())), "{}: {selector} twice", class.name());
            }
            let others = data.refused.iter().map(|(selector, _)| *selector).chain(data.absent.iter().copied());
            for selector in others {
                assert!(seen.insert((false, selector.to_owned())), "{}: {selector} twice", class.name());
                assert!(!seen.contains(&(true, selector.to_owned())), "{}: {selector} twice", class.name());
            }
        }
    }

    #[test]
    fn the_document_shows_all_selectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/framework.md");
        let text = std::fs::read_to_string(path).expect("the document");
        let (head, table) = text.split_once(BEGIN).expect("the mark before the tables");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, format!("{head}{BEGIN}\n{}\n", document().trim_end())).expect("it can be written");
            return;
        }
        assert!(table.trim() == document().trim(), "docs/framework.md is outdated: run the test with BLESS=1");
    }
}
