//! `metalworks exec`: runs one kernel.
//!
//! ```text
//! FILE, KERNEL, --const ── library, function ── reflection ─┐
//! --arg, --threadgroup-memory, --out ── source ── data ── bind ── dispatch ── report
//! --threads, --grid, --threadgroup ────────────────────── grid ─┘
//! ```

mod bind;
mod data;
mod dispatch;
mod error;
mod grid;
mod report;
mod source;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use abi::Constants;
use clap::Args;
use compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, Device, DynamicLibrary, Function, FunctionDescriptor,
    Library, LibraryType, LinkedFunctions, Size, SourceLocation,
};
use msl::reflect::{Argument, Kernel, Reflection};

use crate::constants::ConstantFlags;
use crate::device::DeviceFlag;
use crate::findings::ValidationFlags;
use crate::input;
use crate::interrupt::KernelInterrupt;
use crate::language::{LanguageFlags, MathFlags};
use crate::output::{self, Outcome};
use crate::reflect::{no_such_kernel, not_a_kernel};
use bind::{Binder, Bindings, Limits, Wanted};
use dispatch::Dispatch;
use error::Error;
use grid::DispatchShape;
use report::Report;
use source::{Given, Key};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks exec add_arrays.metal add_arrays --threads 1024 \\
    --arg a=@a.npy --arg b=ones:f32:1024 --arg result=zeros:f32:1024 \\
    --out result=sum.npy
  metalworks exec gemv.metallib gemv --const K=u32:128 \\
    --const USE_BIAS=bool:false --arg 0=rand:f32:64x128 \\
    --arg 1=rand:f32:128 --arg 2=zeros:f32:64 --grid 64 --threadgroup 32 \\
    --print 2 --repeat 100 --time
  metalworks exec tile.metal sum --validate --arg in=rand:f32:1000 \\
    --arg out=zeros:f32:4 --grid 4 --threadgroup 256

Messages of os_log go to stderr. Ctrl-C stops the kernel and says where it was.

Exit status: 0 success, 1 the shader or an argument is wrong or --validate
found a mistake, 2 a file could not be read or written, or there is no such
device, 130 Ctrl-C.";

#[derive(Args)]
pub(crate) struct Exec {
    /// Load a shader or .metallib; `-` reads a shader from stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Run this kernel
    #[arg(value_name = "KERNEL")]
    kernel: String,

