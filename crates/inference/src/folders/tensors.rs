//! Tensors of a folder by their names in GGUF files.

use super::config::Config;
use super::families::{Change, JoinedExperts, TensorRule, whole_tensor};
use super::quantization::{Converted, Module, Quantization, is_scale, scale_type, stored_rows};
use super::safetensors::{NumberType, Stored, printable};
use super::value_heads::TensorOrder;
use crate::gguf::Metadata;
use crate::weights::{
    Derived, FileError, FileErrorKind, HeadOrder, NumberMap, Part, RowOrder, TensorInfo, TensorType, Values,
    WeightFile, Weights, unfuse,
};
use std::collections::BTreeMap;

/// Name of a tensor without the prefixes that wrappers add.
pub(super) fn stripped(name: &str) -> &str {
    let name = name.strip_prefix("language_model.").unwrap_or(name);
    let name = name.strip_prefix("model.").unwrap_or(name);
    name.strip_prefix("language_model.").unwrap_or(name)
}

/// True for tensors of other parts of a model: encoders of images and sound, and predictors of further tokens.
fn is_elsewhere(name: &str) -> bool {
    const PARTS: [&str; 10] = [
        "visual.",
        "vision_tower.",
        "vision_model.",
        "multi_modal_projector.",
        "vit.",
        "mlp_AR.",
        "audio_tower.",
        "embed_vision.",
        "embed_audio.",
        "mtp.",
    ];
    PARTS.iter().any(|part| name.starts_with(part))
}

/// GgufName of a tensor: its name in GGUF files, and the expert if it is one of several.
struct GgufName {
    name: String,
    expert: Option<usize>,
    change: Change,
    /// Matrices have columns in place of rows.
    is_transposed: bool,
}

/// Tensors that become one.
#[derive(Default)]
struct Gathered {
    /// By expert.
    parts: BTreeMap<usize, Numbers>,
    is_split: bool,
}

/// Numbers of a tensor.
struct Numbers {
    kind: TensorType,
    /// Sizes as in GGUF, that of a row first.
    dimensions: Vec<u64>,
    rows: usize,
    /// Rows in the file.
    stored_rows: usize,
    row_bytes: usize,
    order: RowOrder,
    columns: Option<HeadOrder>,
    content: Content,
}

enum Content {
    /// As in the file.
    Stored(Stored),
    Made(Values),
}

/// Names the tensors of files, and derives those that GGUF files have in another form. Returns the weights, and the
/// number of tensors of other parts of the model.
pub(super) fn weights(
    config: &Config<'_>,
    quantization: &Quantization,
    interleave: bool,
    mut files: Vec<WeightFile>,
    tensors: Vec<Stored>,
    metadata: &Metadata,
) -> Result<(Weights, usize), FileError> {
    let (modules, left_out) = modules(tensors)?;
    // MLX adds the offset of norms when it converts a model with convolutions, and transposes these.
    let is_converted = modules.iter().any(|(name, module)| {
        name.ends_with("conv1d") && module.get("weight").is_some_and(|weight| weight.columns() == 1)
    });
    let norm_offset = if is_converted { 0.0 } else { config.family.norm_offset };
    let mut by_target: BTreeMap<String, Gathered> = BTreeMap::new();
    let mut order = Vec::new();
    let is_tied = config.is_tied;
    for (name, module) in &modules {
        let converted = quantization.convert(name, module)?;
        let mut converted = converted.map(|converted| (module["weight"].clone(), converted));
        for (end, tensor) in module {
            if is_scale(end) && module.contains_key("weight") || is_redundant(name, end) {
                continue;
            }
            let converted = if end == "weight" { converted.take().map(|(_, converted)| converted) } else { None };
            for target in targets(config, name, end)? {
                if target.name == "output.weight" && is_tied == Some(true) {
                    continue;
                }
                let numbers = numbers(config, interleave, norm_offset, &target, tensor, converted.clone())?;
                let gathered = by_target.entry(target.name.clone()).or_insert_with(|| {
                    order.push(target.name.clone());
                    Gathered::default()
                });
                gathered.is_split |= target.expert.is_some();
                if gathered.parts.insert(target.expert.unwrap_or(0), numbers).is_some() {
                    let message =
                        format!("two tensors are '{}', one is '{}'", target.name, printable(&tensor.name));
                    return Err(FileError::new(FileErrorKind::Damaged, message));
                }
            }
        }
    }
    if is_tied == Some(false) && !by_target.contains_key("output.weight") {
        let message = "there is no tensor 'lm_head.weight', although 'tie_word_embeddings' is false";
        return Err(FileError::new(FileErrorKind::MissingTensor, message));
    }
    let (mut infos, mut derived) = (Vec::new(), Vec::new());
    let derived_file = files.len() + usize::from(!config.factors.is_empty());
    for name in order {
        let Some(gathered) = by_target.remove(&name) else { continue };
        infos.push(info(name, gathered, derived_file, &mut derived)?);
    }
    if !config.factors.is_empty() {
        let mut bytes = Vec::new();
        for (name, factors) in &config.factors {
            let start = bytes.len() as u64;
            bytes.extend(factors.iter().flat_map(|factor| factor.to_le_bytes()));
            infos.push(TensorInfo {
                name: (*name).to_owned(),
                dimensions: vec![factors.len() as u64],
                kind: TensorType::F32,
                file: files.len(),
                range: start..bytes.len() as u64,
            });
        }
        files.push(WeightFile::from_bytes(bytes));
    }
    let (file, ranges) = WeightFile::derived(derived);
    files.push(file);
    for info in infos.iter_mut().filter(|info| info.file == derived_file) {
        // Until here, the range begins with the index.
        info.range = ranges[info.range.start as usize].clone();
    }
    if !interleave {
        infos = unfuse(&mut files, infos, &|key| metadata.count(key))?;
    }
    Ok((Weights::new(files, infos)?, left_out))
}

