//! Matrices that files have as one, with alternating rows: those of delta-nets in Qwen3-Next, and the gate and up projections
//! of experts. They are read as one tensor each, under the names that other files have.

use super::{
    Derived, FileError, FileErrorKind, Part, RowOrder, StoredRows, TensorInfo, Values, WeightFile, place_derived,
};

/// Rows of a matrix in each group of rows: the first one, and their number.
type Slice = (usize, usize);

/// A matrix of a fused one: its name, and the slices that it has of all groups, one after the other.
type Taken = (&'static str, Vec<Slice>);

/// A fused matrix.
struct Fused<'a> {
    /// Its layer, such as `blk.0`.
    layer: &'a str,
    /// Rows of a group.
    group: usize,
    matrices: Vec<Taken>,
}

/// Takes fused matrices apart; other tensors stay as they are. `count` returns a number of the metadata, whose key begins with
/// the architecture.
pub(crate) fn unfuse(
    files: &mut Vec<WeightFile>,
    tensors: Vec<TensorInfo>,
    count: &dyn Fn(&str) -> Result<u32, FileError>,
) -> Result<Vec<TensorInfo>, FileError> {
    let (mut others, mut derived) = (Vec::new(), Vec::new());
    for tensor in tensors {
        let Some(Fused { layer, group, matrices }) = parts_of(&tensor, count)? else {
            others.push(tensor);
            continue;
        };
        for (name, slices) in matrices {
            let name = format!("{layer}.{name}.weight");
            derived.push(taken(&tensor, name, group, &slices));
        }
    }
    place_derived(files, &mut others, derived);
    Ok(others)
}

/// The matrices of a tensor, if it is fused.
fn parts_of<'a>(
    tensor: &'a TensorInfo,
    count: &dyn Fn(&str) -> Result<u32, FileError>,
) -> Result<Option<Fused<'a>>, FileError> {
    let Some((layer, part)) = tensor.name.strip_suffix(".weight").and_then(|name| name.rsplit_once('.')) else {
        return Ok(None);
    };
    let rows = tensor.dimensions.get(1).and_then(|&rows| usize::try_from(rows).ok()).unwrap_or(0);
    let count = |key: &str| count(key).map(|count| count as usize);
    let (group, matrices) = match part {
        "ssm_ba" => {
            let heads = rows / 2 / count("ssm.group_count")?.max(1);
            (2 * heads, vec![("ssm_beta", vec![(0, heads)]), ("ssm_alpha", vec![(heads, heads)])])
        }
        "ssm_in" => {
            let (size, rows) = (count("ssm.state_size")?, rows / count("ssm.group_count")?.max(1));
            let values = rows.saturating_sub(2 * size) / 2;
            let qkv = vec![(0, size), (size, size), (2 * size, values)];
            (2 * (size + values), vec![("attn_qkv", qkv), ("attn_gate", vec![(2 * size + values, values)])])
        }
        "ffn_gate_up_exps" => {
            let half = rows / 2;
            (2 * half, vec![("ffn_gate_exps", vec![(0, half)]), ("ffn_up_exps", vec![(half, half)])])
        }
        _ => return Ok(None),
    };
    if group == 0 || !rows.is_multiple_of(group) {
        let message = format!("tensor '{}': {} are not the rows of whole groups", tensor.name, tensor.shape());
        return Err(FileError::new(FileErrorKind::Damaged, message));
    }
    Ok(Some(Fused { layer, group, matrices }))
}

/// One of the matrices, for [`place_derived`].
fn taken(tensor: &TensorInfo, name: String, group: usize, slices: &[Slice]) -> (TensorInfo, Derived) {
    let row_bytes = tensor.columns() / tensor.kind.block_len() * tensor.kind.block_size();
    let rows = usize::try_from(tensor.size().checked_div(row_bytes).unwrap_or(0)).unwrap_or(0);
    let groups = rows / group;
    let row_bytes = row_bytes as usize;
    let stored = StoredRows { file: tensor.file, start: tensor.range.start, row_bytes, rows };
    let part = |&(first, rows): &Slice| Part {
        rows: groups * rows,
        order: RowOrder::Slices { of: group, first, rows },
        columns: None,
        values: Values::Same(stored),
    };
    let parts: Vec<Part> = slices.iter().filter(|(_, rows)| *rows > 0).map(part).collect();
    let size: usize = parts.iter().map(|part| part.rows).sum::<usize>() * row_bytes;
    let mut dimensions = tensor.dimensions.clone();
    // Experts, the third dimension, have a group each.
    let in_matrix: u64 = slices.iter().map(|(_, rows)| *rows as u64).sum();
    dimensions[1] = dimensions[1] / group as u64 * in_matrix;
    let info = TensorInfo { name, dimensions, kind: tensor.kind, file: 0, range: 0..size as u64 };
    (info, Derived::new(row_bytes, parts))
}
