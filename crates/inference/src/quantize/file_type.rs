//! Types of files: the mixtures of formats that llama.cpp defines.

use std::fmt;
use std::str::FromStr;

use crate::formats::Format;

/// Type of a quantized file, as `llama-quantize` names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, non_camel_case_types, reason = "llama.cpp's names")]
pub enum FileType {
    F32,
    F16,
    BF16,
    Q8_0,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    IQ4_NL,
    IQ4_XS,
    MXFP4,
    Q2_K,
    Q3_K_S,
    Q3_K_M,
    Q3_K_L,
    Q4_K_S,
    Q4_K_M,
    Q5_K_S,
    Q5_K_M,
    Q6_K,
}

use FileType::*;

/// All types: name, llama.cpp's number, format of most matrices.
const FILE_TYPES: [(FileType, &str, u32, Format); 20] = [
    (F32, "f32", 0, Format::F32),
    (F16, "f16", 1, Format::F16),
    (BF16, "bf16", 32, Format::BF16),
    (Q8_0, "q8_0", 7, Format::Q8_0),
    (Q4_0, "q4_0", 2, Format::Q4_0),
    (Q4_1, "q4_1", 3, Format::Q4_1),
    (Q5_0, "q5_0", 8, Format::Q5_0),
    (Q5_1, "q5_1", 9, Format::Q5_1),
    (IQ4_NL, "iq4_nl", 25, Format::IQ4_NL),
    (IQ4_XS, "iq4_xs", 30, Format::IQ4_XS),
    // Experts only: llama.cpp's MXFP4_MOE.
    (MXFP4, "mxfp4", 38, Format::MXFP4),
    (Q2_K, "q2_k", 10, Format::Q2_K),
    (Q3_K_S, "q3_k_s", 11, Format::Q3_K),
    (Q3_K_M, "q3_k_m", 12, Format::Q3_K),
    (Q3_K_L, "q3_k_l", 13, Format::Q3_K),
    (Q4_K_S, "q4_k_s", 14, Format::Q4_K),
    (Q4_K_M, "q4_k_m", 15, Format::Q4_K),
    (Q5_K_S, "q5_k_s", 16, Format::Q5_K),
    (Q5_K_M, "q5_k_m", 17, Format::Q5_K),
    (Q6_K, "q6_k", 18, Format::Q6_K),
];

impl FileType {
    /// Iterates over all types.
    pub fn all() -> impl Iterator<Item = FileType> {
        FILE_TYPES.iter().map(|&(file_type, ..)| file_type)
    }

    fn row(self) -> (FileType, &'static str, u32, Format) {
        FILE_TYPES[self as usize]
    }

    /// Name, such as `q4_k_m`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// llama.cpp's number (`general.file_type`).
    pub fn code(self) -> u32 {
        self.row().2
    }

    /// Format of most matrices.
    pub fn most(self) -> Format {
        self.row().3
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for FileType {
    type Err = String;

    fn from_str(name: &str) -> Result<FileType, String> {
        FileType::all().find(|known| known.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<&str> = FileType::all().map(FileType::name).collect();
            format!("there is no file type '{name}'; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_are_found() {
        for (index, file_type) in FileType::all().enumerate() {
            assert_eq!(file_type as usize, index);
            assert_eq!(file_type.name().to_uppercase().parse(), Ok(file_type));
        }
        let error = "q9".parse::<FileType>().unwrap_err();
        assert!(error.starts_with("there is no file type 'q9'; there are f32, f16, bf16, q8_0"), "{error}");
    }
}
