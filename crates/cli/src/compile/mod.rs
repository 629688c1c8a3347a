//! `metalworks compile`: compiles shaders to a `.metallib` or to machine code, or prints a stage for one kernel.

mod archive;
mod kernels;
pub(crate) mod link;
pub(crate) mod merge;

use std::io;
use std::path::{Path, PathBuf};

use abi::{Constants, Lanes, Threadgroups};
use air::Specialized;
use air::metallib::{Function, FunctionKind, Header, Library};
use air::simt::{self, Architecture};
use air::wave::{self, Target};
use clap::Args;
use msl::program::{EntryPoint, Program, Stage as FunctionStage};

use crate::constants::ConstantFlags;
use crate::input;
use crate::language::{LanguageFlags, MathFlags};
use crate::output::{self, Outcome};
use kernels::Kernel;
use link::Linked;
use merge::Merge;

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks compile gemv.metal softmax.metal -o kernels.metallib
  metalworks compile gemv.metal --emit air gemv
  metalworks compile gemv.metal --emit asm gemv --const 0=u32:128 \\
      --const USE_BIAS=bool:false
  metalworks compile util.metal --dynamic -o util.metallib
  metalworks compile gemv.metal softmax.metal --target cpu:x86-64-v3 \\
      --kernel 'gemv[K=u32:4096,USE_BIAS=bool:true]' --kernel softmax \\
      -o kernels.mwarchive
  metalworks compile --target sm_90a --synthetic llama-8b:q4_0 -o llama.mwarchive

A function that is not supported yet (textures, graphics) is left out with a warning;
it is an error if it was asked for by name, or if no function is left.

Exit status: 0 success, 1 a file has errors or cannot be compiled, 2 a file could
not be read or written.";

#[derive(Args)]
pub(crate) struct Compile {
    /// Compile these shaders or libraries; `-` is stdin
    #[arg(value_name = "FILES", required_unless_present_any = ["model", "synthetic"])]
    files: Vec<PathBuf>,

    /// Write this library or archive
    #[arg(short, long, value_name = "FILE", required_unless_present = "emit", conflicts_with = "emit")]
    output: Option<PathBuf>,

    /// Print a stage of one kernel instead
    ///
    /// `air` is the AIR in a library; with --const, after setting the function constants. `llvm` is the optimized LLVM
    /// IR of a simdgroup of 32 lanes for this machine's CPU, and `asm` its machine code. `ptx` is the code for an NVIDIA
    /// GPU; --target names it, such as `sm_90a`.
    #[arg(long, value_names = ["STAGE", "KERNEL"], num_args = 2)]
    emit: Option<Vec<String>>,

    /// Compile to machine code for a target
    ///
    /// `cpu` is the CPU of this machine, `cpu:NAME` another one: `cpu:x86-64-v3` runs on all with AVX2, `cpu:x86-64-v4`
    /// on all with AVX-512. `sm_90a` is an NVIDIA GPU, here Hopper; code for `sm_80` runs on all later ones, too. The
    /// archive is for programs without a compiler, such as one on a server, which must have
    /// the same version as this one and open the same shaders. May be given several times: a program uses the best code
    /// that its machine can run. With --emit ptx, the architecture of an NVIDIA GPU, such as `sm_80` or `sm_90a`.
    #[arg(long = "target", value_name = "TARGET", conflicts_with_all = ["debug_info"])]
    #[arg(help_heading = "Machine code")]
    targets: Vec<String>,

    /// Compile this kernel, with constants
    ///
    /// `--kernel softmax`, `--kernel 'gemv[K=u32:4096,USE_BIAS=bool:true]'`; constants as in --const. May be given
    /// several times. By default, all kernels that need no constants are compiled.
    #[arg(long, value_name = "NAME[CONSTANTS]", value_parser = Kernel::parse, requires = "targets")]
    #[arg(help_heading = "Machine code")]
    kernel: Vec<Kernel>,

    /// Compile the kernels listed in a file
    ///
    /// One per line, in the form of --kernel; `#` starts a comment.
    #[arg(long, value_name = "FILE", requires = "targets", help_heading = "Machine code")]
    kernels: Option<PathBuf>,

    /// Compile a model's kernels
    ///
    /// All that a GGUF file or a pulled model needs; no weights are read. The archive serves `run`, `bench` and `perplexity` with the
    /// default context, and any sampling.
    #[arg(short, long, value_name = "MODEL", requires = "targets", conflicts_with = "files")]
    #[arg(help_heading = "Machine code")]
    model: Option<String>,