    /// Bind an argument, by index or name
    ///
    /// VALUE is a file: @x.npy of NumPy, or any other as raw bytes; an array: zeros:f32:1024, ones:f16:32x128,
    /// full:f32:8:0.5, iota:u32:64, rand:f32:64:SEED or uninit:f32:1024, zeros that --validate does not let the kernel
    /// read before it writes them; numbers: u32:4096, f32:1,2,3 or float4:1,2,3,4; the fields of a struct:
    /// struct:n=4096,scale=0.5,size=8:8:1; or the visible functions of a table: functions:f,g. Types are Metal's, or
    /// bool, i8 to i64, u8 to u64, f16, bf16 and f32. They must match the argument; bytes: before VALUE binds
    /// anything.
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = Given::parse, help_heading = "Bindings")]
    arguments: Vec<Given>,

    #[command(flatten)]
    #[command(next_help_heading = "Bindings")]
    constants: ConstantFlags,

    /// Set the size of a threadgroup argument
    #[arg(long, value_name = "KEY=BYTES", value_parser = threadgroup_memory, help_heading = "Bindings")]
    threadgroup_memory: Vec<(Key, usize)>,

    /// Run this many threads
    ///
    /// One to three numbers, such as 1000 or 64,64. Threadgroups at an edge that they do not divide are smaller. By
    /// default a threadgroup has up to 256 threads.
    #[arg(long, value_name = "X,Y,Z", value_parser = grid::size, help_heading = "Dispatch", conflicts_with = "grid")]
    threads: Option<Size>,

    /// Run this many threadgroups
    #[arg(long, value_name = "X,Y,Z", value_parser = grid::size, help_heading = "Dispatch", requires = "threadgroup")]
    grid: Option<Size>,

    /// Choose the size of a threadgroup
    #[arg(long, value_name = "X,Y,Z", value_parser = grid::size, help_heading = "Dispatch")]
    threadgroup: Option<Size>,

    #[command(flatten)]
    #[command(next_help_heading = "Dispatch")]
    device: DeviceFlag,

    /// Use functions of a dynamic library
    ///
    /// A .metallib that `metalworks compile --dynamic` wrote, or a shader. The kernel may call its functions. May be
    /// given several times: the first that has a function counts.
    #[arg(long, value_name = "FILE", help_heading = "Compilation")]
    link: Vec<PathBuf>,

    /// Load compiled kernels from a file
    ///
    /// Written by `metalworks compile --target`. May be given several times; the cache is searched after them.
    #[arg(long = "archive", value_name = "FILE", help_heading = "Compilation")]
    archives: Vec<PathBuf>,

    /// Do not use the cache of compiled kernels
    #[arg(long, help_heading = "Compilation")]
    no_cache: bool,

    #[command(flatten)]
    language: LanguageFlags,

    #[command(flatten)]
    math: MathFlags,

    #[command(flatten)]
    validation: ValidationFlags,

    /// Write an argument to a file
    ///
    /// To a .npy file with the type and shape of the bound data, to any other file as raw bytes. With --repeat, the
    /// contents after the first run.
    #[arg(long = "out", value_name = "KEY=FILE", value_parser = out, help_heading = "Output")]
    outputs: Vec<(Key, PathBuf)>,

    /// Print the first values of an argument
    ///
    /// Eight values, or the given number: --print y:100. With --repeat, the values after the first run.
    #[arg(long, value_name = "KEY[:COUNT]", value_parser = print, help_heading = "Output")]
    print: Vec<(Key, usize)>,

    /// Repeat the run on the same buffers
    #[arg(long, value_name = "TIMES", default_value_t = 1, hide_default_value = true, help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,

    /// Print execution times
    ///
    /// The median and minimum of all runs in nanoseconds, and the bytes of all buffers divided by the median: the
    /// bandwidth of a kernel that accesses each byte once.
    #[arg(long, help_heading = "Output")]
    time: bool,

    /// Print JSON
    ///
    /// One object: the dispatch, its times, and the outputs with the printed values.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A kernel with its constants.
enum Code {
    /// An archive has some of its code; its reflection needs no compilation.
    Archived {
        library: Library,
        constants: Constants,
        reflection: Kernel,
    },
    Function {
        library: Library,
        constants: Constants,
        function: Function,
    },
}

impl Code {
    /// The functions of the same file that tables name, with the same constants.
    fn linked_functions(&self, tables: &[(u32, Vec<String>)]) -> Result<LinkedFunctions, Error> {
        let (Code::Archived { library, constants, .. } | Code::Function { library, constants, .. }) = self;
        let mut linked = LinkedFunctions::default();
        for name in tables.iter().flat_map(|(_, names)| names).filter(|name| !name.is_empty()) {
            if !linked.functions.iter().any(|function| function.name() == name) {
                linked.functions.push(library.new_visible_function(name, constants)?);
            }
        }
        Ok(linked)
    }

    fn reflection(&self) -> &Kernel {
        match self {
            Code::Archived { reflection, .. } => reflection,
            Code::Function { function, .. } => function.reflection(),
        }
    }
}

