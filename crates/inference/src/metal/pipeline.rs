//! Pipelines of the shader library: the library of each kernel, the creation of pipelines, and the set that a plan
//! needs.

use super::dispatch::SIMD_WIDTH;
use super::kernels;
use super::library::Shader;
use compute::{
    BinaryArchive, ComputePipelineDescriptor, ComputePipelineState, Device, Error, FunctionDescriptor,
    KernelConstants, Library, LibraryOrigin, PipelineConfig, Result, Simdgroups,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

/// Pipelines that a forward plan needs, without duplicates, in the order of declaration.
#[derive(Clone, Default, Debug)]
pub struct PipelineSet {
    configs: Vec<PipelineConfig>,
    known: HashSet<PipelineConfig>,
}

impl PipelineSet {
    /// An empty set.
    pub fn new() -> PipelineSet {
        PipelineSet::default()
    }

    /// Declares a pipeline for a kernel with these function constants, for threadgroups of any size.
    pub fn declare(&mut self, kernel: &str, constants: impl KernelConstants) -> &mut PipelineSet {
        self.declare_config(PipelineConfig::new(kernel, constants))
    }

    /// Declares a pipeline by its full configuration.
    pub fn declare_config(&mut self, config: PipelineConfig) -> &mut PipelineSet {
        if self.known.insert(config.clone()) {
            self.configs.push(config);
        }
        self
    }

    /// Iterates over the pipelines.
    pub fn iter(&self) -> std::slice::Iter<'_, PipelineConfig> {
        self.configs.iter()
    }

    /// Number of pipelines.
    pub fn len(&self) -> usize {
        self.configs.len()
    }

    /// True if no pipeline was declared.
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

/// Maps kernels to their libraries. Read when a pipeline is created, not on a cache hit.
#[derive(Default)]
pub(super) struct Libraries {
    kernels: RwLock<BTreeMap<String, KernelLibrary>>,
}

/// The library that defines a kernel.
#[derive(Clone)]
struct KernelLibrary {
    library: Library,
    library_name: Arc<str>,
}

impl Libraries {
    /// Adds kernels: all of them, or none if one of the names is taken.
    pub(super) fn add(
        &self,
        library_name: &str,
        library: &Library,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<()> {
        let entry = KernelLibrary { library: library.clone(), library_name: library_name.into() };
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
            added.insert(name, entry.clone());
        }
        kernels.append(&mut added);
        Ok(())
    }

    pub(super) fn kernel_names(&self) -> Vec<String> {
        self.kernels.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Origin of each library, by name.
    pub(super) fn origins(&self) -> BTreeMap<String, LibraryOrigin> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        kernels.values().map(|entry| (entry.library_name.to_string(), entry.library.origin())).collect()
    }

    pub(super) fn find(&self, kernel: &str) -> Result<Library> {
        let kernels = self.kernels.read().unwrap_or_else(PoisonError::into_inner);
        match kernels.get(kernel) {
            Some(entry) => Ok(entry.library.clone()),
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

/// Returns the function that creates pipelines on a cache miss. A pipeline's label is the text of its key.
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

/// Kernels are written for simdgroups of 32 threads, the size on all Apple GPUs. On GPUs with another size, such as
/// those of Intel Macs, they would compute wrong results.
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
    fn rejects_simdgroups_of_another_size() {
        assert!(check_simdgroups("gemv_f32_f32", 32).is_ok());
        for threads in [8, 64] {
            let error = check_simdgroups("gemv_f32_f32", threads).expect_err("kernels would be wrong").to_string();
            assert!(error.contains(&format!("simdgroups of {threads} threads")), "{error}");
        }
    }
}