    /// Compile a synthetic model's kernels
    #[arg(long, value_name = "NAME", requires = "targets", conflicts_with_all = ["model", "files"])]
    #[arg(help_heading = "Machine code")]
    synthetic: Option<String>,

    /// Write a dynamic library
    ///
    /// It has the functions that shaders of other libraries declare and call: all but static, inline and template
    /// functions, and no kernels.
    #[arg(long, requires = "output", conflicts_with_all = ["emit", "targets"], help_heading = "Dynamic libraries")]
    dynamic: bool,

    /// Set the name of the dynamic library
    ///
    /// The name under which programs find it; by default the name of the file.
    #[arg(long, value_name = "NAME", requires = "dynamic", help_heading = "Dynamic libraries")]
    install_name: Option<String>,

    /// Use functions of a dynamic library
    ///
    /// The shaders may call its functions, which are linked when a pipeline state is created. May be given several
    /// times.
    #[arg(long, value_name = "FILE", help_heading = "Dynamic libraries")]
    link: Vec<PathBuf>,

    #[command(flatten)]
    constants: ConstantFlags,

    #[command(flatten)]
    math: MathFlags,

    /// Write source lines of instructions
    ///
    /// As debug information, which makes a library half as large again. Without it, a library has the location of each
    /// kernel.
    #[arg(short = 'g')]
    debug_info: bool,

    #[command(flatten)]
    language: LanguageFlags,
}

/// The reason of a failure, and its exit status. `Said` was already reported.
pub(crate) enum Failure {
    Said(Outcome),
    /// Diagnostics of a source.
    Source(String),
    Refused(String),
    NotTried(String),
    Output(io::Error),
}