/// Modules and their tensors, in the order of layers.
fn modules(tensors: Vec<Stored>) -> Result<(BTreeMap<String, Module>, usize), FileError> {
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    let mut left_out = 0;
    for mut tensor in tensors {
        let name = stripped(&tensor.name);
        if is_elsewhere(name) {
            left_out += 1;
            continue;
        }
        let (module, end) = name.rsplit_once('.').unwrap_or(("", name));
        let (module, end) = match quantized_experts(module, end) {
            Some((part, end)) => {
                if let ("weight", [rows @ .., blocks, bytes]) = (end, &tensor.shape[..]) {
                    tensor.shape = [rows, &[blocks * bytes]].concat();
                }
                (format!("{module}.{part}"), end.to_owned())
            }
            None => (module.to_owned(), end.to_owned()),
        };
        if let Some(twice) = modules.entry(module).or_default().insert(end, tensor) {
            let message = format!("tensor '{}' is in two files, or under two names", printable(&twice.name));
            return Err(FileError::new(FileErrorKind::Damaged, message));
        }
    }
    Ok((modules, left_out))
}

/// The matrix and the kind of a tensor of all experts in one: `gate_up_proj_blocks` are weights.
fn quantized_experts<'a>(module: &str, end: &'a str) -> Option<(&'a str, &'static str)> {
    let ends = [("_blocks", "weight"), ("_scales", "scales"), ("_bias", "bias")];
    let found = ends.iter().find_map(|(suffix, kind)| Some((end.strip_suffix(suffix)?, *kind)));
    found.filter(|_| module.ends_with("mlp.experts"))
}

/// True for tensors that follow from `config.json`.
fn is_redundant(module: &str, end: &str) -> bool {
    end == "inv_freq" && module.ends_with("rotary_emb")
}

fn targets(config: &Config<'_>, module: &str, end: &str) -> Result<Vec<GgufName>, FileError> {
    let is_usual = matches!(end, "weight" | "bias");
    let name = if is_usual { module.to_owned() } else { format!("{module}.{end}") };
    let usual_end = if is_usual { end } else { "weight" };
    let unknown = || {
        let message = format!(
            "unexpected tensor '{}.{end}' in a model of the type '{}'",
            printable(module),
            config.family.model_types[0]
        );
        FileError::new(FileErrorKind::Unsupported, message)
    };
    let found: Vec<GgufName> = match name.strip_prefix("layers.").and_then(|rest| rest.split_once('.')) {
        Some((layer, rest)) => {
            let layer: u32 = layer.parse().map_err(|_| unknown())?;
            let is_transposed = config.family.joined_experts != JoinedExperts::Rows
                && !is_usual
                && rest.starts_with("mlp.experts.");
            let gguf_name = |(rule, expert): (&TensorRule, Option<usize>)| {
                let name = match rule.change {
                    Change::WholeName | Change::MinusExponential => format!("blk.{layer}.{}", rule.to),
                    _ => format!("blk.{layer}.{}.{usual_end}", rule.to),
                };
                GgufName { name, expert, change: rule.change, is_transposed }
            };
            config.family.layer_tensors(rest).into_iter().map(gguf_name).collect()
        }
        None => {
            let tensor = whole_tensor(&name).ok_or_else(unknown)?;
            vec![GgufName {
                name: format!("{tensor}.{usual_end}"),
                expert: None,
                change: Change::Usual,
                is_transposed: false,
            }]
        }
    };
    if found.is_empty() { Err(unknown()) } else { Ok(found) }
}

