//! Test kernels written in Rust: their machine code is a thunk that calls a Rust function whose address is bound at the
//! last index.
#![allow(dead_code, reason = "each test file uses a part of it")]

use abi::{Dispatch, Entry, Lanes, Simdgroup, Threadgroup, WaveKernel};
use air::inkwell::OptimizationLevel;
use air::inkwell::context::Context;
use air::inkwell::memory_buffer::MemoryBuffer;
use air::inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetTriple};
use metalworks_compute::reflect::{Access, Argument, ArgumentKind, Kernel};
use metalworks_compute::{
    Artifact, Buffer, CommandQueue, ComputeCommandEncoder, ComputePipelineDescriptor, ComputePipelineState,
    CpuOptions, Device, Result, Size,
};
use std::sync::OnceLock;

/// Index of the Rust functions' addresses: a pair, for rows and for other simdgroups.
const FUNCTIONS: usize = 30;

/// A thunk that calls the first or second function.
fn thunk(which: usize) -> Vec<u8> {
    let ir = format!(
        "define void @thunk(ptr %dispatch, ptr %threadgroup, ptr %simdgroup, i32 %count) {{
           %slot = getelementptr ptr, ptr %dispatch, i64 {FUNCTIONS}
           %functions = load ptr, ptr %slot
           %place = getelementptr ptr, ptr %functions, i64 {which}
           %function = load ptr, ptr %place
           call void %function(ptr %dispatch, ptr %threadgroup, ptr %simdgroup, i32 %count)
           ret void
         }}\0"
    );
    Target::initialize_native(&InitializationConfig::default()).expect("LLVM knows this machine");
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "thunk");
    let module = context.create_module_from_ir(buffer).expect("the thunk is right");
    // ELF on every system: the loader is our own.
    let triple = TargetTriple::create(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH));
    let target = Target::from_triple(&triple).expect("LLVM knows this machine");
    let machine = target
        .create_target_machine(&triple, "", "", OptimizationLevel::Default, RelocMode::PIC, CodeModel::Small)
        .expect("there is such a machine");
    machine.write_to_memory_buffer(&module, FileType::Object).expect("it compiles").as_slice().to_vec()
}

/// A kernel in Rust.
#[derive(Clone)]
pub(crate) struct RustKernel {
    pub(crate) name: &'static str,
    pub(crate) row: Entry,
    pub(crate) any: Entry,
    pub(crate) has_barrier: bool,
    pub(crate) static_threadgroup_memory: u32,
    pub(crate) private_memory: u64,
    pub(crate) flush_denormals: bool,
    pub(crate) max_threads: Option<u32>,
    pub(crate) arguments: Vec<Argument>,
}

impl RustKernel {
    /// A kernel without a barrier and with `buffers` buffers of 32-bit numbers.
    pub(crate) fn new(row: Entry, any: Entry, buffers: u32) -> RustKernel {
        RustKernel {
            name: "rust",
            row,
            any,
            has_barrier: false,
            static_threadgroup_memory: 0,
            private_memory: 0,
            flush_denormals: false,
            max_threads: None,
            arguments: (0..buffers).map(|index| argument(ArgumentKind::Buffer, index, 4)).collect(),
        }
    }

    /// The reflection, with an argument for the functions.
    pub(crate) fn reflection(&self) -> Kernel {
        let mut arguments = self.arguments.clone();
        arguments.push(read_only(argument(ArgumentKind::Buffer, FUNCTIONS as u32, 16)));
        Kernel {
            name: self.name.into(),
            arguments,
            builtins: Vec::new(),
            function_constants: Vec::new(),
            threadgroup_memory: Vec::new(),
            static_threadgroup_memory: self.static_threadgroup_memory.into(),
            max_total_threads_per_threadgroup: self.max_threads,
            file: String::new(),
            line: 0,
        }
    }

    /// The code for some simdgroups, in the format of the CPU compiler.
    pub(crate) fn artifact(&self, lanes: Lanes) -> Artifact {
        static THUNKS: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        let thunks = THUNKS.get_or_init(|| [thunk(0), thunk(1)]);
        let kernel = WaveKernel {
            name: self.name.into(),
            symbol: "thunk".into(),
            object: thunks[usize::from(lanes == Lanes::Any)].clone(),
            lanes,
            has_barrier: self.has_barrier,
            static_threadgroup_memory: self.static_threadgroup_memory,
            private_memory: self.private_memory,
            flush_denormals: self.flush_denormals,
            failures: Vec::new(),
            sites: Vec::new(),
        };
        Artifact {
            target: metalworks_compute::backend::ArtifactTarget {
                backend: "cpu".into(),
                machine: std::env::consts::ARCH.into(),
                details: String::new(),
            },
            variant: lanes.name().into(),
            bytes: kernel.to_bytes().expect("it is small"),
        }
    }

