//! Dynamic libraries: `--dynamic` writes one, `--link` checks kernels against others.

use std::collections::BTreeSet;
use std::path::Path;

use air::metallib::{Function, FunctionKind, Header, Library};

use super::{Compile, Contents, Failure, LeftOut, Result, place_of};
use crate::input;
use crate::output;

/// The libraries of `--link`.
#[derive(Default)]
pub(crate) struct Linked {
    /// Names under which programs find them.
    pub(crate) install_names: Vec<String>,
    symbols: BTreeSet<String>,
}

impl Linked {
    pub(crate) fn read<'f>(files: impl IntoIterator<Item = &'f std::path::PathBuf>) -> Result<Linked> {
        let mut linked = Linked::default();
        for file in files {
            let bytes = input::bytes(file).map_err(Failure::NotTried)?;
            let refused = |error: String| Failure::Refused(format!("{}: {error}", file.display()));
            let library = Library::parse(&bytes).map_err(|error| refused(error.to_string()))?;
            if !library.is_dynamic() {
                return Err(refused("--link takes a dynamic library; write one with --dynamic".into()));
            }
            linked.install_names.push(library.install_name().unwrap_or_default());
            let exported = library.functions().iter().filter(|function| function.kind == FunctionKind::Unqualified);
            linked.symbols.extend(exported.map(|function| function.name().to_owned()));
        }
        Ok(linked)
    }

    /// Fails if a function calls one that neither these libraries nor its own have.
    pub(crate) fn check(&self, file: &Path, function: &Function) -> Result<()> {
        let refused = |error: String| Failure::Refused(format!("{}: {error}", input::display_name(file)));
        let bitcode = function.bitcode().map_err(|error| refused(error.to_string()))?;
        let undefined = air::undefined_symbols(bitcode, function.name()).map_err(refused)?;
        match undefined.iter().find(|symbol| !self.symbols.contains(*symbol)) {
            Some(symbol) => Err(refused(format!("function '{}': undefined symbol '{symbol}'", function.name()))),
            None => Ok(()),
        }
    }
}

impl Compile {
    /// Writes the functions of all files that kernels of other libraries can call.
    pub(super) fn write_dynamic(&self, path: &Path) -> Result<()> {
        let linked = Linked::read(&self.link)?;
        let macos = air::AirVersion::of(self.language.options().std).macos;
        let mut library = Library::new(Header::for_macos(macos));
        let mut left_out = Vec::new();
        for file in &self.files {
            let contents = self.exported(file)?;
            left_out.extend(contents.left_out);
            for function in contents.functions {
                linked.check(file, &function)?;
                let added = library.add(function);
                added.map_err(|error| Failure::Refused(format!("{}: {error}", input::display_name(file))))?;
            }
        }
        if library.functions().is_empty() {
            return Err(match left_out.is_empty() {
                true => Failure::Refused("there is no function that other libraries could call".into()),
                false => super::none_compiled(&left_out),
            });
        }
        for LeftOut { place, function, error } in &left_out {
            output::warning(&format!("{place}: {function} is left out: {error}"))?;
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        library.make_dynamic(self.install_name.as_deref().unwrap_or(&name));
        library.link_with(linked.install_names.iter().map(String::as_str));
        let bytes = library.write().map_err(|error| Failure::Refused(format!("{}: {error}", path.display())))?;
        compute::files::replace_with(path, &bytes)
            .map_err(|error| Failure::NotTried(format!("cannot write '{}': {error}", path.display())))?;
        let count = output::count(library.functions().len(), "function");
        output::result(&format!("{}: dynamic library, {count}, {} bytes\n", path.display(), bytes.len()))?;
        Ok(())
    }

    fn exported(&self, file: &Path) -> Result<Contents> {
        if input::is_library(file) {
            let name = input::display_name(file);
            return Err(Failure::Refused(format!("{name}: --dynamic takes shaders, not libraries")));
        }
        let options = msl::Options { math: self.math.of_compiler(), ..self.language.options() };
        let compilation = input::compile_or_report(file, &options)?.map_err(Failure::Said)?;
        let source = self.source(&compilation);
        let (mut functions, mut left_out) = (Vec::new(), Vec::new());
        for (_, function) in air::exports(&compilation.program) {
            match air::compile_export(source, function, self.math.of_compiler()) {
                Ok(compiled) => functions.push(compiled),
                Err(error) => {
                    let place = place_of(&error, &compilation).unwrap_or_else(|| input::display_name(file));
                    let function = format!("function '{}'", compilation.program.function(function).name);
                    left_out.push(LeftOut { place, function, error });
                }
            }
        }
        Ok(Contents { header: Header::for_macos(air::AirVersion::of(options.std).macos), functions, left_out })
    }
}
