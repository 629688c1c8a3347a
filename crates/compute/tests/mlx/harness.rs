//! Runs a function of the library and compares its outputs.

use crate::array::{Array, DType, Scalar};
use crate::compare::{Tolerance, UNWRITTEN, compare};
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{
    Buffer, ComputePipelineState, ConstantValue, Device, FunctionConstantValues, Library, Size,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Bytes after every buffer's content: all ones, a NaN in every floating-point type. A kernel that reads them computes
/// nonsense, and one that writes them is caught.
const GUARD: usize = 1024;
const GUARD_BYTE: u8 = 0xff;

/// One dispatch of a function and its expected outputs.
pub(crate) struct Case {
    pub(crate) function: String,
    pub(crate) constants: FunctionConstantValues,
    /// Constants that Apple's compiler has removed from the function, because nothing depends on them.
    pub(crate) removed_constants: Vec<(u32, ConstantValue)>,
    pub(crate) arguments: Vec<(usize, Argument)>,
    pub(crate) grid: CaseGrid,
}

/// The grid of a case.
#[derive(Clone, Copy)]
pub(crate) enum CaseGrid {
    /// Threads in the grid, then in a threadgroup.
    Threads([usize; 3], [usize; 3]),
    /// Threadgroups in the grid, then threads in one.
    Threadgroups([usize; 3], [usize; 3]),
}

/// An argument bound at an index.
pub(crate) enum Argument {
    /// A buffer that the kernel reads.
    Input(Array),
    /// A value or an array in constant memory.
    Bytes(Vec<u8>),
    /// A buffer that the kernel writes.
    Output(Output),
}

/// Expected contents of a buffer after the dispatch.
pub(crate) struct Output {
    pub(crate) dtype: DType,
    /// `None` for an element that must be unchanged.
    pub(crate) expected: Vec<Option<Scalar>>,
    pub(crate) tolerance: Tolerance,
}

impl Argument {
    pub(crate) fn output(
        dtype: DType,
        expected: impl IntoIterator<Item = Scalar>,
        tolerance: Tolerance,
    ) -> Argument {
        Argument::sparse(dtype, expected.into_iter().map(Some), tolerance)
    }

    /// An output of which some elements are not written.
    pub(crate) fn sparse(
        dtype: DType,
        expected: impl IntoIterator<Item = Option<Scalar>>,
        tolerance: Tolerance,
    ) -> Argument {
        Argument::Output(Output { dtype, expected: expected.into_iter().collect(), tolerance })
    }

    pub(crate) fn float_output(
        dtype: DType,
        expected: impl IntoIterator<Item = f64>,
        tolerance: Tolerance,
    ) -> Argument {
        Argument::output(dtype, expected.into_iter().map(Scalar::Float), tolerance)
    }

    pub(crate) fn int(value: i32) -> Argument {
        Argument::Bytes(value.to_le_bytes().into())
    }

    pub(crate) fn long(value: i64) -> Argument {
        Argument::Bytes(value.to_le_bytes().into())
    }

    pub(crate) fn float(value: f32) -> Argument {
        Argument::Bytes(value.to_le_bytes().into())
    }

    pub(crate) fn ints(values: &[i32]) -> Argument {
        Argument::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub(crate) fn longs(values: &[i64]) -> Argument {
        Argument::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }
}

impl Case {
    pub(crate) fn new(function: impl Into<String>, grid: CaseGrid) -> Case {
        Case {
            function: function.into(),
            constants: FunctionConstantValues::new(),
            removed_constants: Vec::new(),
            arguments: Vec::new(),
            grid,
        }
    }

    /// Binds `argument` at the next index.
    pub(crate) fn bind(self, argument: Argument) -> Case {
        let index = self.arguments.last().map_or(0, |(index, _)| index + 1);
        self.bind_at(index, argument)
    }

    pub(crate) fn bind_at(mut self, index: usize, argument: Argument) -> Case {
        self.arguments.push((index, argument));
        self
    }

    pub(crate) fn input(self, array: &Array) -> Case {
        self.bind(Argument::Input(array.clone()))
    }
}

/// The names of the library's functions that begin with `prefix`, sorted.
pub(crate) fn names(prefix: &str) -> Vec<String> {
    let mut names = library().1.function_names();
    names.retain(|name| name.starts_with(prefix));
    names.sort();
    names
}

/// The folder of the corpus with MLX's library and headers.
pub(crate) fn corpus() -> PathBuf {
    let corpus = std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus");
    PathBuf::from(corpus).join("mlx")
}

pub(crate) fn device() -> &'static Device {
    &library().0
}

/// The device and Apple's library.
pub(crate) fn library() -> &'static (Device, Library) {
    static LIBRARY: OnceLock<(Device, Library)> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let path = corpus().join("mlx.metallib");
        let device = Device::cpu().unwrap_or_else(|error| panic!("{error}"));
        let library = device.new_library_with_file(&path).unwrap_or_else(|error| panic!("{error}"));
        (device, library)
    })
}

/// The choice of functions to run.
enum Choice {
    /// Every nth.
    Every(usize),
    /// Those with this in their names.
    Only(String),
}

