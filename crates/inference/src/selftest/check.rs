//! Checks of one operation, which runs once.

use super::compare::{Compared, Difference, Tolerance, compare, compare_recorded};
use super::record::RecordedCheck;
use super::report::{Verdict, worse};
use crate::cases::{Case, Maker, Output, Problem, Purpose, Workload};
use crate::metal::MetalDevice;
use crate::metal::PipelineSet;
use crate::metal::dispatch::Encoding;
use compute::Buffer;
use std::fmt;

/// Memory limit, above that of any check or measurement.
const MEMORY: usize = 1 << 30;

/// An operation with its inputs and the expected numbers of its outputs.
pub struct Check {
    /// Buffers with the operation's inputs.
    pub inputs: Vec<Buffer>,
    /// Its outputs, with the numbers expected after [`Check::run`].
    pub outputs: Vec<Output>,
    /// Digest of the inputs.
    pub(super) digest: u32,
    workload: Workload,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").field("outputs", &self.outputs).finish_non_exhaustive()
    }
}

impl Check {
    /// Creates the buffers and evaluates the formulas.
    pub fn new(device: &MetalDevice, case: &Case) -> Result<Check, Problem> {
        let maker = maker(device, Purpose::Check);
        let workload = case.build(&maker)?;
        Ok(Check { inputs: maker.inputs(), outputs: maker.outputs(), digest: maker.digest(), workload })
    }

    /// Encodes the operation.
    pub fn encode(&self, encoding: &mut Encoding<'_>) -> compute::Result<()> {
        (self.workload)(encoding)
    }

    /// Runs the operation on the device of its buffers.
    pub fn run(&self, device: &MetalDevice) -> Result<(), Problem> {
        let command_buffer = device.command_buffer();
        let mut encoder = command_buffer.compute_command_encoder()?;
        self.encode(&mut Encoding::new(device, &mut encoder))?;
        encoder.end_encoding()?;
        command_buffer.commit()?;
        command_buffer.wait_until_completed()?;
        Ok(())
    }

    /// Compares the outputs with the formulas. Returns the worst error and its tolerance, as in
    /// [`super::CheckReport::error`], and the verdict.
    pub fn verdict(&self) -> (Option<(f64, f64)>, Verdict) {
        if let Some(output) = self.outputs.iter().find(|output| output.expected.is_none()) {
            let problem = format!("there is no formula for {}: Maker::expect states it", output.name);
            return (None, Verdict::NotRun(problem));
        }
        self.compare_with(self.outputs.iter().filter_map(|output| output.expected.as_ref()))
    }

    /// Compares the outputs with those of the same check on another device.
    pub(super) fn verdict_beside(&self, other: &Check) -> (Option<(f64, f64)>, Verdict) {
        self.compare_with(other.outputs.iter().map(Output::numbers))
    }

    fn compare_with(&self, expected: impl Iterator<Item = impl AsRef<[f64]>>) -> (Option<(f64, f64)>, Verdict) {
        let compared =
            self.outputs.iter().zip(expected).map(|(output, expected)| compare(output, expected.as_ref()));
        self.concluded(compared.collect())
    }

    /// Compares the outputs with recorded ones.
    pub(super) fn verdict_by(&self, recorded: &RecordedCheck) -> (Option<(f64, f64)>, Verdict) {
        if self.digest != recorded.inputs {
            let (found, expected) = (self.digest, recorded.inputs);
            return (None, Verdict::Wrong(vec![Difference::Inputs { found, expected }]));
        }
        if self.outputs.len() != recorded.outputs.len() {
            let problem = format!("it has {} results, not {}", self.outputs.len(), recorded.outputs.len());
            return (None, Verdict::Wrong(vec![Difference::Shape(problem)]));
        }
        let pairs = self.outputs.iter().zip(&recorded.outputs);
        self.concluded(pairs.map(|(output, expected)| compare_recorded(output, expected)).collect())
    }

    fn concluded(&self, compared: Vec<Compared>) -> (Option<(f64, f64)>, Verdict) {
        let tolerances = self.outputs.iter().map(|output| Tolerance::of(output.number).normalized_mean_square);
        let errors = compared.iter().map(|compared| compared.error).zip(tolerances);
        let error = errors.reduce(worse);
        let differences: Vec<Difference> = compared.into_iter().filter_map(|one| one.difference).collect();
        (error, if differences.is_empty() { Verdict::Passed } else { Verdict::Wrong(differences) })
    }
}

/// Pipelines that an operation needs.
pub(super) fn pipelines(device: &MetalDevice, case: &Case, purpose: Purpose) -> Result<PipelineSet, Problem> {
    let workload = case.build(&maker(device, purpose).without_numbers())?;
    let mut set = PipelineSet::new();
    workload(&mut Encoding::declaring(device, &mut set))?;
    Ok(set)
}

/// The maker of a check's or measurement's buffers.
pub(super) fn maker(device: &MetalDevice, purpose: Purpose) -> Maker<'_> {
    Maker::new(device.device(), MEMORY, purpose)
}
