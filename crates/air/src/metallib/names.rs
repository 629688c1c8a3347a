//! Names of the numbers in a library.

use super::{DATA_TYPES, FunctionKind, Header};

impl Header {
    /// The platform: `macOS`; `platform 9` for one that is not known here.
    pub fn platform_name(&self) -> String {
        let name = match self.platform & 0x7f {
            1 => "macOS",
            2 => "iOS",
            3 => "tvOS",
            4 => "watchOS",
            5 => "bridgeOS",
            6 => "Mac Catalyst",
            7 => "iOS simulator",
            8 => "tvOS simulator",
            9 => "watchOS simulator",
            11 => "visionOS",
            12 => "visionOS simulator",
            other => return format!("platform {other}"),
        };
        name.into()
    }

    /// The version of the platform: `14.0`, `14.2.1`.
    pub fn platform_version(&self) -> String {
        match self.platform_minor {
            [minor, 0] => format!("{}.{minor}", self.platform_major),
            [minor, patch] => format!("{}.{minor}.{patch}", self.platform_major),
        }
    }

    /// The type of the file: `executable`, `dynamic library`, …
    pub fn file_type_name(&self) -> String {
        let name = match self.file_type & 0x7f {
            0 => "executable",
            1 => "Core Image library",
            2 => "dynamic library",
            3 => "symbol companion",
            other => return format!("type {other}"),
        };
        if self.file_type & 0x80 != 0 { format!("{name}, stub") } else { name.into() }
    }
}

impl FunctionKind {
    /// The name of the stage: `kernel`; `kind 9` for one that is not known here.
    pub fn name(self) -> String {
        let name = match self {
            FunctionKind::Vertex => "vertex",
            FunctionKind::Fragment => "fragment",
            FunctionKind::Kernel => "kernel",
            FunctionKind::Unqualified => "unqualified",
            FunctionKind::Visible => "visible",
            FunctionKind::Extern => "extern",
            FunctionKind::Intersection => "intersection",
            FunctionKind::Other(number) => return format!("kind {number}"),
        };
        name.into()
    }
}

/// The name of a `MTLDataType`: `float3`; `type 9` for one that no function constant has.
pub fn data_type_name(number: u8) -> String {
    for (name, first) in DATA_TYPES {
        match number.checked_sub(first) {
            Some(0) => return name.into(),
            Some(more @ 1..=3) => return format!("{name}{}", more + 1),
            _ => {}
        }
    }
    format!("type {number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metallib::data_type;

    #[test]
    fn data_types_have_names() {
        for name in ["float", "float4", "half2", "bool", "uint3", "bfloat4", "ulong", "char2"] {
            assert_eq!(data_type_name(data_type(name).unwrap()), name);
        }
        assert_eq!(data_type_name(1), "type 1");
    }

    #[test]
    fn headers_in_words() {
        let header = Header::default();
        assert_eq!((header.platform_name(), header.platform_version()), ("macOS".into(), "14.0".into()));
        assert_eq!(header.file_type_name(), "executable");
        let other = Header { platform: 0x8a, platform_minor: [2, 1], file_type: 0x82, ..header };
        assert_eq!((other.platform_name(), other.platform_version()), ("platform 10".into(), "14.2.1".into()));
        assert_eq!(other.file_type_name(), "dynamic library, stub");
    }
}
