//! Compiles kernels, runs them on the CPU or on the device of `METALWORKS_DEVICE`, and returns their outputs.
//!
//! Every buffer lies between guards that are checked after the run: a lane that is masked off must not write.

use crate::until_exit::until_exit;
use bytemuck::Pod;
use metalworks_compute::reflect::{ArgumentKind, Kernel};
use metalworks_compute::{
    Buffer, CommandQueue, CompileOptions, ComputePipelineState, ConstantValue, Device, Error,
    FunctionConstantValues, Library, MathMode, Size,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes before and after the contents of each buffer.
const GUARD: usize = 256;
const GUARD_BYTE: u8 = 0xA5;

struct Machine {
    device: Device,
    queue: CommandQueue,
}

/// The CPU, or the device that `METALWORKS_DEVICE` names.
pub(crate) fn device() -> Device {
    match std::env::var_os("METALWORKS_DEVICE") {
        Some(_) => Device::system_default().expect("the device of METALWORKS_DEVICE"),
        None => Device::cpu().expect("a CPU"),
    }
}

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<&Machine> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let device = device();
        let queue = device.new_command_queue();
        until_exit(Machine { device, queue })
    })
}

/// A compiled library.
pub(crate) struct TestLibrary {
    library: Library,
    /// By name and constants: a kernel that runs on many grids is compiled once.
    pipelines: Mutex<BTreeMap<String, ComputePipelineState>>,
}

impl TestLibrary {
    /// Compiles text with fast math, Metal's default.
    pub(crate) fn new(text: &str) -> TestLibrary {
        TestLibrary::with_math(text, MathMode::Fast)
    }

    pub(crate) fn with_math(text: &str, math_mode: MathMode) -> TestLibrary {
        TestLibrary::compile(&format!("#include <metal_stdlib>\nusing namespace metal;\n{text}"), math_mode)
    }

    fn compile(text: &str, math_mode: MathMode) -> TestLibrary {
        // The first version with lambdas.
        let language_version = "metal3.2".parse().expect("a version");
        let options = CompileOptions { math_mode, language_version, ..CompileOptions::default() };
        let library = machine().device.new_library_with_source(text, &options);
        let library = library.unwrap_or_else(|error| panic!("{error}\n{}", numbered(text)));
        TestLibrary { library, pipelines: Mutex::default() }
    }

    /// Compiles a file of `tests/kernels` for all tests that use it.
    pub(crate) fn shared_file(name: &str) -> &'static TestLibrary {
        until_exit(TestLibrary::file(name))
    }

    /// Compiles a file of `tests/kernels`.
    pub(crate) fn file(name: &str) -> TestLibrary {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        TestLibrary::compile(&text, MathMode::Fast)
    }

    fn pipeline(
        &self,
        name: &str,
        constants: &FunctionConstantValues,
    ) -> metalworks_compute::Result<ComputePipelineState> {
        let key = format!("{name} {constants:?}");
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&key) {
            return Ok(pipeline.clone());
        }
        let function = self.library.new_function(name, constants)?;
        compare_interfaces(self.library.reflection(name, constants)?, function.reflection());
        let pipeline = machine().device.new_compute_pipeline_state(&function)?;
        pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    /// Begins a run of one kernel.
    pub(crate) fn kernel<'a>(&'a self, name: &'a str) -> Run<'a> {
        Run {
            source: self,
            name,
            constants: FunctionConstantValues::new(),
            arguments: Vec::new(),
            memory: Vec::new(),
        }
    }
}

/// The front end's reflection must match the compiled kernel's. Only the compiler knows which threadgroup variables and
/// arguments are unused.
fn compare_interfaces(mut source: Kernel, compiled: &Kernel) {
    assert!(source.static_threadgroup_memory >= compiled.static_threadgroup_memory, "{}", source.name);
    for (argument, compiled) in source.arguments.iter_mut().zip(&compiled.arguments) {
        assert!(argument.is_used, "{}: {}", source.name, argument.name);
        argument.is_used = compiled.is_used;
    }
    let source = Kernel {
        threadgroup_memory: compiled.threadgroup_memory.clone(),
        static_threadgroup_memory: compiled.static_threadgroup_memory,
        ..source
    };
    assert_eq!(source, *compiled);
}