/// The reflection of a kernel in a `.metallib`, before its constants are set.
#[cfg(llvm)]
fn reflect_library(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<Reflection> {
    let file = input::bytes(path).ok()?;
    let library = air::metallib::Library::parse(&file).ok()?;
    air::reflect::reflect_library(&library, is_wanted).ok()
}

/// Reading LLVM bitcode needs LLVM.
#[cfg(not(llvm))]
fn reflect_library(_: &Path, _: impl Fn(&str) -> bool) -> Option<Reflection> {
    None
}

impl Exec {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let device = match self.device.find(None).map(|device| (self.validation.apply(&device), device)) {
            Ok((Ok(()), device)) => device,
            Ok((Err(error), _)) | Err(error) => {
                return output::error(&error.to_string()).map(|()| Outcome::NotTried);
            }
        };
        device.set_log_handler(|message| {
            // Without stderr, messages are lost, and the kernel runs anyway.
            let _ = output::diagnostics(&format!("{message}\n"));
        });
        let (mut outcome, mut stopped_at) = (Outcome::Fine, None);
        match self.try_run(&device) {
            // The findings are the result.
            Ok(_) if self.validation.has_own_output() => {}
            Ok(report) if self.json => output::json_result(&report.to_json())?,
            Ok(report) => output::result(&report.to_text())?,
            Err(errors) => {
                for error in errors {
                    match error {
                        Error::Found(finding) => stopped_at = Some(*finding),
                        Error::Mistake(_, finding) if self.validation.is_on() => stopped_at = Some(*finding),
                        error => outcome = outcome.max(self.print_error(error)?),
                    }
                }
            }
        }
        let place = || self.kernel_place();
        Ok(outcome.max(match outcome {
            Outcome::Fine => self.validation.print(&device, stopped_at, place)?,
            _ => self.validation.print_after_error(&device, stopped_at, place)?,
        }))
    }

    /// Runs the kernel; returns the report, or all errors.
    fn try_run(&self, device: &Device) -> Result<Report, Vec<Error>> {
        let archives = self.archives().map_err(|error| vec![error])?;
        let code = self.code(device, &archives).map_err(|error| vec![error])?;
        let (bindings, grid) = self.check(device, code.reflection())?;
        let dispatch = self.dispatch(device, &code, &archives, bindings, grid).map_err(|error| vec![error])?;
        let interrupt = KernelInterrupt::new(device);
        self.finish(&dispatch).map_err(|error| match error {
            Error::Refused(message) if interrupt.happened() => vec![Error::Interrupted(message)],
            error => vec![error],
        })
    }

    /// Archives to search for compiled kernels.
    fn archives(&self) -> Result<Vec<BinaryArchive>, Error> {
        let mut archives = Vec::new();
        for file in &self.archives {
            archives.push(BinaryArchive::open(file)?);
        }
        if !self.no_cache {
            archives.push(BinaryArchive::user_cache()?);
        }
        Ok(archives)
    }

    /// The kernel: its code from an archive, or the function to compile.
    fn code(&self, device: &Device, archives: &[BinaryArchive]) -> Result<Code, Error> {
        let constants = self.constants.values().map_err(Error::Refused)?;
        let library = self.library(device)?;
        let descriptor = FunctionDescriptor { library: &library, name: &self.kernel, constants: &constants };
        if let Some(reflection) = device.archived_reflection(&descriptor, archives) {
            return Ok(Code::Archived { library, constants, reflection });
        }
        let function = library.new_function(&self.kernel, &constants).map_err(|error| match error {
            compute::Error::NoFunction { name, .. } => {
                let names = library.function_names();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let problem = match self.other_stage() {
                    Some(stage) => not_a_kernel(&name, &stage),
                    None => no_such_kernel(&name, &names),
                };
                Error::Refused(format!("{}: {problem}", input::display_name(&self.file)))
            }
            error => Error::from(error),
        })?;
        Ok(Code::Function { library, constants, function })
    }

    fn compile_options(&self, file: &Path) -> CompileOptions {
        let options = self.language.options();
        CompileOptions {
            name: input::display_name(file),
            include_dirs: options.include_dirs,
            defines: options.defines,
            language_version: options.std,
            math_mode: self.math.mode(),
            math_functions: self.math.functions(),
            ..CompileOptions::default()
        }
    }

    fn dynamic_libraries(&self, device: &Device) -> Result<Vec<DynamicLibrary>, Error> {
        let open = |file: &PathBuf| {
            let options = CompileOptions {
                library_type: LibraryType::Dynamic,
                install_name: Some(input::display_name(file)),
                ..self.compile_options(file)
            };
            match input::is_library(file) {
                true => device.new_dynamic_library_with_file(file),
                false => device.new_dynamic_library(&device.new_library_with_source_file(file, &options)?),
            }
        };
        let named =
            |file: &PathBuf| open(file).map_err(|error| Error::from(error).within(&input::display_name(file)));
        self.link.iter().map(named).collect()
    }

    fn library(&self, device: &Device) -> Result<Library, Error> {
        let options = self.compile_options(&self.file);
        if input::is_stdin(&self.file) {
            let source = input::stdin().map_err(Error::NotTried)?;
            return Ok(device.new_library_with_source(&source, &options)?);
        }
        match input::is_library(&self.file) {
            true => Ok(device.new_library_with_file(&self.file)?),
            false => Ok(device.new_library_with_source_file(&self.file, &options)?),
        }
    }

    /// Checks all flags before the kernel is compiled.
    fn check(&self, device: &Device, kernel: &Kernel) -> Result<(Bindings, DispatchShape), Vec<Error>> {
        let own_limit = kernel.max_total_threads_per_threadgroup.map_or(usize::MAX, |own| own as usize);
        let limit = device.max_threads_per_threadgroup().width.min(own_limit);
        let grid = DispatchShape::new(self.grid, self.threads, self.threadgroup, abi::LANES, limit);
        match (self.bind(device, kernel), grid) {
            (Ok(bindings), Ok(grid)) => Ok((bindings, grid)),
            (bindings, grid) => {
                let mut errors = bindings.err().unwrap_or_default();
                errors.extend(grid.err().map(Error::Refused));
                Err(errors)
            }
        }
    }

    fn bind(&self, device: &Device, kernel: &Kernel) -> Result<Bindings, Vec<Error>> {
        let printed = self.print.iter().map(|(key, _)| ("--print", key));
        let outputs = self.outputs.iter().map(|(key, _)| ("--out", key)).chain(printed);
        let wanted = Wanted {
            arguments: &self.arguments,
            threadgroup_memory: &self.threadgroup_memory,
            outputs: outputs.collect(),
        };
        let limits = Limits {
            buffer: device.max_buffer_length(),
            threadgroup_memory: device.max_threadgroup_memory_length(),
        };
        let all_arguments = || self.all_arguments();
        Binder::new(kernel, &all_arguments, limits).bind(&wanted)
    }

    /// All arguments of the kernel, whatever its constants.
    fn all_arguments(&self) -> Vec<Argument> {
        let kernels = self.reflect().into_iter().flat_map(|reflection| reflection.kernels);
        kernels.filter(|kernel| kernel.name == self.kernel).flat_map(|kernel| kernel.arguments).collect()
    }

    /// The stage of a function that has the kernel's name, but is none.
    fn other_stage(&self) -> Option<String> {
        let functions = self.reflect()?.functions;
        functions.into_iter().find(|function| function.name == self.kernel).map(|function| function.stage)
    }

    /// The beginning of the kernel in its source.
    fn kernel_place(&self) -> Option<SourceLocation> {
        let kernel = self.reflect()?.kernels.into_iter().find(|kernel| kernel.name == self.kernel)?;
        let is_known = !kernel.file.is_empty() && kernel.line > 0;
        is_known.then_some(SourceLocation {
            file: kernel.file,
            line: kernel.line,
            column: 1,
            function: kernel.name,
        })
    }

    /// Reflection of the file, whatever the constants are.
    fn reflect(&self) -> Option<Reflection> {
        match input::is_library(&self.file) {
            true => reflect_library(&self.file, |name| name == self.kernel),
            false => {
                input::compile(&self.file, &self.language.options()).ok().map(|compilation| compilation.reflect())
            }
        }
    }

    fn dispatch(
        &self,
        device: &Device,
        code: &Code,
        archives: &[BinaryArchive],
        bindings: Bindings,
        grid: DispatchShape,
    ) -> Result<Dispatch, Error> {
        let descriptor = ComputePipelineDescriptor {
            threads_per_threadgroup: grid.is_whole().then_some(grid.threadgroup),
            linked_functions: code.linked_functions(&bindings.tables)?,
            preloaded_libraries: self.dynamic_libraries(device)?,
            binary_archives: archives.to_vec(),
            ..ComputePipelineDescriptor::default()
        };
        let start = Instant::now();
        let pipeline = match code {
            Code::Archived { library, constants, .. } => {
                let function = FunctionDescriptor { library, name: &self.kernel, constants };
                device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)?
            }
            Code::Function { function, .. } => {
                device.new_compute_pipeline_state_with_descriptor(function, &descriptor)?
            }
        };
        let created_in = start.elapsed();
        for problem in archives.iter().flat_map(BinaryArchive::problems) {
            // It runs anyway.
            let _ = output::warning(&problem);
        }
        Ok(Dispatch::new(device, pipeline, created_in, grid, bindings)?)
    }

    /// Runs the kernel and collects the outputs, after the first run: with --repeat, a kernel that adds to its output
    /// would otherwise give other results.
    fn finish(&self, dispatch: &Dispatch) -> Result<Report, Error> {
        let mut nanoseconds = vec![dispatch.run()?];
        let mut outputs = Vec::new();
        for (key, path) in &self.outputs {
            outputs.push(dispatch.output(key)?.write(path)?);
        }
        for (key, count) in &self.print {
            outputs.push(dispatch.output(key)?.print(*count));
        }
        for _ in 1..self.repeat {
            nanoseconds.push(dispatch.run()?);
        }
        Ok(Report::new(dispatch, nanoseconds, self.time, outputs))
    }

    fn print_error(&self, error: Error) -> io::Result<Outcome> {
        let (outcome, message) = match error {
            Error::Shader(diagnostics) => {
                output::diagnostics(&diagnostics)?;
                return Ok(Outcome::Refused);
            }
            Error::Refused(message) | Error::Mistake(message, _) => (Outcome::Refused, message),
            Error::NotTried(message) => (Outcome::NotTried, message),
            Error::Found(finding) => (Outcome::Refused, finding.to_string()),
            Error::Interrupted(message) => (Outcome::Interrupted, message),
        };
        output::error(&message)?;
        Ok(outcome)
    }
}