impl Failure {
    pub(crate) fn report(self) -> io::Result<Outcome> {
        match self {
            Failure::Said(outcome) => Ok(outcome),
            Failure::Source(text) => output::diagnostics(&text).map(|()| Outcome::Refused),
            Failure::Refused(message) => output::error(&message).map(|()| Outcome::Refused),
            Failure::NotTried(message) => output::error(&message).map(|()| Outcome::NotTried),
            Failure::Output(error) => Err(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Compile {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        match on_a_large_stack(|| self.compile()) {
            Ok(()) => Ok(Outcome::Fine),
            Err(failure) => failure.report(),
        }
    }

    fn compile(&self) -> Result<()> {
        let constants = self.constants.values().map_err(Failure::NotTried)?;
        match (&self.emit.as_deref(), &self.output) {
            (Some([stage, kernel]), _) => self.print(Stage::parse(stage, &self.targets)?, kernel, &constants),
            (_, Some(_)) if !constants.is_empty() => {
                Err(Failure::NotTried("--const goes with --emit: a library keeps its function constants".into()))
            }
            (_, Some(path)) if self.dynamic => self.write_dynamic(path),
            (_, Some(path)) if self.targets.is_empty() => self.write(path),
            (_, Some(path)) => self.write_archive(path),
            _ => Err(Failure::NotTried("give --output or --emit".into())),
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        let linked = Linked::read(&self.link)?;
        let mut merge = Merge::new();
        let mut left_out = Vec::new();
        for file in &self.files {
            let contents = self.functions(file, None)?;
            if !self.link.is_empty() {
                contents.functions.iter().try_for_each(|function| linked.check(file, function))?;
            }
            merge.add(file, contents.header, contents.functions)?;
            left_out.extend(contents.left_out);
        }
        let (mut library, undescribed) = merge.finish();
        if let Some(function) = undescribed {
            let path = path.display();
            output::warning(&format!("{path}: no reflection list, since '{function}' cannot be described in one"))?;
        }
        if library.functions().is_empty() && !left_out.is_empty() {
            return Err(none_compiled(&left_out));
        }
        for LeftOut { place, function, error } in &left_out {
            output::warning(&format!("{place}: {function} is left out: {error}"))?;
        }
        library.link_with(linked.install_names.iter().map(String::as_str));
        let bytes = library.write().map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
        compute::files::replace_with(path, &bytes)
            .map_err(|error| Failure::NotTried(format!("cannot write '{}': {error}", path.display())))?;
        let count = |kind| library.functions().iter().filter(|function| function.kind == kind).count();
        let (visible, intersection) = (count(FunctionKind::Visible), count(FunctionKind::Intersection));
        let mut contents = output::count(library.functions().len() - visible - intersection, "kernel");
        for (number, kind) in [(visible, "visible function"), (intersection, "intersection function")] {
            if number > 0 {
                contents = format!("{contents}, {}", output::count(number, kind));
            }
        }
        output::result(&format!("{}: {contents}, {} bytes\n", path.display(), bytes.len()))?;
        Ok(())
    }

    fn print(&self, stage: Stage, kernel: &str, constants: &Constants) -> Result<()> {
        let mut found = None;
        for file in &self.files {
            let mut contents = self.functions(file, Some(kernel))?;
            if !contents.left_out.is_empty() {
                return Err(none_compiled(&contents.left_out));
            }
            found = contents.functions.pop().map(|function| (file, function)).or(found);
        }
        let Some((file, function)) = found else {
            let files: Vec<String> = self.files.iter().map(|file| input::display_name(file)).collect();
            return Err(Failure::Refused(format!("{}: no kernel '{kernel}'", files.join(", "))));
        };
        let refused =
            |error: String| Failure::Refused(format!("{}: kernel '{kernel}': {error}", input::display_name(file)));
        let bitcode = function.bitcode().map_err(|error| refused(error.to_string()))?;
        let text = match stage {
            Stage::Air if constants.is_empty() => {
                air::bitcode_text(bitcode, kernel).map_err(|error| refused(error.to_string()))
            }
            stage => {
                let specialized = air::specialize(bitcode, kernel, constants);
                let specialized = specialized.map_err(|error| refused(error.to_string()))?;
                stage.text(&specialized).map_err(refused)
            }
        };
        output::result(&text?)?;
        Ok(())
    }

    fn source<'p>(&self, compilation: &'p msl::Compilation) -> air::ProgramSource<'p> {
        let source = air::ProgramSource::from(compilation);
        air::ProgramSource { has_locations: self.debug_info, may_import: !self.link.is_empty(), ..source }
    }

    /// The functions of a file, or the one with this name.
    fn functions(&self, file: &Path, name: Option<&str>) -> Result<Contents> {
        let is_wanted = |candidate: &str| name.is_none_or(|name| name == candidate);
        if input::is_library(file) {
            return library_functions(file, is_wanted);
        }
        let (math, math_functions) = (self.math.of_compiler(), self.math.functions());
        let options = msl::Options { math, math_functions, ..self.language.options() };
        let compilation = input::compile_or_report(file, &options)?.map_err(Failure::Said)?;
        Ok(program_functions(self.source(&compilation), &compilation, math, file, is_wanted))
    }
}

/// Compiles the functions of a program whose names are wanted.
pub(crate) fn program_functions(
    source: air::ProgramSource,
    compilation: &msl::Compilation,
    math: msl::MathMode,
    file: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Contents {
    let (mut functions, mut left_out) = (Vec::new(), Vec::new());
    let mut take = |function, kind, name: &str| match function {
        Ok(function) => functions.push(function),
        Err(error) => {
            let place = place_of(&error, compilation).unwrap_or_else(|| input::display_name(file));
            left_out.push(LeftOut { place, function: format!("{kind} '{name}'"), error });
        }
    };
    for entry in compilation.program.kernels().filter(|entry| is_wanted(&entry.name)) {
        take(air::compile_kernel(source, entry, math), "kernel", &entry.name);
    }
    let visible = &compilation.program.visible_functions;
    for visible in visible.iter().filter(|visible| is_wanted(&visible.name)) {
        take(air::compile_visible(source, visible, math), "function", &visible.name);
    }
    for intersection in &compilation.program.intersection_functions {
        let name = &compilation.program.entry_points[intersection.entry].name;
        if is_wanted(name) {
            take(air::compile_intersection(source, intersection, math), "intersection function", name);
        }
    }
    for (stage, entry) in graphics_functions(&compilation.program).filter(|(_, entry)| is_wanted(&entry.name)) {
        let error = air::Error::Unsupported { what: "graphics".into(), span: entry.span };
        take(Err(error), stage, &entry.name);
    }
    let header = Header::for_macos(air::AirVersion::of(compilation.program.std).macos);
    Contents { header, functions, left_out }
}

/// Functions of stages that are not compiled, and the names of their kinds.
pub(crate) fn graphics_functions(program: &Program) -> impl Iterator<Item = (&'static str, &EntryPoint)> {
    let is_intersection = |index| program.intersection_functions.iter().any(|function| function.entry == index);
    program.entry_points.iter().enumerate().filter_map(move |(index, entry)| match entry.stage {
        FunctionStage::Kernel => None,
        FunctionStage::Other if is_intersection(index) => None,
        FunctionStage::Vertex => Some(("vertex function", entry)),
        FunctionStage::Fragment => Some(("fragment function", entry)),
        FunctionStage::Other => Some(("function", entry)),
    })
}

/// Functions of a file.
pub(crate) struct Contents {
    /// Header of a library with them.
    pub(crate) header: Header,
    pub(crate) functions: Vec<Function<'static>>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A function that cannot be compiled.
pub(crate) struct LeftOut {
    /// The file, with line and column if they are known.
    pub(crate) place: String,
    /// Its kind and name.
    pub(crate) function: String,
    pub(crate) error: air::Error,
}

/// The failure if there is nothing to write: an error for each function.
pub(crate) fn none_compiled(left_out: &[LeftOut]) -> Failure {
    let error = |LeftOut { place, function, error }: &LeftOut| format!("{place}: {function}: {error}");
    Failure::Refused(left_out.iter().map(error).collect::<Vec<_>>().join("\nmetalworks: error: "))
}

/// Stack size for the compiler: expressions nest, and LLVM's passes recurse.
const STACK_SIZE: usize = 64 << 20;

pub(crate) fn on_a_large_stack(work: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Failure::NotTried(format!("cannot start a thread: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Failure::NotTried("the compiler panicked: please report it".into())))
    })
}

/// Source location of an unsupported construct.
fn place_of(error: &air::Error, compilation: &msl::Compilation) -> Option<String> {
    let air::Error::Unsupported { span, .. } = error else { return None };
    if *span == msl::source::Span::default() {
        return None;
    }
    let sources = &compilation.sources;
    Some(sources.presumed(sources.outermost(*span)).to_string())
}

/// Functions of a library, unchanged, and its header.
pub(crate) fn library_functions(file: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Contents> {
    let bytes = input::bytes(file).map_err(Failure::NotTried)?;
    let refused = |error: air::metallib::ParseError| Failure::Refused(format!("{}: {error}", file.display()));
    let library = Library::parse(&bytes).map_err(refused)?;
    let wanted = library.functions().iter().filter(|function| is_wanted(function.name()));
    let owned = |function: &Function| {
        // The hash is checked here.
        function.bitcode().map_err(refused)?;
        Ok(function.clone().into_owned())
    };
    Ok(Contents {
        header: library.header,
        functions: wanted.map(owned).collect::<Result<_>>()?,
        left_out: Vec::new(),
    })
}

/// A stage to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Unoptimized AIR.
    Air,
    /// Optimized LLVM IR of a simdgroup for this machine's CPU.
    Llvm,
    /// Its machine code.
    Asm,
    /// PTX for an NVIDIA GPU.
    Ptx(Architecture),
}

impl Stage {
    fn parse(text: &str, targets: &[String]) -> Result<Stage> {
        let stage = match (text, targets) {
            ("ptx", [target]) => {
                let architecture = Architecture::named(target);
                Stage::Ptx(architecture.map_err(|error| Failure::NotTried(format!("--target: {error}")))?)
            }
            ("ptx", _) => {
                return Err(Failure::NotTried("--emit ptx needs one --target, such as --target sm_90a".into()));
            }
            ("air", _) => Stage::Air,
            ("llvm", _) => Stage::Llvm,
            ("asm", _) => Stage::Asm,
            _ => {
                let known = "air, llvm, asm, ptx";
                return Err(Failure::NotTried(format!("--emit: unknown stage '{text}'; known stages: {known}")));
            }
        };
        match (stage, targets) {
            (Stage::Ptx(_), _) | (_, []) => Ok(stage),
            _ => Err(Failure::NotTried(format!("--emit {text} is not for a --target"))),
        }
    }

    /// Prints this stage of a kernel, for simdgroups with all 32 lanes.
    fn text(self, kernel: &Specialized) -> std::result::Result<String, String> {
        let host = || Target::host().map_err(|error| error.to_string());
        match self {
            Stage::Air => kernel.text().map_err(|error| error.to_string()),
            Stage::Llvm => wave::llvm_text(kernel, &host()?, Lanes::Row).map_err(|error| error.to_string()),
            Stage::Asm => wave::asm_text(kernel, &host()?, Lanes::Row).map_err(|error| error.to_string()),
            Stage::Ptx(architecture) => {
                simt::ptx_text(kernel, &architecture, Threadgroups::Whole).map_err(|error| error.to_string())
            }
        }
    }
}