fn numbered(text: &str) -> String {
    text.lines().enumerate().map(|(index, line)| format!("{:4} {line}\n", index + 1)).collect()
}

enum Argument {
    Nothing,
    Buffer(Vec<u8>),
    Bytes(Vec<u8>),
}

/// A kernel with its arguments so far: they are bound in order, from index 0.
pub(crate) struct Run<'a> {
    source: &'a TestLibrary,
    name: &'a str,
    constants: FunctionConstantValues,
    arguments: Vec<Argument>,
    memory: Vec<usize>,
}

impl Run<'_> {
    /// Sets a function constant.
    pub(crate) fn constant(mut self, index: u32, value: ConstantValue) -> Self {
        self.constants.set(index, value);
        self
    }

    /// Binds a buffer with these values at the next index.
    pub(crate) fn buffer<T: Pod>(mut self, values: &[T]) -> Self {
        self.arguments.push(Argument::Buffer(bytemuck::cast_slice(values).to_vec()));
        self
    }

    /// Binds a buffer of zeros at the next index.
    pub(crate) fn zeros<T: Pod>(self, count: usize) -> Self {
        self.buffer(&vec![T::zeroed(); count])
    }

    /// Binds a copy of this value at the next index.
    pub(crate) fn bytes<T: Pod>(mut self, value: &T) -> Self {
        self.arguments.push(Argument::Bytes(bytemuck::bytes_of(value).to_vec()));
        self
    }

    /// Leaves the next index unbound.
    pub(crate) fn unbound(mut self) -> Self {
        self.arguments.push(Argument::Nothing);
        self
    }

    /// Sets the length of the next threadgroup argument, rounded up to what Metal accepts.
    pub(crate) fn threadgroup_memory(mut self, bytes: usize) -> Self {
        self.memory.push(bytes.next_multiple_of(16));
        self
    }

    /// Runs a grid of threads, in threadgroups of this size; those at the edges may be smaller.
    pub(crate) fn threads(self, grid: impl Into<Extent>, group: impl Into<Extent>) -> Finished {
        self.dispatch(grid.into(), group.into(), true)
    }

    /// Runs a grid of whole threadgroups.
    pub(crate) fn groups(self, groups: impl Into<Extent>, group: impl Into<Extent>) -> Finished {
        self.dispatch(groups.into(), group.into(), false)
    }

    /// Runs a grid of threads; the error if that fails.
    pub(crate) fn failure(self, grid: usize, group: usize) -> Option<Error> {
        self.try_dispatch(Extent::from(grid).size(), Extent::from(group).size(), true).err()
    }

    fn dispatch(self, grid: Extent, group: Extent, in_threads: bool) -> Finished {
        let name = self.name;
        let buffers = self.try_dispatch(grid.size(), group.size(), in_threads);
        let buffers = buffers.unwrap_or_else(|error| panic!("{name}: {error}"));
        let contents = buffers.iter().enumerate().map(|(index, buffer)| {
            let Some(buffer) = buffer else { return Vec::new() };
            let bytes = buffer.read::<u8>();
            let (before, rest) = bytes.split_at(GUARD);
            let (contents, after) = rest.split_at(rest.len() - GUARD);
            let intact = |guard: &[u8]| guard.iter().all(|byte| *byte == GUARD_BYTE);
            assert!(intact(before), "{name}: wrote before the start of buffer {index}");
            assert!(intact(after), "{name}: wrote past the end of buffer {index}");
            contents.to_vec()
        });
        Finished { contents: contents.collect() }
    }

    fn try_dispatch(
        &self,
        grid: Size,
        group: Size,
        in_threads: bool,
    ) -> metalworks_compute::Result<Vec<Option<Buffer>>> {
        let Machine { device, queue } = machine();
        let pipeline = self.source.pipeline(self.name, &self.constants)?;
        let command_buffer = queue.new_command_buffer();
        let mut encoder = command_buffer.compute_command_encoder()?;
        encoder.set_compute_pipeline_state(&pipeline)?;
        // Unused arguments stay unbound: a kernel that uses one gives wrong results.
        let is_unused = |kind: ArgumentKind, index: usize| {
            let mut arguments = pipeline.reflection().arguments.iter();
            arguments.any(|argument| argument.kind == kind && argument.index as usize == index && !argument.is_used)
        };
        let mut buffers = Vec::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            buffers.push(match argument {
                Argument::Nothing => None,
                Argument::Bytes(bytes) => {
                    if !is_unused(ArgumentKind::Buffer, index) {
                        encoder.set_bytes(index, bytes)?;
                    }
                    None
                }
                Argument::Buffer(bytes) => {
                    let mut guarded = vec![GUARD_BYTE; bytes.len() + 2 * GUARD];
                    guarded[GUARD..GUARD + bytes.len()].copy_from_slice(bytes);
                    let buffer = device.new_buffer_with_bytes(&guarded)?;
                    if !is_unused(ArgumentKind::Buffer, index) {
                        encoder.set_buffer(index, &buffer, GUARD)?;
                    }
                    Some(buffer)
                }
            });
        }
        for (index, bytes) in self.memory.iter().enumerate() {
            if !is_unused(ArgumentKind::ThreadgroupMemory, index) {
                encoder.set_threadgroup_memory_length(index, *bytes)?;
            }
        }
        if in_threads {
            encoder.dispatch_threads(grid, group)?;
        } else {
            encoder.dispatch_threadgroups(grid, group)?;
        }
        encoder.end_encoding()?;
        command_buffer.commit()?;
        command_buffer.wait_until_completed()?;
        Ok(buffers)
    }
}