/// Runs the cases of every `every`th function, or of those that the environment selects. There must be exactly
/// `functions` functions, and all results must match their references.
pub(crate) fn check(family: &str, functions: usize, every: usize, cases: impl IntoIterator<Item = Case>) {
    let choice = match std::env::var("MLX_ONLY") {
        Ok(text) => Choice::Only(text),
        Err(_) => Choice::Every(every),
    };
    let (mut names, mut ran, mut dispatches, mut failures) = (BTreeSet::new(), BTreeSet::new(), 0, Vec::new());
    let mut is_chosen = false;
    for case in cases {
        if !names.contains(&case.function) {
            is_chosen = match &choice {
                Choice::Every(every) => names.len().is_multiple_of(*every),
                Choice::Only(text) => case.function.contains(text),
            };
            names.insert(case.function.clone());
        }
        if is_chosen {
            if let Err(problem) = run(&case) {
                failures.push(format!("{}: {problem}", case.function));
            }
            dispatches += 1;
            ran.insert(case.function);
        }
    }
    let (known, ran, failed) = (names.len(), ran.len(), failures.len());
    report(&format!("{family}: {ran} of {known} functions, {dispatches} dispatches, {failed} failed"));
    assert!(failures.is_empty(), "{failed} of {dispatches} failed:\n{}", failures.join("\n"));
    assert_eq!(known, functions, "functions of {family}");
}

fn run(case: &Case) -> Result<(), String> {
    let (_, library) = library();
    for written in execute(case, library)? {
        let Written { index, output, before, after } = written;
        compare(output.dtype, &output.expected, output.tolerance, &before, &after)
            .map_err(|problem| format!("output {index}: {problem}"))?;
    }
    Ok(())
}

/// An output of a dispatch, with the guard after it.
pub(crate) struct Written<'c> {
    pub(crate) index: usize,
    pub(crate) output: &'c Output,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
}

/// Runs the case's function from a library, and returns its outputs.
pub(crate) fn execute<'c>(case: &'c Case, library: &Library) -> Result<Vec<Written<'c>>, String> {
    let pipeline = pipeline(case, library)?;
    execute_pipeline(case, &pipeline)
}

/// The pipeline state of the case's function.
pub(crate) fn pipeline(case: &Case, library: &Library) -> Result<ComputePipelineState, String> {
    pipeline_with(case, &case.constants, library)
}

/// The same with other function constants.
pub(crate) fn pipeline_with(
    case: &Case,
    constants: &FunctionConstantValues,
    library: &Library,
) -> Result<ComputePipelineState, String> {
    let error = |error: metalworks_compute::Error| error.to_string();
    let function = library.new_function(&case.function, constants).map_err(error)?;
    device().new_compute_pipeline_state(&function).map_err(error)
}

/// Runs a pipeline with the case's arguments, and returns its outputs.
pub(crate) fn execute_pipeline<'c>(
    case: &'c Case,
    pipeline: &ComputePipelineState,
) -> Result<Vec<Written<'c>>, String> {
    let device = device();
    let error = |error: metalworks_compute::Error| error.to_string();
    for argument in pipeline.reflection().arguments.iter().filter(|argument| argument.kind == ArgumentKind::Buffer)
    {
        let bound = case.arguments.iter().find(|(index, _)| *index == argument.index as usize);
        let (_, bound) =
            bound.ok_or_else(|| format!("the case lacks argument {} '{}'", argument.index, argument.name))?;
        let dtype = match bound {
            Argument::Input(array) => array.dtype,
            Argument::Output(output) => output.dtype,
            Argument::Bytes(_) => continue,
        };
        if let Some(reflected) = DType::reflected(&argument.element_type)
            && reflected != dtype
        {
            return Err(format!("argument '{}' is {reflected:?}, and the case has {dtype:?}", argument.name));
        }
    }
    let queue = device.new_command_queue();
    let commands = queue.new_command_buffer();
    let mut encoder = commands.compute_command_encoder().map_err(error)?;
    encoder.set_compute_pipeline_state(pipeline).map_err(error)?;
    let mut outputs = Vec::new();
    for (index, argument) in &case.arguments {
        let mut bytes = match argument {
            Argument::Input(array) => array.bytes(),
            Argument::Bytes(bytes) => {
                encoder.set_bytes(*index, bytes).map_err(error)?;
                continue;
            }
            Argument::Output(output) => vec![UNWRITTEN; output.expected.len() * output.dtype.size()],
        };
        bytes.resize(bytes.len() + GUARD, GUARD_BYTE);
        let buffer = device.new_buffer_with_bytes(&bytes).map_err(error)?;
        encoder.set_buffer(*index, &buffer, 0).map_err(error)?;
        if let Argument::Output(output) = argument {
            outputs.push((*index, output, bytes, buffer));
        }
    }
    let size = |[width, height, depth]: [usize; 3]| Size { width, height, depth };
    let dispatched = match case.grid {
        CaseGrid::Threads(threads, group) => encoder.dispatch_threads(size(threads), size(group)),
        CaseGrid::Threadgroups(groups, group) => encoder.dispatch_threadgroups(size(groups), size(group)),
    };
    dispatched.map_err(error)?;
    encoder.end_encoding().map_err(error)?;
    commands.commit().map_err(error)?;
    commands.wait_until_completed().map_err(error)?;
    let written = |(index, output, before, buffer): (usize, &'c Output, Vec<u8>, Buffer)| {
        let after = buffer.read::<u8>().to_vec();
        Written { index, output, before, after }
    };
    Ok(outputs.into_iter().map(written).collect())
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
pub(crate) fn report(line: &str) {
    println!("{line}");
}
