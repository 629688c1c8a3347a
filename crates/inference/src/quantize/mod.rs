//! Conversion of a model to another file type, as `llama-quantize` does it.
//!
//! ```text
//! QuantizeInput ── mixture: a type for each tensor ── Quantization ─┬─ tensors, size (a dry run)
//!                                                                   └─ work: rows ── encode ── gguf::Builder ── file
//! ```
//!
//! Without importance data, files are those of llama.cpp: the same type for each tensor, and the same bytes.

mod encode;
mod file_type;
mod input;
mod mixture;
mod work;

use std::io;
use std::path::Path;

use crate::formats::Format;
use crate::gguf::{Builder, Metadata};
use crate::weights::{FileError, FileErrorKind, TensorType};

pub use file_type::FileType;
pub use input::QuantizeInput;
pub(crate) use mixture::fitting;

/// Version of the block formats (`general.quantization_version`).
const VERSION: u32 = 2;

/// Quantizes numbers as llama.cpp does, with a search for scales; `None` if they are not whole blocks.
/// [`crate::formats::quantize`] is faster.
pub fn quantize_blocks(format: Format, numbers: &[f32]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(format.row_size(numbers.len())?);
    encode::encode(format, numbers, &mut bytes);
    Some(bytes)
}

/// A tensor of the new file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// Its name.
    pub name: String,
    /// Its size in each dimension, that of a row first.
    pub dimensions: Vec<u64>,
    /// Type and bytes in the input.
    pub from: (TensorType, u64),
    /// Type and bytes in the new file.
    pub to: (TensorType, u64),
}

impl Conversion {
    /// True if the tensor changes its type.
    pub fn changes(&self) -> bool {
        self.from.0 != self.to.0
    }
}

/// A planned conversion.
pub struct Quantization<'a> {
    input: &'a dyn QuantizeInput,
    file_type: FileType,
    conversions: Vec<Conversion>,
}

impl<'a> Quantization<'a> {
    /// Plans a conversion. Tensors that are quantized already are converted only if `requantizes` is set: they were
    /// rounded once.
    pub fn new(
        input: &'a dyn QuantizeInput,
        file_type: FileType,
        requantizes: bool,
    ) -> Result<Quantization<'a>, FileError> {
        let refused = |message: String| Err(FileError::new(FileErrorKind::Unsupported, message).of(input.path()));
        let facts = facts(input.metadata())?;
        let types = mixture::types(file_type, &facts, input.tensors());
        let mut conversions = Vec::with_capacity(types.len());
        for (tensor, to) in input.tensors().iter().zip(types) {
            let (name, from) = (&tensor.name, tensor.kind);
            let is_number = matches!(from, TensorType::F32 | TensorType::F16 | TensorType::BF16);
            if from != to && from.format().is_none() {
                return refused(format!("tensor '{name}' is {from}, which cannot be converted to {to}"));
            }
            if from != to && !is_number && !requantizes {
                return refused(format!(
                    "tensor '{name}' is {from} already, and would be rounded a second time for {to}; take a model in \
                     F32, F16 or BF16, or allow it with --allow-requantize"
                ));
            }
            let size = match from == to {
                true => Some(tensor.size()),
                false => to.format().and_then(|format| {
                    let row = format.row_size(usize::try_from(tensor.columns()).ok()?)? as u64;
                    (tensor.elements() / tensor.columns().max(1)).checked_mul(row)
                }),
            };
            let Some(size) = size else {
                return refused(format!("tensor '{name}' of {} does not fit {to}", tensor.shape()));
            };
            conversions.push(Conversion {
                name: name.clone(),
                dimensions: tensor.dimensions.clone(),
                from: (from, tensor.size()),
                to: (to, size),
            });
        }
        Ok(Quantization { input, file_type, conversions })
    }

    /// The type of the new file.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// All tensors of the new file, in its order.
    pub fn conversions(&self) -> &[Conversion] {
        &self.conversions
    }

    /// Size of the new file in bytes.
    pub fn size(&self) -> io::Result<u64> {
        self.builder().size()
    }

    /// Writes the new file, with this number of threads. Calls `progress` with the bytes written and the total. A failure
    /// leaves the old file, or none.
    pub fn write_file(&self, path: &Path, threads: usize, progress: &mut dyn FnMut(u64, u64)) -> io::Result<()> {
        let builder = self.builder();
        let total = self.conversions.iter().map(|conversion| conversion.to.1).sum();
        let mut done = 0;
        compute::files::replace(path, |out| {
            builder.write(out, &mut |index, out| {
                let tensor = &self.input.tensors()[index];
                work::convert(self.input, tensor, self.conversions[index].to.0, threads, &mut |bytes| {
                    done += bytes.len() as u64;
                    progress(done, total);
                    out.write_all(bytes)
                })
            })
        })
    }

    fn builder(&self) -> Builder {
        let mut builder = Builder::new();
        for (key, value) in self.input.metadata().iter() {
            // The new file is whole.
            if !key.starts_with("split.") {
                builder = builder.key(key, value.clone());
            }
        }
        builder = builder.key("general.quantization_version", VERSION);
        builder = builder.key("general.file_type", self.file_type.code());
        for Conversion { name, dimensions, to, .. } in &self.conversions {
            builder = builder.tensor(name, to.0, dimensions);
        }
        builder
    }
}

/// Properties of the model. Keys that are not there are 0: then no rule asks for them.
fn facts(metadata: &Metadata) -> Result<mixture::ModelFacts, FileError> {
    let architecture: String = metadata.get("general.architecture")?;
    let number = |key: &str| -> Result<u64, FileError> {
        let key = format!("{architecture}.{key}");
        // A model whose layers differ has an array: llama.cpp takes the first.
        match metadata.get_optional::<u64>(&key) {
            Ok(number) => Ok(number.unwrap_or(0)),
            Err(error) => match metadata.get_optional::<Vec<u64>>(&key) {
                Ok(numbers) => Ok(numbers.and_then(|numbers| numbers.first().copied()).unwrap_or(0)),
                Err(_) => Err(error),
            },
        }
    };
    let heads = number("attention.head_count")?;
    let kv_heads = match number("attention.head_count_kv")? {
        0 => heads,
        kv_heads => kv_heads,
    };
    let (layers, experts) = (number("block_count")?, number("expert_count")?);
    Ok(mixture::ModelFacts { architecture, layers, heads, kv_heads, experts })
}