fn numbers(
    config: &Config<'_>,
    interleave: bool,
    norm_offset: f32,
    target: &GgufName,
    tensor: &Stored,
    converted: Option<Converted>,
) -> Result<Numbers, FileError> {
    let unsupported = |problem: String| {
        FileError::new(FileErrorKind::Unsupported, format!("tensor '{}': {problem}", printable(&tensor.name)))
    };
    let is_norm = target.name.ends_with("norm.weight") && target.change == Change::Usual;
    let map = match target.change {
        Change::MinusExponential => Some(NumberMap::MinusExponential),
        _ if is_norm && norm_offset != 0.0 => Some(NumberMap::Plus(norm_offset)),
        _ => None,
    };
    let (kind, columns, content) = match converted {
        Some(Converted { kind, columns, values }) => (kind, columns, Content::Made(values)),
        None => {
            let kind = match tensor.kind {
                NumberType::F32 => TensorType::F32,
                NumberType::F16 => TensorType::F16,
                NumberType::BF16 => TensorType::BF16,
                other => {
                    return Err(unsupported(format!("its numbers are {other:?}, which nothing here explains")));
                }
            };
            match scale_type(tensor.kind).zip(map) {
                Some((scale_type, map)) => {
                    let values = Values::Mapped(stored_rows(tensor, 1), scale_type, map);
                    (TensorType::F32, tensor.columns(), Content::Made(values))
                }
                None => (kind, tensor.columns(), Content::Stored(tensor.clone())),
            }
        }
    };
    let dimensions: Vec<u64> = std::iter::once(columns)
        .chain(tensor.shape.iter().rev().skip(1).copied())
        .map(|size| size as u64)
        .collect();
    // Convolutions have one channel in and out.
    let dimensions = match dimensions[..] {
        [taps, 1, channels] => vec![taps, channels],
        [1, taps, channels] if target.name.ends_with("ssm_conv1d.weight") => vec![taps, channels],
        _ => dimensions,
    };
    let row_bytes = columns as u64 / kind.block_len() * kind.block_size();
    let mut numbers = Numbers {
        kind,
        dimensions: if tensor.shape.is_empty() { Vec::new() } else { dimensions },
        rows: tensor.rows(),
        stored_rows: tensor.rows(),
        row_bytes: row_bytes as usize,
        order: RowOrder::Stored,
        columns: None,
        content,
    };
    if target.is_transposed && !has_rows_of_outputs(config, target, columns)? {
        transpose(&mut numbers, tensor)
            .ok_or_else(|| unsupported(format!("{} are not the matrices of experts", tensor.shown())))?;
    }
    if let Some(heads) = config.value_heads {
        match heads.order(&target.name, numbers.rows, columns) {
            Ok(None) => {}
            Ok(Some(TensorOrder::Rows(order))) => numbers.order = order,
            Ok(Some(TensorOrder::Columns(order))) => numbers.columns = Some(order),
            Err((what, count)) => {
                return Err(unsupported(format!("{} should have {count} {what}", tensor.shown())));
            }
        }
    }
    if let Change::Alternating(_) | Change::Half(_) = target.change {
        take_apart(&mut numbers, target.change, target.name.ends_with(".bias"))
            .ok_or_else(|| unsupported(format!("{} are not the rows of two matrices", tensor.shown())))?;
    }
    let is_rotated = ["attn_q", "attn_k"]
        .iter()
        .any(|part| [".weight", ".bias"].iter().any(|end| target.name.ends_with(&format!(".{part}{end}"))));
    if interleave && config.family.interleaved && is_rotated {
        let head = config.head_dim()? as usize;
        if tensor.shape.len() == 1 {
            (numbers.rows, numbers.row_bytes) = (tensor.columns(), kind.block_size() as usize);
            numbers.stored_rows = numbers.rows;
        }
        if !head.is_multiple_of(2) || !numbers.rows.is_multiple_of(head) {
            return Err(unsupported(format!("its {} rows are not heads of {head}", numbers.rows)));
        }
        numbers.order = RowOrder::Interleaved(head);
    }
    Ok(numbers)
}

