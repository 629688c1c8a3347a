//! Kernels of other projects, end to end: the shaders of candle and of ggml, compiled and run unchanged, with results
//! compared with plain Rust in f64.
//!
//! `make thirdparty` downloads them and runs this; it is ignored otherwise, because it needs the download. Each module
//! has a list of the kernels that its cases must have compared, by name: a missing one is a failure.
//!
//! * `corpus`: the shaders and their compiled libraries; `run`: one dispatch; `compare`: results and
//!   references; `numbers`: types of numbers, and random ones; `quants`: the block formats; `tensor`: shapes and strides;
//!   `reference`: computations shared by several kernels.
#![cfg(llvm)]

mod candle;
mod compare;
mod corpus;
mod ggml;
mod numbers;
mod quants;
mod reference;
mod run;
mod tensor;

use corpus::Corpus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Some kernels that are tried together, and what tries them.
type Case = (&'static str, fn(&Corpus));

#[test]
#[ignore = "needs scripts/corpus.sh; run by make thirdparty"]
fn candle_matches_the_references() {
    run_all(&Corpus::candle(), candle::CASES, candle::KERNELS);
}

#[test]
#[ignore = "needs scripts/corpus.sh; run by make thirdparty"]
fn ggml_matches_the_references() {
    run_all(&Corpus::ggml(), ggml::CASES, ggml::KERNELS);
}

/// Runs all cases, and fails when one fails or when a kernel of the list was not compared.
fn run_all(corpus: &Corpus, cases: &[Case], kernels: &str) {
    let kernels: Vec<&str> = kernels.split_whitespace().collect();
    // To look at one case alone while working on it; the list is then not checked.
    let only = std::env::var("METALWORKS_CASE").ok();
    let mut failed = Vec::new();
    for (name, case) in cases.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        let begin = Instant::now();
        if catch_unwind(AssertUnwindSafe(|| case(corpus))).is_err() {
            failed.push(*name);
        }
        report(&format!("{name}: {:.1?}", begin.elapsed()));
    }
    let compared = corpus.compared();
    let lost: Vec<_> = kernels.iter().filter(|kernel| !compared.contains(**kernel)).collect();
    let unlisted: Vec<_> = compared.iter().filter(|kernel| !kernels.contains(&kernel.as_str())).collect();
    report(&format!("{} kernels compared", compared.len()));
    assert!(failed.is_empty(), "cases that failed: {failed:?}");
    if only.is_none() {
        assert!(lost.is_empty(), "kernels that no case compared: {lost:?}");
        assert!(unlisted.is_empty(), "kernels that are not in the list: {unlisted:?}");
    }
}

#[allow(clippy::print_stdout, reason = "how long each case takes is good to know")]
fn report(line: &str) {
    println!("{line}");
}
