//! Selection of cases by the name of a case, an operation, a kernel, a file or a type.

use super::case::Case;
use std::collections::BTreeSet;
use std::fmt;

/// A pattern that matches no name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    /// The pattern.
    pub pattern: String,
    /// Similar names.
    pub similar: Vec<String>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' names no case, operation, kernel, file or format", self.pattern)?;
        match self.similar.is_empty() {
            true => Ok(()),
            false => write!(f, "; similar: '{}'", self.similar.join("', '")),
        }
    }
}

impl std::error::Error for UnknownName {}

/// The cases that match any of the patterns; all cases if there are none. The error is a pattern without a match.
pub fn select(cases: Vec<Case>, patterns: &[String]) -> Result<Vec<Case>, UnknownName> {
    if patterns.is_empty() {
        return Ok(cases);
    }
    let mut wanted = vec![false; cases.len()];
    for pattern in patterns {
        // The name of a case selects that case only, although it may also be the name of another case's kernel.
        let kind = |kind: &usize| cases.iter().any(|case| is_named(case, *kind, pattern));
        let kind = (0..KINDS).find(kind).ok_or_else(|| unknown(pattern, &cases))?;
        for (case, wanted) in cases.iter().zip(&mut wanted) {
            *wanted |= is_named(case, kind, pattern);
        }
    }
    Ok(cases.into_iter().zip(wanted).filter_map(|(case, wanted)| wanted.then_some(case)).collect())
}

/// The smallest cases that together have every operation, and every type of weights, activations and caches: each kernel is
/// in one of its instances, and so is each decoder.
pub fn covering(mut cases: Vec<Case>) -> Vec<Case> {
    cases.sort_by(|left, right| (left.bytes() + left.flops()).total_cmp(&(right.bytes() + right.flops())));
    let mut covered = BTreeSet::new();
    cases.retain(|case| {
        let before = covered.len();
        covered.extend(parts(case));
        covered.len() > before
    });
    cases
}

/// The parts of a case that [`covering`] looks for.
fn parts(case: &Case) -> [String; 4] {
    let format = case.format.map_or_else(String::new, |format| format!("weights {format}"));
    [
        case.operation.name.to_owned(),
        format,
        format!("activations {}", case.activation),
        format!("cache {}", case.cache),
    ]
}

/// Kinds of names: case, operation, kernel, file, type.
const KINDS: usize = 5;

fn names(case: &Case) -> [Vec<String>; KINDS] {
    let file = case.file();
    let files = vec![file.trim_end_matches(".metal").into(), file];
    let types = case.format.map(|format| format.to_string()).into_iter().collect();
    [vec![case.name()], vec![case.operation.name.into()], case.kernels(), files, types]
}

fn is_named(case: &Case, kind: usize, pattern: &str) -> bool {
    names(case)[kind].iter().any(|name| matches(pattern.as_bytes(), name.as_bytes()))
}

/// `*` matches anything and `?` any letter; case is ignored.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        // Consecutive stars are merged: matching each on its own would take long.
        ([b'*', b'*', ..], _) => matches(&pattern[1..], name),
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| matches(rest, &name[skipped..])),
        ([b'?', rest @ ..], [_, name @ ..]) => matches(rest, name),
        ([letter, rest @ ..], [other, name @ ..]) => letter.eq_ignore_ascii_case(other) && matches(rest, name),
        _ => false,
    }
}

fn unknown(pattern: &str, cases: &[Case]) -> UnknownName {
    let mut similar: Vec<(f64, String)> = Vec::new();
    for name in cases.iter().flat_map(|case| names(case).concat()) {
        let likeness = strsim::jaro_winkler(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase());
        if likeness > 0.8 && !similar.iter().any(|(_, known)| *known == name) {
            similar.push((likeness, name));
        }
    }
    similar.sort_by(|left, right| right.0.total_cmp(&left.0));
    let similar = similar.into_iter().take(5).map(|(_, name)| name).collect();
    UnknownName { pattern: pattern.into(), similar }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::case::{checked, measured};
    use crate::cases::shape::MODELS;

    fn selected(patterns: &[&str]) -> Result<Vec<String>, String> {
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        let cases = select(measured(&MODELS[0])?, &patterns).map_err(|unknown| unknown.to_string())?;
        Ok(cases.iter().map(Case::name).collect())
    }

    #[test]
    fn selects_by_case_operation_kernel_file_and_format() {
        assert_eq!(selected(&["gemv_q4_0_f32"]).unwrap(), ["gemv_q4_0_f32"]);
        assert_eq!(selected(&["gemv_many_q4_0_f32"]).unwrap(), ["gemv_many_q4_0_f32"]);
        assert_eq!(selected(&["rms_norm"]).unwrap(), ["rms_norm_f32", "rms_norm_f16"]);
        assert_eq!(selected(&["attention_reduce_f16"]).unwrap().len(), 10);
        assert_eq!(selected(&["softmax.metal", "top_k"]).unwrap(), ["softmax_f32", "softmax_f16", "top_k"]);
        assert!(selected(&["Q6_K"]).unwrap().iter().all(|name| name.contains("q6_K")));
        assert_eq!(selected(&["h*_norm_f??"]).unwrap(), ["head_rms_norm_f32", "head_rms_norm_f16"]);
        assert_eq!(selected(&[]).unwrap().len(), measured(&MODELS[0]).unwrap().len());
    }

    #[test]
    fn covering_cases_have_every_operation_and_type() {
        let all_parts = |cases: &[Case]| cases.iter().flat_map(parts).collect::<BTreeSet<_>>();
        let (all, few) = (checked().unwrap(), covering(checked().unwrap()));
        assert_eq!(all_parts(&few), all_parts(&all));
        assert!(few.len() * 4 < all.len(), "{} of {}", few.len(), all.len());
        let least = |cases: &[Case]| {
            let of_softmax = cases.iter().filter(|case| case.operation.name == "softmax");
            of_softmax.map(Case::bytes).fold(f64::MAX, f64::min)
        };
        assert_eq!(least(&few), least(&all));
    }

    #[test]
    fn unknown_names_suggest_similar_ones() {
        let problem = selected(&["gemv", "rmsnorm_f32"]).unwrap_err();
        assert!(problem.starts_with("'rmsnorm_f32' names no case"), "{problem}");
        assert!(problem.contains("similar: 'rms_norm_f32'"), "{problem}");
        let problem = selected(&["zzz"]).unwrap_err();
        assert!(problem.ends_with("names no case, operation, kernel, file or format"), "{problem}");
    }
}
