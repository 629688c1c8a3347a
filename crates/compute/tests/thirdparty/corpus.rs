//! The shaders of one project, and what was compiled of them.

use metalworks_compute::{
    CommandQueue, CompileOptions, ComputePipelineState, ConstantValue, Device, FunctionConstantValues, Library,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The shaders of one project.
pub(crate) struct Corpus {
    dir: PathBuf,
    options: CompileOptions,
    pub(crate) device: Device,
    pub(crate) queue: CommandQueue,
    libraries: Mutex<BTreeMap<String, Library>>,
    pipelines: Mutex<Vec<(String, FunctionConstantValues, ComputePipelineState)>>,
    compared: Mutex<BTreeSet<String>>,
}

impl Corpus {
    pub(crate) fn candle() -> Corpus {
        Corpus::new(root().join("candle"), CompileOptions::default())
    }

    pub(crate) fn ggml() -> Corpus {
        let headers = root().join("ggml");
        let options = CompileOptions {
            include_dirs: vec![headers.clone(), headers.join("ggml-metal")],
            defines: vec![("GGML_METAL_HAS_BF16".into(), Some("1".into()))],
            ..CompileOptions::default()
        };
        Corpus::new(headers.join("ggml-metal/kernels"), options)
    }

    fn new(dir: PathBuf, options: CompileOptions) -> Corpus {
        // The CPU, or the device that `METALWORKS_DEVICE` names.
        let device = match std::env::var_os("METALWORKS_DEVICE") {
            Some(_) => Device::system_default().expect("the device of METALWORKS_DEVICE"),
            None => Device::cpu().expect("a CPU"),
        };
        let queue = device.new_command_queue();
        Corpus {
            dir,
            options,
            device,
            queue,
            libraries: Mutex::default(),
            pipelines: Mutex::default(),
            compared: Mutex::default(),
        }
    }

    /// A kernel of the file `file.metal`, compiled once for each set of constants.
    pub(crate) fn pipeline(
        &self,
        file: &str,
        kernel: &str,
        constants: &[(u32, ConstantValue)],
    ) -> ComputePipelineState {
        let mut values = FunctionConstantValues::new();
        for (index, value) in constants {
            values.set(*index, value.clone());
        }
        let known = |pipelines: &MutexGuard<Vec<(String, FunctionConstantValues, ComputePipelineState)>>| {
            let same = pipelines.iter().find(|(name, constants, _)| name == kernel && *constants == values);
            same.map(|(_, _, pipeline)| pipeline.clone())
        };
        if let Some(pipeline) = known(&lock(&self.pipelines)) {
            return pipeline;
        }
        let function = self.library(file).new_function(kernel, &values).unwrap_or_else(|error| panic!("{error}"));
        let pipeline = self.device.new_compute_pipeline_state(&function);
        let pipeline = pipeline.unwrap_or_else(|error| panic!("{kernel}: {error}"));
        lock(&self.pipelines).push((kernel.into(), values, pipeline.clone()));
        pipeline
    }

    fn library(&self, file: &str) -> Library {
        let mut libraries = lock(&self.libraries);
        let compile = || {
            let path = self.dir.join(format!("{file}.metal"));
            let library = self.device.new_library_with_source_file(path, &self.options);
            library.unwrap_or_else(|error| panic!("{error}"))
        };
        libraries.entry(file.into()).or_insert_with(compile).clone()
    }

    /// Notes that a kernel's result was as it should be.
    pub(crate) fn was_compared(&self, kernel: &str) {
        lock(&self.compared).insert(kernel.into());
    }

    /// The kernels whose results were as they should be.
    pub(crate) fn compared(&self) -> BTreeSet<String> {
        lock(&self.compared).clone()
    }
}

fn root() -> PathBuf {
    std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus").into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
