//! Versions of the Metal Shading Language.

use std::fmt;
use std::str::FromStr;

/// A version of the language, as `-std=metal3.1` names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LanguageVersion {
    /// 3 of 3.1.
    pub major: u32,
    /// 1 of 3.1.
    pub minor: u32,
}

impl LanguageVersion {
    /// All versions that are accepted, in order.
    pub const ALL: &'static [LanguageVersion] = &[
        LanguageVersion::new(2, 0),
        LanguageVersion::new(2, 1),
        LanguageVersion::new(2, 2),
        LanguageVersion::new(2, 3),
        LanguageVersion::new(2, 4),
        LanguageVersion::new(3, 0),
        LanguageVersion::new(3, 1),
        LanguageVersion::new(3, 2),
        LanguageVersion::new(4, 0),
    ];

    /// The version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> LanguageVersion {
        LanguageVersion { major, minor }
    }
}

impl Default for LanguageVersion {
    fn default() -> Self {
        LanguageVersion::new(3, 1)
    }
}

impl fmt::Display for LanguageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metal{}.{}", self.major, self.minor)
    }
}

/// A language version that does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownLanguageVersion(String);

impl fmt::Display for UnknownLanguageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid value '{}' for the language version; use one of ", self.0)?;
        for (i, version) in LanguageVersion::ALL.iter().enumerate() {
            write!(f, "{}'{version}'", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownLanguageVersion {}

impl FromStr for LanguageVersion {
    type Err = UnknownLanguageVersion;

    /// Reads `metal3.1`, `3.1`, `macos-metal2.4` or `ios-metal2.4`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let platform = ["macos-", "ios-"].iter().find_map(|p| text.strip_prefix(p));
        let number = match platform {
            Some(rest) => rest.strip_prefix("metal"),
            None => Some(text.strip_prefix("metal").unwrap_or(text)),
        };
        let found = number
            .and_then(|number| LanguageVersion::ALL.iter().find(|v| number == format!("{}.{}", v.major, v.minor)));
        found.copied().ok_or_else(|| UnknownLanguageVersion(text.to_owned()))
    }
}

/// Variant of the mathematical functions on `float` that have no namespace `fast` or `precise`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MathFunctions {
    /// `metal::exp` is `metal::fast::exp`.
    Fast,
    /// `metal::exp` is `metal::precise::exp`.
    Precise,
}

impl MathFunctions {
    /// The variant that a mode implies.
    pub fn of_mode(mode: MathMode) -> MathFunctions {
        match mode {
            MathMode::Fast | MathMode::Relaxed => MathFunctions::Fast,
            MathMode::Safe => MathFunctions::Precise,
        }
    }
}

/// The mode of floating-point arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MathMode {
    /// `-fmetal-math-mode=fast`, Metal's default.
    #[default]
    Fast,
    /// `-fmetal-math-mode=relaxed`: as fast, but NaN and infinity are kept.
    Relaxed,
    /// As written, with precise functions; a product and a sum in the same expression are fused. `-fno-fast-math`
    Safe,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_the_metal_compiler_names_them() {
        for (text, expected) in [
            ("metal3.1", Some((3, 1))),
            ("3.2", Some((3, 2))),
            ("metal4.0", Some((4, 0))),
            ("macos-metal2.4", Some((2, 4))),
            ("ios-metal2.0", Some((2, 0))),
            ("metal1.2", None),
            ("metal3.9", None),
            ("macos-3.0", None),
            ("metal03.1", None),
            ("", None),
        ] {
            let version = text.parse::<LanguageVersion>().ok();
            assert_eq!(version.map(|v| (v.major, v.minor)), expected, "{text}");
        }
        let error = "metal9".parse::<LanguageVersion>().unwrap_err().to_string();
        assert!(error.contains("'metal9'") && error.contains("'metal2.0', 'metal2.1'"), "{error}");
        assert_eq!(LanguageVersion::default().to_string(), "metal3.1");
    }
}
