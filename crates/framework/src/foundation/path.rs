//! Paths as strings, as NSString takes them apart.

/// A path without its last component.
pub(crate) fn parent(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        Some(0) => "/",
        Some(at) => trimmed[..at].trim_end_matches('/'),
        None if path.starts_with('/') => "/",
        None => "",
    }
}

/// The last component.
pub(crate) fn name(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if !path.is_empty() => "/",
        trimmed => trimmed.rsplit('/').next().unwrap_or(""),
    }
}

/// The text behind the last point of the last component, without the point; a name may begin with one.
pub(crate) fn extension(path: &str) -> &str {
    let name = name(path);
    match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => &name[at + 1..],
        _ => "",
    }
}

pub(crate) fn without_extension(path: &str) -> &str {
    let trimmed = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    match extension(path) {
        "" => trimmed,
        extension => &trimmed[..trimmed.len() - extension.len() - 1],
    }
}

pub(crate) fn joined(path: &str, name: &str) -> String {
    match (path.trim_end_matches('/'), name.trim_start_matches('/')) {
        _ if path.is_empty() => name.to_owned(),
        (path, "") => if path.is_empty() { "/" } else { path }.to_owned(),
        (path, name) => format!("{path}/{}", name.trim_end_matches('/')),
    }
}

/// A path without `~`, empty components and `.`; in an absolute one, `..` takes a component away.
pub(crate) fn standardized(path: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    let expanded = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let is_absolute = expanded.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in expanded.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && is_absolute {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let parents = [("/tmp/a.tiff", "/tmp"), ("/tmp/lock/", "/tmp"), ("/tmp", "/"), ("/", "/"), ("a.tiff", "")];
        assert!(parents.iter().all(|(path, expected)| parent(path) == *expected));
        assert_eq!((name("/tmp/a.tiff/"), name("/"), name("")), ("a.tiff", "/", ""));
        assert_eq!((extension("/a/b.tar.gz"), extension("/a.b/c"), extension(".hidden")), ("gz", "", ""));
        assert_eq!((without_extension("/a/b.gz"), without_extension("/a/b")), ("/a/b", "/a/b"));
        assert_eq!(
            (joined("/a/", "b"), joined("", "b"), joined("/", "b")),
            ("/a/b".into(), "b".into(), "/b".into())
        );
        assert_eq!((standardized("/a//./b/../c/"), standardized("a/../b")), ("/a/c".into(), "a/../b".into()));
    }
}