/// True if the shape tells that matrices of experts need not be transposed.
fn has_rows_of_outputs(config: &Config<'_>, target: &GgufName, columns: usize) -> Result<bool, FileError> {
    if config.family.joined_experts != JoinedExperts::ByShape {
        return Ok(false);
    }
    let is_down = target.name.ends_with("ffn_down_exps.weight");
    let inputs = config.text.count(if is_down { "moe_intermediate_size" } else { "hidden_size" })?;
    Ok(inputs == Some(columns as u64))
}

/// Exchanges rows and columns of the matrices of experts. `None` if they are none.
fn transpose(numbers: &mut Numbers, tensor: &Stored) -> Option<()> {
    let ([experts, inputs, outputs], Content::Stored(stored)) = (&tensor.shape[..], &numbers.content) else {
        return None;
    };
    let number_bytes = numbers.kind.block_size() as usize;
    let values =
        Values::Transposed { numbers: stored_rows(stored, experts * inputs), number_bytes, inputs: *inputs };
    numbers.dimensions = [inputs, outputs, experts].map(|&size| size as u64).to_vec();
    numbers.rows = experts * outputs;
    (numbers.stored_rows, numbers.row_bytes) = (numbers.rows, inputs * number_bytes);
    numbers.content = Content::Made(values);
    Some(())
}

/// Takes one of the two matrices of each expert, or of their biases: `[rows, experts]`. `None` if the rows are odd.
fn take_apart(numbers: &mut Numbers, change: Change, is_bias: bool) -> Option<()> {
    if is_bias {
        // A number is a row.
        numbers.stored_rows = usize::try_from(numbers.dimensions.iter().product::<u64>()).ok()?;
        numbers.row_bytes = numbers.kind.block_size() as usize;
    }
    let rows =
        numbers.dimensions.get_mut(usize::from(!is_bias)).filter(|rows| **rows > 0 && rows.is_multiple_of(2))?;
    *rows /= 2;
    numbers.order = match change {
        Change::Half(part) => {
            let rows = usize::try_from(*rows).ok()?;
            RowOrder::Slices { of: 2 * rows, first: part * rows, rows }
        }
        Change::Alternating(part) => RowOrder::Slices { of: 2, first: part, rows: 1 },
        _ => return None,
    };
    numbers.rows = numbers.stored_rows / 2;
    Some(())
}

/// The tensor of gathered parts. The range of a derived one is its index among those.
fn info(
    name: String,
    gathered: Gathered,
    derived_file: usize,
    derived: &mut Vec<(Derived, u64)>,
) -> Result<TensorInfo, FileError> {
    let damaged = |problem: String| FileError::new(FileErrorKind::Damaged, format!("tensor '{name}': {problem}"));
    let count = gathered.parts.len();
    if let Some(missing) = (0..count).find(|index| !gathered.parts.contains_key(index)) {
        return Err(damaged(format!("expert {missing} is missing")));
    }
    let mut parts: Vec<Numbers> = gathered.parts.into_values().collect();
    let Numbers { kind, row_bytes, rows, order, columns, .. } = parts[0];
    let mut dimensions = parts[0].dimensions.clone();
    let shape = |numbers: &Numbers| (numbers.kind, numbers.dimensions.clone());
    if let Some(other) = parts.iter().position(|part| shape(part) != shape(&parts[0])) {
        return Err(damaged(format!("experts 0 and {other} differ in shape or type")));
    }
    if gathered.is_split {
        dimensions.push(count as u64);
    }
    let is_whole = !gathered.is_split && order == RowOrder::Stored && columns.is_none();
    if is_whole && let Content::Stored(stored) = &parts[0].content {
        let (file, range) = (stored.file, stored.range.clone());
        return Ok(TensorInfo { name, dimensions, kind, file, range });
    }
    let size = (rows as u64).checked_mul(row_bytes as u64).and_then(|size| size.checked_mul(count as u64));
    let Some(size) = size.filter(|&size| size < 1 << 60) else {
        return Err(damaged("its size overflows".into()));
    };
    let parts = parts.drain(..).map(|part| {
        let values = match part.content {
            Content::Stored(stored) => Values::Same(stored_rows(&stored, part.stored_rows)),
            Content::Made(values) => values,
        };
        Part { rows, order, columns, values }
    });
    let index = derived.len() as u64;
    derived.push((Derived::new(row_bytes, parts.collect()), size));
    Ok(TensorInfo { name, dimensions, kind, file: derived_file, range: index..index })
}
