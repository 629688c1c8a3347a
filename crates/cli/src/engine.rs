//! Flags and loading of models, shared by the subcommands that run them.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use compute::{BinaryArchive, CpuOptions, Device};
use inference::formats::CacheType;
use inference::generate::Sampling;
use inference::gguf::Gguf;
use inference::metal::MetalDevice;
use inference::models;
use inference::plan::{LoadProgress, Plan, PlanOptions};
use inference::synthetic::SyntheticModel;
use inference::weights::{FileError, FileErrorKind};

use crate::device::DeviceFlag;
use crate::number::positive;
use crate::output::{self, Outcome};
use crate::progress::Progress;
use crate::suggest::near_matches;

#[derive(Args)]
pub(crate) struct ModelFlags {
    /// Load a GGUF file, a folder, or a pulled model
    ///
    /// A folder is one of Hugging Face or MLX, with `config.json` and safetensors files. By default the model `smollm2`, which `metalworks pull smollm2` downloads.
    #[arg(short, long, value_name = "MODEL", help_heading = "Model")]
    model: Option<String>,

    /// Synthesize a model instead of loading one
    #[arg(long, value_name = "NAME", conflicts_with = "model", help_heading = "Model")]
    synthetic: Option<String>,

    /// Set the context length in tokens
    ///
    /// By default the model's training context, but at most 4,096.
    #[arg(short, long, value_name = "TOKENS", help_heading = "Model", value_parser = positive)]
    context: Option<NonZero<usize>>,

    #[command(flatten)]
    #[command(next_help_heading = "Model")]
    device: DeviceFlag,

    /// Load compiled kernels from an archive
    ///
    /// A file of `metalworks compile --target`, instead of the cache: needed where there is no compiler.
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    archive: Option<PathBuf>,

    /// Set the number of CPU threads
    ///
    /// By default METALWORKS_THREADS, or one per core.
    #[arg(short, long, value_name = "NUMBER", help_heading = "Model", value_parser = positive)]
    threads: Option<NonZero<usize>>,

    /// Choose f16, q8_0, q4_0 or f32 for the KV cache
    ///
    /// `q8_0` and `q4_0` round keys and values in blocks of 32: half and a
    /// quarter of the memory, and longer contexts are faster. `k=q8_0,v=q4_0`
    /// chooses for keys and values apart: f16 or q8_0 for keys, any but f32 for
    /// values.
    #[arg(long, value_name = "TYPE", default_value = "f16", hide_default_value = true, help_heading = "Model")]
    kv: CacheType,

    /// Choose f32 or q8 for quantized products
    ///
    /// `q8` rounds activations to 8 bits, with a scale for every 32, so that bytes
    /// are multiplied; products of many vectors round to f16 on a GPU, and with
    /// 16-bit weights to bf16 on some CPUs. `f32` is exact. By default `q8` on a CPU
    /// and on an NVIDIA GPU.
    #[arg(long, value_name = "TYPE", hide_possible_values = true, help_heading = "Model")]
    activations: Option<ProductType>,
}

/// Type of the activations in products with quantized weights.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProductType {
    F32,
    Q8,
}

/// The name of the type that a plan multiplies quantized weights with.
pub(crate) fn product_type(plan: &Plan) -> &'static str {
    if plan.is_packed() { "q8" } else { "f32" }
}

/// Problem with a model, for the user, with the exit status that it has.
#[derive(Debug)]
pub(crate) struct ModelProblem {
    pub(crate) message: String,
    pub(crate) outcome: Outcome,
}

impl From<String> for ModelProblem {
    fn from(message: String) -> ModelProblem {
        ModelProblem { message, outcome: Outcome::NotTried }
    }
}

impl From<FileError> for ModelProblem {
    /// A file that was read and is not a model is wrong input.
    fn from(error: FileError) -> ModelProblem {
        let unread = matches!(error.kind(), FileErrorKind::Io | FileErrorKind::WrongPart);
        let outcome = if unread { Outcome::NotTried } else { Outcome::Refused };
        ModelProblem { message: error.to_string(), outcome }
    }
}

impl ModelProblem {
    /// Prints it.
    pub(crate) fn report(&self) -> io::Result<Outcome> {
        output::error(&self.message).map(|()| self.outcome)
    }
}

/// A loaded model.
pub(crate) struct Engine {
    pub(crate) device: MetalDevice,
    pub(crate) file: Gguf,
    pub(crate) plan: Plan,
    /// Load time.
    pub(crate) seconds: f64,
}

impl ModelFlags {
    /// Loads the model.
    pub(crate) fn load(&self, sampling: Sampling, least_context: Option<usize>) -> Result<Engine, ModelProblem> {
        self.load_file(self.open()?, sampling, least_context)
    }

    /// Loads the model on a device that is prepared first.
    pub(crate) fn load_prepared(
        &self,
        sampling: Sampling,
        prepare: impl FnOnce(&Device) -> compute::Result<()>,
    ) -> Result<Engine, ModelProblem> {
        let device = self.device.find(self.threads.map(NonZero::get));
        let device = device.and_then(|device| prepare(&device).map(|()| device));
        self.load_on(device.map_err(|error| error.to_string())?, self.open()?, sampling, (None, 1))
    }

    /// Loads the model of an open file.
    pub(crate) fn load_file(
        &self,
        file: Gguf,
        sampling: Sampling,
        least_context: Option<usize>,
    ) -> Result<Engine, ModelProblem> {
        self.load_sequences(file, sampling, least_context, 1)
    }

