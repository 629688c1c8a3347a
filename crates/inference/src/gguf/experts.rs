//! Experts in a tensor each, as files of early 2024 have them: `blk.0.ffn_up.7.weight`. They are read as one tensor of all,
//! `blk.0.ffn_up_exps.weight`.

use crate::weights::{
    Derived, FileError, FileErrorKind, Part, RowOrder, StoredRows, TensorInfo, Values, WeightFile, place_derived,
};
use std::collections::BTreeMap;

/// Joins the experts of each matrix. The tensors of other files stay as they are.
pub(super) fn join(files: &mut Vec<WeightFile>, tensors: Vec<TensorInfo>) -> Result<Vec<TensorInfo>, FileError> {
    let mut joined: BTreeMap<String, BTreeMap<usize, TensorInfo>> = BTreeMap::new();
    let mut others = Vec::new();
    for tensor in tensors {
        match name_of_all(&tensor.name) {
            Some((name, expert)) => {
                if let Some(twice) = joined.entry(name).or_default().insert(expert, tensor) {
                    let message = format!("tensor '{}' is there twice", twice.name);
                    return Err(FileError::new(FileErrorKind::Damaged, message));
                }
            }
            None => others.push(tensor),
        }
    }
    let derived = joined.into_iter().map(|(name, experts)| all(name, experts)).collect::<Result<_, _>>()?;
    place_derived(files, &mut others, derived);
    Ok(others)
}

/// The name of the tensor of all experts, and the number of this one; `None` for other tensors.
fn name_of_all(name: &str) -> Option<(String, usize)> {
    let parts: Vec<&str> = name.split('.').collect();
    let ["blk", layer, part @ ("ffn_gate" | "ffn_up" | "ffn_down"), expert, "weight"] = parts[..] else {
        return None;
    };
    Some((format!("blk.{layer}.{part}_exps.weight"), expert.parse().ok()?))
}

/// The tensor of all experts, for [`place_derived`].
fn all(name: String, experts: BTreeMap<usize, TensorInfo>) -> Result<(TensorInfo, Derived), FileError> {
    let damaged = |problem: String| FileError::new(FileErrorKind::Damaged, format!("tensor '{name}': {problem}"));
    let count = experts.len();
    if let Some(missing) = (0..count).find(|expert| !experts.contains_key(expert)) {
        return Err(damaged(format!("expert {missing} is missing")));
    }
    let experts: Vec<TensorInfo> = experts.into_values().collect();
    let TensorInfo { dimensions, kind, .. } = experts[0].clone();
    let like = |expert: &TensorInfo| expert.dimensions == dimensions && expert.kind == kind;
    if let Some(other) = experts.iter().position(|expert| !like(expert)) {
        return Err(damaged(format!("experts 0 and {other} differ in shape or type")));
    }
    let [columns, rows] = dimensions[..] else {
        return Err(damaged(format!("experts are {}, not matrices", experts[0].shape())));
    };
    let row_bytes = columns / kind.block_len() * kind.block_size();
    let size = experts.iter().map(TensorInfo::size).fold(0, u64::saturating_add);
    if row_bytes.checked_mul(rows).and_then(|bytes| bytes.checked_mul(count as u64)) != Some(size) {
        return Err(damaged("the sizes of experts are wrong".into()));
    }
    let part = |expert: &TensorInfo| {
        let (row_bytes, rows) = (row_bytes as usize, rows as usize);
        let stored = StoredRows { file: expert.file, start: expert.range.start, row_bytes, rows };
        Part { rows, order: RowOrder::Stored, columns: None, values: Values::Same(stored) }
    };
    let derived = Derived::new(row_bytes as usize, experts.iter().map(part).collect());
    let dimensions = vec![columns, rows, count as u64];
    Ok((TensorInfo { name, dimensions, kind, file: 0, range: 0..size }, derived))
}