/// The buffers after a run.
pub(crate) struct Finished {
    contents: Vec<Vec<u8>>,
}

impl Finished {
    /// The contents of a buffer.
    pub(crate) fn read<T: Pod>(&self, index: usize) -> Vec<T> {
        elements(&self.contents[index])
    }
}

/// The elements that lie in these bytes, however they are aligned.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Up to three numbers, the others 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent(pub(crate) [usize; 3]);

impl Extent {
    fn size(self) -> Size {
        let [width, height, depth] = self.0;
        Size { width, height, depth }
    }
}

impl From<usize> for Extent {
    fn from(width: usize) -> Extent {
        Extent([width, 1, 1])
    }
}

impl From<[usize; 2]> for Extent {
    fn from([width, height]: [usize; 2]) -> Extent {
        Extent([width, height, 1])
    }
}

impl From<[usize; 3]> for Extent {
    fn from(sizes: [usize; 3]) -> Extent {
        Extent(sizes)
    }
}

/// Fails with the first few elements that differ.
#[track_caller]
pub(crate) fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: &[T], expected: impl Fn(usize) -> T) {
    let mut differences = Vec::new();
    for (index, value) in got.iter().enumerate() {
        let expected = expected(index);
        if *value != expected {
            differences.push(format!("  [{index}] is {value:?}, expected {expected:?}"));
        }
    }
    let count = differences.len();
    differences.truncate(8);
    assert!(count == 0, "{what}: {count} of {} values differ\n{}", got.len(), differences.join("\n"));
}

/// Fails unless this is the error of a command buffer whose kernel could not go on, for this reason. A device with a driver
/// has it as the driver's error, in the same words where the driver is our framework.
#[track_caller]
pub(crate) fn expect_kernel_error(error: &Error, kernel: &str, what: &str) {
    let expected = Error::Kernel { kernel: kernel.into(), what: what.into() };
    match error {
        Error::Driver { domain, description, .. } => {
            assert_eq!(domain, "MTLCommandBufferErrorDomain", "{error}");
            if cfg!(target_os = "linux") {
                assert_eq!(*description, expected.to_string());
            }
        }
        _ => assert_eq!(*error, expected),
    }
}
