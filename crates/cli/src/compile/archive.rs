//! `metalworks compile --target`: compiles kernels to machine code, in one portable archive.

use std::path::{Path, PathBuf};

use abi::Constants;
use compute::{BinaryArchive, CompileOptions, CompileTarget, Device, DynamicLibrary, FunctionDescriptor, Library};

use inference::metal::{MetalDevice, Tuning};
use inference::plan::{Plan, PlanOptions};

use super::kernels::{self, Kernel};
use super::{Compile, Failure, Result};
use crate::engine::open_model;
use crate::input;
use crate::output::{self, Outcome};

impl Compile {
    /// Compiles the listed kernels, or all that need no constants, and writes the archive.
    pub(super) fn write_archive(&self, path: &Path) -> Result<()> {
        let targets = &self.compile_targets()?;
        let device = Device::cpu().map_err(|error| Failure::NotTried(error.to_string()))?;
        if self.model.is_some() || self.synthetic.is_some() {
            return self.write_model_archive(&device, targets, path);
        }
        let libraries = self.files.iter().map(|file| Ok((&**file, self.library(&device, file)?)));
        let libraries = libraries.collect::<Result<Vec<(&Path, Library)>>>()?;
        let list = self.list()?;
        let archive = BinaryArchive::new();
        let kernels = match list.is_empty() {
            true => add_all(&archive, &libraries, targets)?,
            false => {
                for kernel in &list {
                    let (file, library) = find(&libraries, &kernel.name)?;
                    let function = FunctionDescriptor { library, name: &kernel.name, constants: &kernel.constants };
                    add(&archive, &function, targets).map_err(|error| failed(file, error))?;
                }
                list.len()
            }
        };
        self.finish_archive(&archive, kernels, path)
    }

    fn finish_archive(&self, archive: &BinaryArchive, kernels: usize, path: &Path) -> Result<()> {
        archive.serialize(path).map_err(|error| Failure::NotTried(error.to_string()))?;
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let kernels = output::count(kernels, "kernel");
        let targets = self.targets.join(", ");
        output::result(&format!("{}: {kernels} for {targets}, {bytes} bytes\n", path.display()))?;
        Ok(())
    }

    /// Compiles all pipelines of a model for each target, whose devices divide the work in their own way.
    fn write_model_archive(&self, cpu: &Device, targets: &[CompileTarget], path: &Path) -> Result<()> {
        let refused = |error: &dyn std::fmt::Display| Failure::Refused(error.to_string());
        let model = open_model(self.model.as_deref(), self.synthetic.as_deref());
        let model = model.map_err(|problem| match problem.outcome {
            Outcome::Refused => Failure::Refused(problem.message),
            _ => Failure::NotTried(problem.message),
        })?;
        let (archive, mut kernels) = (BinaryArchive::new(), 0);
        for target in targets {
            let device = MetalDevice::with_tuning(cpu.clone(), None, Tuning::of_target(target));
            let device = device.map_err(|error| refused(&error))?;
            let pipelines = Plan::pipelines(&device, &model, &PlanOptions::default());
            let pipelines = pipelines.map_err(|error| refused(&error))?;
            device.compile(&pipelines, &archive, target).map_err(|error| refused(&error))?;
            kernels = kernels.max(pipelines.len());
        }
        self.finish_archive(&archive, kernels, path)
    }

    fn compile_targets(&self) -> Result<Vec<CompileTarget>> {
        let parse = |text: &String| text.parse().map_err(|error| Failure::NotTried(format!("--target: {error}")));
        self.targets.iter().map(parse).collect()
    }

    fn list(&self) -> Result<Vec<Kernel>> {
        let mut list: Vec<Kernel> = Vec::new();
        let from_file = match &self.kernels {
            Some(file) => kernels::read_list(file).map_err(Failure::NotTried)?,
            None => Vec::new(),
        };
        for kernel in self.kernel.iter().chain(&from_file) {
            if !list.iter().any(|known| known.name == kernel.name && known.constants == kernel.constants) {
                list.push(kernel.clone());
            }
        }
        match &self.kernels {
            Some(file) if list.is_empty() => {
                Err(Failure::Refused(format!("{}: the list is empty", file.display())))
            }
            _ => Ok(list),
        }
    }

    fn dynamic_libraries(&self, device: &Device) -> Result<Vec<DynamicLibrary>> {
        let open = |file: &PathBuf| device.new_dynamic_library_with_file(file).map_err(|error| failed(file, error));
        self.link.iter().map(open).collect()
    }

