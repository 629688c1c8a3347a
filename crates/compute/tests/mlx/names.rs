//! Numbers in the names of kernels: `bm4` is 4 for `bm`, and so is `gs_4` for `gs`.

/// The number that `key` has in `name`.
pub(crate) fn number(name: &str, key: &str) -> Option<usize> {
    let parts: Vec<&str> = name.split('_').collect();
    let attached = parts.iter().find_map(|part| part.strip_prefix(key)?.parse().ok());
    attached.or_else(|| parts.windows(2).find(|pair| pair[0] == key)?[1].parse().ok())
}