/// Parses `KEY=BYTES`.
fn threadgroup_memory(text: &str) -> Result<(Key, usize), String> {
    let form = "threadgroup memory is given as KEY=BYTES, such as 0=1024";
    let (key, bytes) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or(form)?;
    Ok((Key::parse(key), bytes.parse().map_err(|_| form)?))
}

/// Parses `KEY=FILE`.
fn out(text: &str) -> Result<(Key, PathBuf), String> {
    let (key, path) = text.split_once('=').unwrap_or((text, ""));
    match path {
        _ if key.is_empty() => Err("an output is given as KEY=FILE, such as 2=y.npy".into()),
        "" => Err("an output is given as KEY=FILE, such as 2=y.npy; --print prints it".into()),
        "-" => Err(format!("to print values, use --print {key}; to write a file to stdout, {key}=/dev/stdout")),
        _ => Ok((Key::parse(key), path.into())),
    }
}

/// Default number of printed values.
const PRINTED: usize = 8;

/// Parses `KEY` or `KEY:COUNT`.
fn print(text: &str) -> Result<(Key, usize), String> {
    let Some((key, count)) = text.split_once(':') else { return Ok((Key::parse(text), PRINTED)) };
    let count = count.parse().map_err(|_| format!("'{count}' is not a number of values: write {key}:100"))?;
    Ok((Key::parse(key), count))
}