    pub(crate) fn pipeline(&self, device: &Device) -> Result<ComputePipelineState> {
        self.pipeline_with_descriptor(device, &ComputePipelineDescriptor::default())
    }

    pub(crate) fn pipeline_with_descriptor(
        &self,
        device: &Device,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        self.pipeline_with_artifacts(device, &Lanes::ALL.map(|lanes| self.artifact(lanes)), descriptor)
    }

    pub(crate) fn pipeline_with_artifacts(
        &self,
        device: &Device,
        artifacts: &[Artifact],
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        // SAFETY: the thunks follow the calling convention.
        unsafe { device.new_compute_pipeline_state_with_artifacts(&self.reflection(), artifacts, descriptor) }
    }

    /// Binds the functions for the thunks.
    pub(crate) fn bind(&self, encoder: &mut ComputeCommandEncoder) -> Result<()> {
        let mut bytes = (self.row as *const () as usize).to_ne_bytes().to_vec();
        bytes.extend((self.any as *const () as usize).to_ne_bytes());
        encoder.set_bytes(FUNCTIONS, &bytes).map(|_| ())
    }

    /// Makes an argument read-only.
    pub(crate) fn reading(mut self, index: usize) -> RustKernel {
        self.arguments[index].access = Access::Read;
        self
    }
}

pub(crate) fn read_only(argument: Argument) -> Argument {
    Argument { access: Access::Read, ..argument }
}

pub(crate) fn argument(kind: ArgumentKind, index: u32, size: u64) -> Argument {
    Argument {
        name: format!("argument_{index}"),
        kind,
        index,
        ty: "device uint *".into(),
        address_space: "device".into(),
        access: Access::ReadWrite,
        element_type: "uint".into(),
        element_size: size,
        element_align: size.min(8),
        is_reference: false,
        array_length: None,
        fields: Vec::new(),
        function_constant: None,
        is_used: true,
    }
}

pub(crate) fn device(threads: usize) -> Device {
    Device::cpu_with_options(&CpuOptions { threads: Some(threads) }).expect("a CPU")
}

/// A dispatch method with its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DispatchCall {
    Threads(Size, Size),
    Threadgroups(Size, Size),
}

/// Runs a kernel once and waits for it.
pub(crate) fn run(
    queue: &CommandQueue,
    kernel: &RustKernel,
    buffers: &[&Buffer],
    grid: DispatchCall,
) -> Result<()> {
    let pipeline = kernel.pipeline(queue.device())?;
    let commands = queue.new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(&pipeline)?;
    kernel.bind(&mut encoder)?;
    for (index, buffer) in buffers.iter().enumerate() {
        encoder.set_buffer(index, buffer, 0)?;
    }
    match grid {
        DispatchCall::Threads(threads, threadgroup) => encoder.dispatch_threads(threads, threadgroup)?,
        DispatchCall::Threadgroups(groups, threadgroup) => encoder.dispatch_threadgroups(groups, threadgroup)?,
    }
    encoder.end_encoding()?;
    commands.commit()?;
    commands.wait_until_completed()
}

/// Positions in the threadgroup of the threads of `count` simdgroups.
///
/// # Safety
///
/// The arguments must be those of a kernel call.
pub(crate) unsafe fn threads(
    threadgroup: *const Threadgroup,
    simdgroup: *const Simdgroup,
    count: u32,
) -> impl Iterator<Item = [u32; 3]> {
    let (size, first) = unsafe { ((*threadgroup).size, (*simdgroup).index * 32) };
    let threads = first..(first + count * 32).min(size.iter().product());
    threads.map(move |thread| [thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]])
}

/// The buffer at an index, as numbers.
///
/// # Safety
///
/// The arguments must be those of a kernel call.
pub(crate) unsafe fn numbers(dispatch: *const Dispatch, index: usize) -> *mut u32 {
    unsafe { (*dispatch).buffers[index].cast() }
}
