//! Agreement with Apple's compiler: a kernel from `mlx.metallib`, and the same kernel compiled from MLX's headers here,
//! must write the same bits.
//!
//! Both run on the CPU with the arguments that the other tests make, in several variants (`inputs.rs`). Outputs are
//! compared bit for bit; a NaN equals any NaN. Differences that are no errors are listed with their reason in
//! `allowed.rs`.
//!
//! `make mlx` runs a sample of the kernels, and `make mlx-agreement` all; `MLX_ONLY=text` runs those with that text in
//! their names. With `MLX_RESULTS=file`, results are appended to that file, and kernels that agreed are not run
//! again.

mod allowed;
mod bits;
mod inputs;
mod names;
pub(crate) mod others;

use crate::harness::{Case, corpus, device, execute_pipeline, library, pipeline, pipeline_with, report};
use crate::mlx_sources::{instance, source_for};
use metalworks_compute::{CompileOptions, ComputePipelineState, Library, MathMode};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;

/// Kernels in one source. Their headers are checked once per source.
const BATCH: usize = 32;

/// Runs every `every`th function that has a source, or those that the environment selects, and fails where the results
/// differ.
pub(crate) fn check<O: Into<Offer>>(family: &str, every: usize, offers: impl IntoIterator<Item = O>) {
    let only = std::env::var("MLX_ONLY").ok();
    let mut run = Run::new(family);
    let (mut names, mut is_chosen) = (BTreeSet::new(), false);
    for offer in offers {
        let Offer { function, make } = offer.into();
        if !names.contains(&function) {
            if instance(&function).is_none() {
                continue;
            }
            is_chosen = match &only {
                Some(text) => function.contains(text),
                None => names.len().is_multiple_of(every),
            };
            names.insert(function.clone());
        }
        if is_chosen && !run.is_done(&function) {
            run.add(make());
        }
    }
    run.flush();
    let (ran, dispatches, failed) = (run.functions, run.dispatches, run.failures.len());
    report(&format!(
        "agreement, {family}: {ran} of {} functions, {dispatches} dispatches, {} of them within tolerance, {failed} failed",
        names.len(),
        run.tolerated,
    ));
    assert!(failed == 0, "{failed} of {ran} functions of {family} differ:\n{}", run.failures.join("\n"));
    assert!(ran > 0 || only.is_some(), "no function of {family} has a source");
}

/// A case that is made only if its function is chosen.
pub(crate) struct Offer {
    function: String,
    make: Box<dyn FnOnce() -> Case>,
}

impl From<Case> for Offer {
    fn from(case: Case) -> Offer {
        Offer { function: case.function.clone(), make: Box::new(|| case) }
    }
}

/// The functions of a family that are compared.
struct Run {
    family: String,
    /// Cases of at most [`BATCH`] functions, by the family of their source.
    pending: BTreeMap<&'static str, Vec<Case>>,
    pending_functions: usize,
    functions: usize,
    dispatches: usize,
    /// Dispatches whose results differ, and may.
    tolerated: usize,
    failures: Vec<String>,
    results: Option<Results>,
}

impl Run {
    fn new(family: &str) -> Run {
        Run {
            family: family.into(),
            pending: BTreeMap::new(),
            pending_functions: 0,
            functions: 0,
            dispatches: 0,
            tolerated: 0,
            failures: Vec::new(),
            results: Results::open(),
        }
    }

    /// True if an earlier run has the function's result.
    fn is_done(&self, function: &str) -> bool {
        self.results.as_ref().is_some_and(|results| results.known.contains(function))
    }

    fn add(&mut self, case: Case) {
        let family = instance(&case.function).map(|instance| instance.family()).expect("it has a source");
        let cases = self.pending.entry(family).or_default();
        if cases.last().is_none_or(|last| last.function != case.function) {
            self.pending_functions += 1;
        }
        cases.push(case);
        if self.pending_functions > BATCH {
            // The last function may have more cases to come.
            let last = self.pending.get_mut(family).and_then(Vec::pop);
            self.flush();
            self.pending_functions = 1;
            self.pending.entry(family).or_default().extend(last);
        }
    }

    fn flush(&mut self) {
        for (_, cases) in std::mem::take(&mut self.pending) {
            self.compare_all(&cases);
        }
        self.pending_functions = 0;
    }

