//! Quantization of a folder's matrices: MLX's, FP8, and MXFP4 of experts.

use super::json::Object;
use super::safetensors::{NumberType, Stored, printable};
use crate::weights::{FileError, FileErrorKind, ScaleType, StoredRows, TensorType, Values, affine_format};
use std::collections::BTreeMap;

/// Quantization that `config.json` names.
#[derive(Debug)]
pub(super) enum Quantization {
    None,
    Mlx(MlxQuantization),
    /// FP8 with scales beside the weights; with the tiles that share one, if it names them.
    Float8(Option<[usize; 2]>),
    /// MXFP4 experts.
    Mxfp4,
}

/// MLX's quantization, and that of single matrices.
#[derive(Debug)]
pub(super) struct MlxQuantization {
    pub(super) default: MlxScheme,
    of_modules: BTreeMap<String, MlxScheme>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MlxScheme {
    pub(super) bits: u32,
    pub(super) group: usize,
    pub(super) mode: MlxMode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MlxMode {
    Affine,
    Mxfp4,
}

/// Tensors of a module by the ends of their names.
pub(super) type Module = BTreeMap<String, Stored>;

/// A matrix whose numbers are converted when they are read.
#[derive(Clone)]
pub(super) struct Converted {
    pub(super) kind: TensorType,
    pub(super) columns: usize,
    pub(super) values: Values,
}

impl Quantization {
    pub(super) fn read(root: Object<'_>) -> Result<Quantization, FileError> {
        if let Some(mlx) = root.object("quantization", "quantization.")? {
            return MlxQuantization::read(mlx).map(Quantization::Mlx);
        }
        let Some(config) = root.object("quantization_config", "quantization_config.")? else {
            return Ok(Quantization::None);
        };
        match config.text("quant_method")? {
            Some("fp8" | "fbgemm_fp8" | "compressed-tensors") => {
                let tile = config.array("weight_block_size")?;
                let tile = tile.map(|sizes| match sizes.as_slice() {
                    [rows, columns] => rows.as_u64().zip(columns.as_u64()),
                    _ => None,
                });
                match tile {
                    None => Ok(Quantization::Float8(None)),
                    Some(Some((rows @ 1..=65_536, columns @ 1..=65_536))) => {
                        Ok(Quantization::Float8(Some([rows as usize, columns as usize])))
                    }
                    Some(_) => Err(config.wrong("weight_block_size", "expected two whole numbers from 1 to 65536")),
                }
            }
            Some("mxfp4") => Ok(Quantization::Mxfp4),
            Some(other) => Err(config.unsupported(format_args!(
                "the quantization '{}' is not supported, only fp8, mxfp4 and MLX's: take the model without it",
                printable(other)
            ))),
            None => {
                let method = config.required("quant_method", None::<&str>);
                method.map(|_| Quantization::None)
            }
        }
    }

    /// A line for people: `MLX, 4 bits in groups of 64`.
    pub(super) fn describe(&self) -> Option<String> {
        match self {
            Quantization::None => None,
            Quantization::Mlx(MlxQuantization { default, of_modules }) => {
                let others = match of_modules.values().filter(|scheme| *scheme != default).count() {
                    0 => String::new(),
                    1 => "; 1 matrix differs".to_owned(),
                    count => format!("; {count} matrices differ"),
                };
                Some(match default.mode {
                    MlxMode::Affine => format!("MLX, {} bits in groups of {}{others}", default.bits, default.group),
                    MlxMode::Mxfp4 => format!("MLX, MXFP4{others}"),
                })
            }
            Quantization::Float8(Some([rows, columns])) => {
                Some(format!("FP8 with a scale for {rows}×{columns} numbers"))
            }
            Quantization::Float8(None) => Some("FP8".into()),
            Quantization::Mxfp4 => Some("MXFP4 experts".into()),
        }
    }

    /// Conversion of a module's matrix; `None` if it is plain. Marks the tensors that it takes as used.
    pub(super) fn convert(&self, name: &str, module: &Module) -> Result<Option<Converted>, FileError> {
        let Some(weight) = module.get("weight") else { return Ok(None) };
        match (weight.kind, self) {
            (NumberType::U32, Quantization::Mlx(mlx)) => mlx.convert(name, weight, module).map(Some),
            (NumberType::U8, Quantization::Mxfp4) => mxfp4(name, weight, module).map(Some),
            (NumberType::F8_E4M3 | NumberType::F8_E5M2, quantization) => {
                let tile = match quantization {
                    Quantization::Float8(tile) => *tile,
                    _ => None,
                };
                float8(name, weight, module, tile).map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl MlxQuantization {
    fn read(object: Object<'_>) -> Result<MlxQuantization, FileError> {
        let default = MlxScheme::read(object, None)?;
        let mut of_modules = BTreeMap::new();
        for (name, value) in object.entries() {
            // `true` and `false` say that a module is quantized at all, which its tensors show.
            if value.is_object()
                && let Some(own) = object.object(name, "quantization.")?
            {
                of_modules.insert(super::tensors::stripped(name).to_owned(), MlxScheme::read(own, Some(default))?);
            }
        }
        Ok(MlxQuantization { default, of_modules })
    }

    fn convert(&self, name: &str, weight: &Stored, module: &Module) -> Result<Converted, FileError> {
        let MlxScheme { bits, group, mode } = self.of_modules.get(name).copied().unwrap_or(self.default);
        let wrong = |problem: String| {
            FileError::new(FileErrorKind::Damaged, format!("matrix '{}': {problem}", printable(name)))
        };
        let companion = |end: &str| {
            let tensor = module.get(end);
            tensor.ok_or_else(|| {
                wrong(format!("it is quantized, but there is no tensor '{}.{end}'", printable(name)))
            })
        };
        let bits_per_row = weight.columns().checked_mul(32).filter(|row| row.is_multiple_of(bits as usize));
        let Some(columns) =
            bits_per_row.map(|row| row / bits as usize).filter(|columns| columns % group.max(32) == 0)
        else {
            return Err(wrong(format!(
                "its rows of {} words are not whole groups of {group} numbers of {bits} bits",
                weight.columns()
            )));
        };
        let rows = weight.rows();
        let numbers = stored_rows(weight, rows);
        let scales = companion("scales")?;
        let check = |end: &str, tensor: &Stored| match (tensor.rows(), tensor.columns()) == (rows, columns / group)
        {
            true => Ok(stored_rows(tensor, rows)),
            false => {
                Err(wrong(format!("its {end} are {}, but {rows}×{} are expected", tensor.shown(), columns / group)))
            }
        };
        if mode == MlxMode::Mxfp4 {
            if scales.kind != NumberType::U8 {
                return Err(wrong(format!("its scales are {:?}, but MXFP4 has U8", scales.kind)));
            }
            let values = Values::Mxfp4 { numbers, scales: check("scales", scales)? };
            return Ok(Converted { kind: TensorType::MXFP4, columns, values });
        }
        let biases = companion("biases")?;
        let scale_type = scale_type(scales.kind).filter(|_| biases.kind == scales.kind);
        let (Some(scale_type), Some(kind)) = (scale_type, affine_format(bits)) else {
            return Err(wrong(format!("its scales are {:?} and its biases {:?}", scales.kind, biases.kind)));
        };
        let (scales, biases) = (check("scales", scales)?, check("biases", biases)?);
        Ok(Converted { kind, columns, values: Values::Affine { numbers, scales, biases, scale_type, bits, group } })
    }
}

impl MlxScheme {
    fn read(object: Object<'_>, default: Option<MlxScheme>) -> Result<MlxScheme, FileError> {
        let mode = match object.text("mode")? {
            None => default.map_or(MlxMode::Affine, |default| default.mode),
            Some("affine") => MlxMode::Affine,
            Some("mxfp4") => MlxMode::Mxfp4,
            Some(other) => {
                let other = printable(other);
                return Err(object.unsupported(format_args!(
                    "MLX's quantization '{other}' is not supported, only affine and mxfp4"
                )));
            }
        };
        let count = |key: &str, default: Option<u64>| {
            object.count(key)?.or(default).map_or_else(|| object.required(key, None), Ok)
        };
        let bits = count("bits", default.map(|default| default.bits.into()))?;
        let group = count("group_size", default.map(|default| default.group as u64))?;
        let (known_bits, known_groups): (&[u64], &[u64]) = match mode {
            MlxMode::Affine => (&[2, 3, 4, 5, 6, 8], &[32, 64, 128]),
            MlxMode::Mxfp4 => (&[4], &[32]),
        };
        for (key, value, known) in [("bits", bits, known_bits), ("group_size", group, known_groups)] {
            if !known.contains(&value) {
                return Err(object.wrong(key, format_args!("{value} is none of {known:?}")));
            }
        }
        Ok(MlxScheme { bits: bits as u32, group: group as usize, mode })
    }
}

/// MXFP4: 32 numbers in 16 bytes, the first one in the low half of the first byte, and an exponent for them.
fn mxfp4(name: &str, weight: &Stored, module: &Module) -> Result<Converted, FileError> {
    let shown = printable(name);
    let wrong = |problem: String| FileError::new(FileErrorKind::Damaged, format!("matrix '{shown}': {problem}"));
    let Some(scales) = module.get("scales").filter(|scales| scales.kind == NumberType::U8) else {
        return Err(wrong(format!("it is MXFP4, but there is no tensor '{shown}_scales' of the type U8")));
    };
    let (rows, blocks) = (weight.rows(), weight.columns() / 16);
    if !weight.columns().is_multiple_of(16) || (scales.rows(), scales.columns()) != (rows, blocks) {
        return Err(wrong(format!("its numbers are {}, and its scales {}", weight.shown(), scales.shown())));
    }
    let values = Values::Mxfp4 { numbers: stored_rows(weight, rows), scales: stored_rows(scales, rows) };
    Ok(Converted { kind: TensorType::MXFP4, columns: 32 * blocks, values })
}

/// FP8: `weight_scale` or `weight_scale_inv` has one scale, one for each row, or one for each tile.
fn float8(name: &str, weight: &Stored, module: &Module, tile: Option<[usize; 2]>) -> Result<Converted, FileError> {
    let shown = printable(name);
    let wrong = |problem: String| FileError::new(FileErrorKind::Damaged, format!("matrix '{shown}': {problem}"));
    let Some(scales) = module.get("weight_scale_inv").or(module.get("weight_scale")) else {
        return Err(wrong(format!(
            "it is FP8, but there is no tensor '{shown}.weight_scale' or '{shown}.weight_scale_inv'"
        )));
    };
    let Some(scale_type) = scale_type(scales.kind) else {
        return Err(wrong(format!("its scales are {:?}", scales.kind)));
    };
    let (rows, columns) = (weight.rows(), weight.columns());
    if rows == 0 || columns == 0 {
        return Err(wrong(format!("it is {}", weight.shown())));
    }
    let count: usize = scales.shape.iter().product();
    let tiles_of = |tile: [usize; 2]| [rows.div_ceil(tile[0]), columns.div_ceil(tile[1])];
    let is_shape = |shape: [usize; 2]| (scales.rows(), scales.columns()) == (shape[0], shape[1]);
    let (tile, scale_rows) = match tile.unwrap_or([128, 128]) {
        _ if count == 1 => ([rows, columns], 1),
        tile if scales.shape.len() >= 2 && is_shape(tiles_of(tile)) => (tile, scales.rows()),
        _ if count == rows && (scales.columns() == 1 || scales.shape.len() == 1) => ([1, columns], rows),
        _ => {
            let problem = format!(
                "its scales are {}, which is neither one, one for each row, nor one for each tile of",
                scales.shown()
            );
            let [tile_rows, tile_columns] = tile.unwrap_or([128, 128]);
            return Err(wrong(format!("{problem} {tile_rows}×{tile_columns}")));
        }
    };
    let values = Values::Float8 {
        numbers: stored_rows(weight, rows),
        wide: weight.kind == NumberType::F8_E5M2,
        scales: stored_rows(scales, scale_rows),
        scale_type,
        tile,
    };
    Ok(Converted { kind: TensorType::BF16, columns, values })
}

/// A tensor as this many rows.
pub(super) fn stored_rows(tensor: &Stored, rows: usize) -> StoredRows {
    let bytes = (tensor.range.end - tensor.range.start) as usize;
    StoredRows { file: tensor.file, start: tensor.range.start, row_bytes: bytes / rows.max(1), rows }
}

pub(super) fn scale_type(kind: NumberType) -> Option<ScaleType> {
    match kind {
        NumberType::F32 => Some(ScaleType::F32),
        NumberType::F16 => Some(ScaleType::F16),
        NumberType::BF16 => Some(ScaleType::BF16),
        _ => None,
    }
}

/// True if a tensor of a module belongs to its matrix. Scales of activations are not needed: these are not quantized.
pub(super) fn is_scale(end: &str) -> bool {
    matches!(
        end,
        "scales"
            | "biases"
            | "weight_scale"
            | "weight_scale_inv"
            | "input_scale"
            | "activation_scale"
            | "input_scale_ub"
    )
}
