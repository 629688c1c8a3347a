//! Pipelines of the shader library: which library has a kernel, how its pipeline is made, and which ones a plan needs.

use super::dispatch::SIMD_WIDTH;
use super::kernels;
use super::library::Shader;
use compute::{
    BinaryArchive, ComputePipelineDescriptor, ComputePipelineState, Device, Error, FunctionDescriptor,
    KernelConstants, Library, LibraryOrigin, PipelineConfig, Result, Simdgroups,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

/// The pipelines that a forward plan needs, each once, in the order in which they were declared.
#[derive(Clone, Default, Debug)]
pub struct PipelineSet {
    configs: Vec<PipelineConfig>,
    known: HashSet<PipelineConfig>,
}

impl PipelineSet {
    /// A plan that needs nothing.
    pub fn new() -> PipelineSet {
        PipelineSet::default()
    }

    /// Declares that a kernel with these function constants will be needed, for threadgroups of any size.
    pub fn declare(&mut self, kernel: &str, constants: impl KernelConstants) -> &mut PipelineSet {
        self.declare_config(PipelineConfig::new(kernel, constants))
    }

    /// Declares a pipeline with all that can be said about it.
    pub fn declare_config(&mut self, config: PipelineConfig) -> &mut PipelineSet {
        if self.known.insert(config.clone()) {
            self.configs.push(config);
        }
        self
    }

    /// The pipelines.
    pub fn iter(&self) -> std::slice::Iter<'_, PipelineConfig> {
        self.configs.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.configs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.configs.is_empty()
    }
}

impl Extend<PipelineConfig> for PipelineSet {
    fn extend<I: IntoIterator<Item = PipelineConfig>>(&mut self, configs: I) {
        for config in configs {
            self.declare_config(config);
        }
    }
}

impl FromIterator<PipelineConfig> for PipelineSet {
    fn from_iter<I: IntoIterator<Item = PipelineConfig>>(configs: I) -> PipelineSet {
        let mut set = PipelineSet::new();
        set.extend(configs);
        set
    }
}

/// Which library has a kernel. Read when a pipeline is created, never when one is found.
#[derive(Default)]
pub(super) struct Libraries {
    kernels: RwLock<BTreeMap<String, Place>>,
}

/// Where a kernel is.
#[derive(Clone)]
struct Place {
    library: Library,
    library_name: Arc<str>,
}

impl Libraries {
    /// Adds kernels; none where one of them is there already.
    pub(super) fn add(
        &self,
        library_name: &str,
        library: &Library,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let place = Place { library: library.clone(), library_name: library_name.into() };
        let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
        let mut added = BTreeMap::new();
        for name in names.into_iter().map(Into::into) {
            if let Some(other) = kernels.get(&name) {
                return Err(Error::Usage(format!(
                    "kernel '{name}' of the library '{library_name}' is in the library '{}' already: host names must \
                     differ",
                    other.library_name
                )));
            }
            added.insert(name, place.clone());
        }
        kernels.append(&mut added);
        Ok(())
    }

    pub(super) fn kernel_names(&self) -> Vec<String> {
        self.kernels.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Where the kernels of each library come from, by its name.
    pub(super) fn origins(&self) -> BTreeMap<String, LibraryOrigin> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        kernels.values().map(|place| (place.library_name.to_string(), place.library.origin())).collect()
    }

    fn find(&self, kernel: &str) -> Result<Library> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        match kernels.get(kernel) {
            Some(place) => Ok(place.library.clone()),
            None => {
                let similar = kernels.keys().find(|name| name.contains(kernel) || kernel.contains(name.as_str()));
                Err(Error::NoFunction { name: kernel.into(), similar: similar.cloned() })
            }
        }
    }
}

/// The host names of a shader's kernels.
pub(super) fn kernel_names(shader: &'static Shader) -> impl Iterator<Item = &'static str> {
    kernels::ALL.iter().filter(|kernel| kernel.shader.name == shader.name).map(|kernel| kernel.name)
}

/// Creates the pipelines of a cache. Their labels are how their keys read.
pub(super) fn creator(
    device: Device,
    libraries: Arc<Libraries>,
    archive: Option<BinaryArchive>,
) -> impl Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync {
    move |config| {
        let key = config.key();
        let (library, constants) = (libraries.find(key.kernel())?, key.constants()?);
        let function = FunctionDescriptor { library: &library, name: key.kernel(), constants: &constants };
        let descriptor = ComputePipelineDescriptor {
            label: Some(key.to_string()),
            thread_group_size_is_multiple_of_thread_execution_width: key.simdgroups() != Simdgroups::Any,
            thread_group_width_is_multiple_of_thread_execution_width: key.simdgroups() == Simdgroups::Rows,
            binary_archives: archive.iter().cloned().collect(),
            ..ComputePipelineDescriptor::default()
        };
        let pipeline = device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)?;
        check_simdgroups(key.kernel(), pipeline.thread_execution_width())?;
        Ok(pipeline)
    }
}

/// Kernels are written for simdgroups of 32 threads, as all of Apple's GPUs have them. Others, such as those of Macs with
/// processors of Intel's, would compute something else.
fn check_simdgroups(kernel: &str, threads: usize) -> Result<()> {
    if threads == SIMD_WIDTH {
        return Ok(());
    }
    let what = format!(
        "a GPU with simdgroups of {threads} threads instead of {SIMD_WIDTH} (METALWORKS_DEVICE=cpu is another)"
    );
    Err(Error::Unsupported { kernel: kernel.into(), what })
}

#[cfg(test)]
mod tests {
    use super::check_simdgroups;

    #[test]
    fn simdgroups_of_another_size_are_refused() {
        assert!(check_simdgroups("gemv_f32_f32", 32).is_ok());
        for threads in [8, 64] {
            let error = check_simdgroups("gemv_f32_f32", threads).expect_err("kernels would be wrong").to_string();
            assert!(error.contains(&format!("simdgroups of {threads} threads")), "{error}");
        }
    }
}
