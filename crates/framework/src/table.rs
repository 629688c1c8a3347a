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
    &foundation::value::NS_VALUE,
    &foundation::value::NS_CONCRETE_VALUE,
    &foundation::number::NS_NUMBER,
    &foundation::data::NS_DATA,
    &foundation::data::NS_MUTABLE_DATA,
    &foundation::url::NS_URL,
    &foundation::error::NS_ERROR,
    &foundation::error::NS_EXCEPTION,
    &foundation::lock::NS_LOCK,
    &foundation::lock::NS_RECURSIVE_LOCK,
    &foundation::lock::NS_CONDITION,
    &foundation::time::NS_DATE,
    &foundation::thread::NS_THREAD,
    &foundation::uuid::NS_UUID,
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

    /// The selectors in declarations of bindings, by protocol and class.
    fn declared(text: &str) -> Vec<(String, Vec<String>)> {
        let starts = |line: &str| {
            let name = line.strip_prefix("    pub unsafe trait ").or_else(|| line.strip_prefix("impl "))?;
            name.split(|character: char| !character.is_alphanumeric()).next().map(str::to_owned)
        };
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for line in text.lines() {
            if let Some(name) = starts(line) {
                all.push((name, Vec::new()));
            }
            let selector =
                line.trim_start().strip_prefix("#[unsafe(method(").and_then(|rest| rest.split(')').next());
            if let (Some(selector), Some((_, own))) = (selector, all.last_mut()) {
                // Bindings mark errors that they return.
                own.push(selector.trim_end_matches('_').to_owned());
            }
        }
        all
    }

    #[test]
    #[ignore = "needs the sources of objc2-metal: make metal-on-linux"]
    fn every_selector_of_metal_has_a_state() {
        let folder = std::env::var("METALWORKS_BINDINGS").expect("METALWORKS_BINDINGS is set");
        let files = std::fs::read_dir(format!("{folder}/src/generated")).expect("the sources of the bindings");
        let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a source"));
        let declared: Vec<(String, Vec<String>)> = texts.flat_map(|text| declared(&text)).collect();
        assert!(declared.iter().any(|(name, own)| name == "MTLDevice" && own.len() > 100), "the reader finds them");
        let mut missing = Vec::new();
        for class in metal::CLASSES {
            let known: BTreeSet<String> = class
                .chain()
                .flat_map(|class| {
                    let methods = class.data.methods.iter().chain(class.data.properties);
                    let works = methods.map(|method| method.selector.to_string_lossy().into_owned());
                    let refused = class.data.refused.iter().map(|(selector, _)| (*selector).to_owned());
                    works.chain(refused).chain(class.data.absent.iter().map(|selector| (*selector).to_owned()))
                })
                .collect();
            let own =
                declared.iter().filter(|(name, _)| name == class.name() || class.data.conforms.contains(&&**name));
            let unknown = own.flat_map(|(_, selectors)| selectors).filter(|selector| !known.contains(*selector));
            missing.extend(unknown.map(|selector| format!("{} {selector}", class.name())));
        }
        assert!(missing.is_empty(), "{} selectors without a state: {missing:#?}", missing.len());
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