    fn library(&self, device: &Device, file: &Path) -> Result<Library> {
        if input::is_library(file) && !self.link.is_empty() {
            let name = input::display_name(file);
            return Err(Failure::Refused(format!(
                "{name}: with --target, --link goes with shaders, not libraries"
            )));
        }
        let options = self.language.options();
        let options = CompileOptions {
            name: input::display_name(file),
            include_dirs: options.include_dirs,
            defines: options.defines,
            language_version: options.std,
            math_mode: self.math.mode(),
            math_functions: self.math.functions(),
            libraries: self.dynamic_libraries(device)?,
            ..CompileOptions::default()
        };
        let library = if input::is_stdin(file) {
            device.new_library_with_source(&input::stdin().map_err(Failure::NotTried)?, &options)
        } else if input::is_library(file) {
            device.new_library_with_file(file)
        } else {
            device.new_library_with_source_file(file, &options)
        };
        library.map_err(|error| failed(file, error))
    }
}

/// Adds all kernels that need no constants and are supported, returns their number, and warns about the others.
fn add_all(archive: &BinaryArchive, libraries: &[(&Path, Library)], targets: &[CompileTarget]) -> Result<usize> {
    let constants = Constants::new();
    let mut added = 0;
    let mut unsupported = Vec::new();
    for (file, library) in libraries {
        for name in library.function_names() {
            let function = FunctionDescriptor { library, name: &name, constants: &constants };
            match add(archive, &function, targets) {
                Ok(()) => added += 1,
                Err(compute::Error::Constants { problem, .. }) => {
                    let file = input::display_name(file);
                    output::warning(&format!(
                        "{file}: kernel '{name}' is left out: {problem}; list it with --kernel"
                    ))?;
                }
                Err(compute::Error::Unsupported { what, .. }) => {
                    let file = input::display_name(file);
                    unsupported.push(format!("{file}: kernel '{name}' is left out: {what} is not supported"));
                }
                Err(error) => return Err(failed(file, error)),
            }
        }
    }
    for problem in &unsupported {
        output::warning(problem)?;
    }
    match added {
        0 if !unsupported.is_empty() => Err(Failure::Refused("no kernel can be compiled".into())),
        0 if libraries.iter().all(|(_, library)| library.function_names().is_empty()) => {
            let files: Vec<_> = libraries.iter().map(|(file, _)| input::display_name(file)).collect();
            Err(Failure::Refused(format!("{}: no kernels", files.join(", "))))
        }
        0 => Err(Failure::Refused("every kernel needs function constants: list kernels with --kernel".into())),
        added => Ok(added),
    }
}

fn add(archive: &BinaryArchive, function: &FunctionDescriptor, targets: &[CompileTarget]) -> compute::Result<()> {
    targets.iter().try_for_each(|target| archive.add_compute_pipeline_function(function, target))
}

/// The library with a kernel.
fn find<'l>(libraries: &'l [(&'l Path, Library)], name: &str) -> Result<(&'l Path, &'l Library)> {
    let mut found =
        libraries.iter().filter(|(_, library)| library.function_names().iter().any(|known| known == name));
    match (found.next(), found.next()) {
        (Some((file, library)), None) => Ok((file, library)),
        (Some((first, _)), Some((second, _))) => {
            let (first, second) = (input::display_name(first), input::display_name(second));
            Err(Failure::Refused(format!("kernel '{name}' is in both '{first}' and '{second}'")))
        }
        (None, _) => {
            let files: Vec<String> = libraries.iter().map(|(file, _)| input::display_name(file)).collect();
            let names: Vec<String> = libraries.iter().flat_map(|(_, library)| library.function_names()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let problem = crate::reflect::no_such_kernel(name, &names);
            Err(Failure::Refused(format!("{}: {problem}", files.join(", "))))
        }
    }
}

fn failed(file: &Path, error: compute::Error) -> Failure {
    use compute::Error as Compute;
    match error {
        Compute::Source { errors, diagnostics } => {
            let summary = msl::diagnostics::render::summary(errors, 0).unwrap_or_default();
            Failure::Source(format!("{}\n{}\n", diagnostics.trim_end(), summary.trim_end()))
        }
        Compute::File { .. } | Compute::Write { .. } | Compute::OutOfMemory { .. } | Compute::Internal(_) => {
            Failure::NotTried(error.to_string())
        }
        error => Failure::Refused(format!("{}: {error}", input::display_name(file))),
    }
}