    /// Compares functions that are in one source.
    fn compare_all(&mut self, cases: &[Case]) {
        let mut names: Vec<&str> = cases.iter().map(|case| case.function.as_str()).collect();
        names.dedup();
        if names.is_empty() {
            return;
        }
        let ours = compile(&names);
        for name in names {
            let mut problem = ours.as_ref().err().cloned();
            if let Ok(ours) = &ours {
                let cases = cases.iter().filter(|case| case.function == name);
                problem = cases.into_iter().find_map(|case| self.compare(case, ours).err());
            }
            self.functions += 1;
            if let Some(results) = &mut self.results {
                results.add(&self.family, name, problem.as_deref());
            }
            self.failures.extend(problem.map(|problem| format!("{name}: {problem}")));
        }
    }

    fn compare(&mut self, case: &Case, ours: &Library) -> Result<(), String> {
        let apple = pipeline(case, &library().1).map_err(|error| format!("Apple's: {error}"))?;
        let ours = our_pipeline(case, ours).map_err(|error| format!("ours: {error}"))?;
        let bound = allowed::bound(&case.function);
        for variant in inputs::variants(&self.family, case) {
            self.dispatches += 1;
            let results = [&apple, &ours].map(|pipeline| execute_pipeline(&variant.case, pipeline));
            let [apple, ours] = results;
            let (apple, ours) = (
                apple.map_err(|error| format!("Apple's: {error}"))?,
                ours.map_err(|error| format!("ours: {error}"))?,
            );
            let mut differs = false;
            for (apple, ours) in apple.iter().zip(&ours) {
                differs |= apple.after != ours.after;
                bits::compare(apple.output.dtype, bound, &apple.after, &ours.after)
                    .map_err(|problem| format!("{} inputs, output {}: {problem}", variant.label, apple.index))?;
            }
            self.tolerated += usize::from(differs);
        }
        Ok(())
    }
}

/// Our function's pipeline. It may have function constants that Apple's optimizer removed, and Apple's may have some that
/// ours does not reach.
fn our_pipeline(case: &Case, library: &Library) -> Result<ComputePipelineState, String> {
    let mut removed = case.removed_constants.clone();
    loop {
        let mut constants = case.constants.clone();
        for (index, value) in &removed {
            constants.set(*index, value.clone());
        }
        let error = match pipeline_with(case, &constants, library) {
            Ok(pipeline) => return Ok(pipeline),
            Err(error) => error,
        };
        match removed.iter().position(|(index, _)| is_unknown_constant(&error, *index)) {
            Some(unknown) => removed.remove(unknown),
            None => return Err(error),
        };
    }
}

/// True if the error says that a function does not have this constant.
fn is_unknown_constant(error: &str, index: u32) -> bool {
    error.contains(&format!("there is no function constant with index {index};"))
}

/// The kernels from source, compiled as Apple's library was: its modules say `air.compile.fast_math_disable`.
fn compile(names: &[&str]) -> Result<Library, String> {
    let source = source_for(names).ok_or("the kernels have no common source")?;
    let options = CompileOptions {
        name: "mlx.metal".into(),
        include_dirs: vec![corpus()],
        math_mode: MathMode::Safe,
        ..CompileOptions::default()
    };
    device().new_library_with_source(&source, &options).map_err(|error| error.to_string())
}

/// A file with the results so far.
struct Results {
    file: File,
    known: BTreeSet<String>,
}

impl Results {
    fn open() -> Option<Results> {
        let path = std::env::var_os("MLX_RESULTS")?;
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // Functions that differed are run again.
        let same = text.lines().filter_map(|line| line.strip_suffix("\tsame")?.split('\t').nth(1));
        let known = same.map(String::from).collect();
        let file = OpenOptions::new().create(true).append(true).open(&path).expect("MLX_RESULTS can be written");
        Some(Results { file, known })
    }

    /// One line, so that families may share the file.
    fn add(&mut self, family: &str, name: &str, problem: Option<&str>) {
        let problem = problem.unwrap_or("same").replace(['\n', '\t'], " ");
        self.file
            .write_all(format!("{family}\t{name}\t{problem}\n").as_bytes())
            .expect("MLX_RESULTS can be written");
    }
}