    /// Loads the model of an open file, with several sequences.
    pub(crate) fn load_sequences(
        &self,
        file: Gguf,
        sampling: Sampling,
        least_context: Option<usize>,
        sequences: usize,
    ) -> Result<Engine, ModelProblem> {
        let device = self.device.find(self.threads.map(NonZero::get)).map_err(|error| error.to_string())?;
        self.load_on(device, file, sampling, (least_context, sequences))
    }

    fn load_on(
        &self,
        device: Device,
        file: Gguf,
        sampling: Sampling,
        (least_context, sequences): (Option<usize>, usize),
    ) -> Result<Engine, ModelProblem> {
        let start = Instant::now();
        let archive = match &self.archive {
            Some(path) => BinaryArchive::open(path),
            None => BinaryArchive::user_cache(),
        };
        let archive = archive.map_err(|error| error.to_string())?;
        let device = MetalDevice::with_device(device, archive.clone()).map_err(|error| error.to_string())?;
        let context = self.context().or(least_context);
        let packed = self.activations.map_or(device.tuning().packs, |activations| activations == ProductType::Q8);
        let options =
            PlanOptions { context, sampling, packed, cache: self.kv, sequences, ..PlanOptions::default() };
        let mut progress = Progress::new();
        let plan = Plan::load(&device, &file, &options, |now| match now {
            LoadProgress::Weights(done, total) => progress.show("loading", done, total),
            LoadProgress::Pipelines(pipelines) => {
                progress.show_count("compiling", pipelines.done as u64, pipelines.total as u64, "kernels");
            }
        });
        drop(progress);
        let plan = plan.map_err(|error| match error {
            inference::Error::Device(compute::Error::OutOfMemory { .. }) => {
                format!("{error}; a smaller --context needs less memory")
            }
            error => error.to_string(),
        })?;
        // A folder that cannot be read has a problem for each kernel.
        let problems = archive.problems();
        if let Some(problem) = problems.first() {
            let more = match problems.len() {
                1 => String::new(),
                count => format!(" (and {})", output::count(count - 1, "more problem")),
            };
            // If stderr cannot be written, the model can still answer.
            let _ = output::warning(&format!("compiled kernels are not kept for the next start: {problem}{more}"));
        }
        Ok(Engine { device, file, plan, seconds: start.elapsed().as_secs_f64() })
    }

    /// Opens the model's file.
    pub(crate) fn open(&self) -> Result<Gguf, ModelProblem> {
        open_model(self.model.as_deref(), self.synthetic.as_deref())
    }

    /// The value of `--context`.
    pub(crate) fn context(&self) -> Option<usize> {
        self.context.map(NonZero::get)
    }

    /// Number of threads of the CPU, if that is the device.
    pub(crate) fn cpu_threads(&self) -> usize {
        let options = CpuOptions { threads: self.threads.map(NonZero::get) };
        options.thread_count().unwrap_or(1)
    }

    /// True if a flag names a model.
    pub(crate) fn is_chosen(&self) -> bool {
        self.model.is_some() || self.synthetic.is_some()
    }

    /// Chooses a model, as `--model` does.
    pub(crate) fn choose(&mut self, model: String) {
        self.model = Some(model);
    }

    /// The model's name.
    pub(crate) fn name(&self) -> &str {
        self.synthetic.as_deref().or(self.model.as_deref()).unwrap_or("smollm2")
    }
}

/// Opens a file, a pulled model or a synthetic one; without a name the default model.
pub(crate) fn open_model(model: Option<&str>, synthetic: Option<&str>) -> Result<Gguf, ModelProblem> {
    if let Some(name) = synthetic {
        let model: SyntheticModel = name.parse().map_err(|error| format!("--synthetic: {error}"))?;
        return model.open().map_err(|error| error.to_string().into());
    }
    Ok(Gguf::open(find_model(model)?)?)
}

/// The path of a model's file; without a name of the default model. The error is for the user, and suggests a model of
/// a similar name.
pub(crate) fn find_model(name: Option<&str>) -> Result<PathBuf, String> {
    let Some(name) = name else {
        return models::default_model().map_err(|error| error.to_string());
    };
    models::find(name).map_err(|error| {
        let folder = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty());
        let files = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
        let path = |file: fs::DirEntry| match folder {
            Some(folder) => folder.join(file.file_name()).display().to_string(),
            None => file.file_name().display().to_string(),
        };
        let files = files.map(path).filter(|path| path.ends_with(".gguf"));
        let pulled = models::list().unwrap_or_default().into_iter();
        let pulled = pulled.filter(|model| model.is_complete).flat_map(|model| names_of(&model.name));
        let models: Vec<String> = ["smollm2".to_owned()].into_iter().chain(pulled).chain(files).collect();
        let names: Vec<&str> = models.iter().map(String::as_str).filter(|&other| other != name).collect();
        match near_matches(name, &names).first() {
            Some(near) => format!("{error}; did you mean '{near}'?"),
            None => error.to_string(),
        }
    })
}

/// The name of a downloaded model, and that of its repository, which may stand for it.
fn names_of(name: &str) -> Vec<String> {
    let parts = name.strip_prefix("hf:").map(|path| path.splitn(3, '/').collect::<Vec<_>>());
    let repository = parts.filter(|parts| parts.len() == 3).map(|parts| parts[..2].join("/"));
    [name.to_owned()].into_iter().chain(repository).collect()
}

/// Peak memory of the process in bytes, if the system reports it.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
