//! Location and size limit of the user's cache.

use super::FolderOptions;
use crate::error::{Result, usage};
use std::ffi::OsString;
use std::path::PathBuf;

/// Location of the user's cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CacheLocation {
    Folder(PathBuf, FolderOptions),
    /// No cache, with the reason.
    Nowhere(String),
}

impl CacheLocation {
    pub(super) fn of_user() -> Result<CacheLocation> {
        location(|name| std::env::var_os(name), cfg!(target_os = "macos"))
    }
}

fn location(variable: impl Fn(&str) -> Option<OsString>, is_mac: bool) -> Result<CacheLocation> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let size_limit = match variable("METALWORKS_CACHE_SIZE") {
        Some(text) => match text.to_str().and_then(parse_size) {
            Some(bytes) => bytes,
            None => {
                let text = text.display();
                return usage(format!(
                    "METALWORKS_CACHE_SIZE is '{text}': it must be a number of bytes, such as 512M or 2G"
                ));
            }
        },
        None => FolderOptions::default().size_limit,
    };
    let own = variable("METALWORKS_CACHE");
    if own.as_ref().is_some_and(|own| own == "0" || own == "off") {
        return Ok(CacheLocation::Nowhere("turned off by METALWORKS_CACHE".into()));
    }
    // The XDG Base Directory Specification says to ignore relative paths.
    let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = variable("HOME").map(PathBuf::from);
    let caches =
        if is_mac { home.map(|home| home.join("Library/Caches")) } else { home.map(|home| home.join(".cache")) };
    let default = || xdg.or(caches).map(|caches| caches.join("metalworks/pipelines"));
    match own.map(PathBuf::from).or_else(default) {
        Some(folder) => Ok(CacheLocation::Folder(folder, FolderOptions { size_limit })),
        None => Ok(CacheLocation::Nowhere("neither METALWORKS_CACHE nor HOME is set".into())),
    }
}

/// Parses `1000`, `64K`, `512M`, `2G`.
fn parse_size(text: &str) -> Option<u64> {
    let (number, shift) = match text.trim().to_ascii_uppercase() {
        text if text.ends_with('K') => (text[..text.len() - 1].to_owned(), 10),
        text if text.ends_with('M') => (text[..text.len() - 1].to_owned(), 20),
        text if text.ends_with('G') => (text[..text.len() - 1].to_owned(), 30),
        text => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)], is_mac: bool) -> Result<CacheLocation> {
        location(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()), is_mac)
    }

    fn folder(path: &str) -> Result<CacheLocation> {
        Ok(CacheLocation::Folder(path.into(), FolderOptions { size_limit: 512 << 20 }))
    }

    #[test]
    fn the_environment_sets_the_location() {
        let home = ("HOME", "/home/me");
        assert_eq!(with(&[home], false), folder("/home/me/.cache/metalworks/pipelines"));
        assert_eq!(with(&[home], true), folder("/home/me/Library/Caches/metalworks/pipelines"));
        assert_eq!(with(&[home, ("XDG_CACHE_HOME", "/c")], false), folder("/c/metalworks/pipelines"));
        assert_eq!(with(&[home, ("XDG_CACHE_HOME", "c")], false), folder("/home/me/.cache/metalworks/pipelines"));
        assert_eq!(with(&[home, ("METALWORKS_CACHE", "/own")], false), folder("/own"));
        assert_eq!(with(&[home, ("METALWORKS_CACHE", "")], false), folder("/home/me/.cache/metalworks/pipelines"));
        for off in ["0", "off"] {
            let location = with(&[home, ("METALWORKS_CACHE", off)], false);
            assert!(matches!(location, Ok(CacheLocation::Nowhere(_))), "{location:?}");
        }
        assert!(matches!(with(&[], false), Ok(CacheLocation::Nowhere(_))));
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("0", 0), ("1000", 1000), ("64K", 64 << 10), (" 512m ", 512 << 20), ("2G", 2 << 30)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "-1", "much", "99999999999999999G"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
        let problem = with(&[("HOME", "/"), ("METALWORKS_CACHE_SIZE", "much")], false).expect_err("no number");
        assert!(problem.to_string().contains("'much'"), "{problem}");
    }
}
