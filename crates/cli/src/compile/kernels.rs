//! Lists of kernels to compile: `gemv[K=u32:4096,USE_BIAS=bool:true]`.

use std::path::Path;

use abi::Constants;

use crate::constants;
use crate::input;

/// A kernel with constants.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) constants: Constants,
    /// The original text.
    pub(crate) text: String,
}

impl Kernel {
    pub(crate) fn parse(text: &str) -> Result<Kernel, String> {
        let form = || {
            format!("'{text}' is not a kernel: write NAME or NAME[KEY=TYPE:VALUE,...], such as gemv[K=u32:4096]")
        };
        let text = text.trim();
        let (name, list) = match text.split_once('[') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(']').ok_or_else(form)?)),
            None => (text, None),
        };
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ']') {
            return Err(form());
        }
        let mut parts: Vec<String> = Vec::new();
        for part in list.into_iter().flat_map(|list| list.split(',')).filter(|part| !part.trim().is_empty()) {
            match parts.last_mut() {
                // Another component of a vector.
                Some(last) if !part.contains('=') => *last = format!("{last},{part}"),
                _ => parts.push(part.trim().to_owned()),
            }
        }
        let values = parts.iter().map(|part| constants::constant(part)).collect::<Result<Vec<_>, String>>();
        let constants =
            values.and_then(|values| constants::collect(&values)).map_err(|error| format!("'{text}': {error}"))?;
        Ok(Kernel { name: name.to_owned(), constants, text: text.to_owned() })
    }
}

/// Reads a file with one kernel per line; `#` starts a comment.
pub(crate) fn read_list(path: &Path) -> Result<Vec<Kernel>, String> {
    let text = input::text(path)?;
    let mut kernels = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            let place = |error| format!("{}:{}: {error}", path.display(), number + 1);
            kernels.push(Kernel::parse(line).map_err(place)?);
        }
    }
    Ok(kernels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::ConstantValue;

    #[test]
    fn a_kernel_has_a_name_and_maybe_constants() {
        let kernel = |text: &str| Kernel::parse(text).expect(text);
        assert_eq!(kernel("add").name, "add");
        assert!(kernel(" add[] ").constants.is_empty());
        let mut expected = Constants::new();
        expected.set_named("K", ConstantValue::Uint(4096)).set(3, ConstantValue::Bool(true));
        expected.set_named("V", ConstantValue::Vector(vec![ConstantValue::Float(1.0), ConstantValue::Float(2.0)]));
        assert_eq!(kernel("gemv[K=u32:4096, V=float2:1,2, 3=bool:true]").constants, expected);
    }

    #[test]
    fn rejects_malformed_kernels() {
        for text in
            ["", "[K=u32:1]", "gemv[K=u32:1", "gemv]", "two words", "gemv[K]", "gemv[K=u32:1,K=u32:2]", "k[a=b:c]"]
        {
            assert!(Kernel::parse(text).is_err(), "{text}");
        }
    }
}
