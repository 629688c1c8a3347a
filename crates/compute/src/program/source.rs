//! Metal source as a library: parsed when it is opened, or on the first use that no archive can serve.

use super::{CompileOptions, MathFunctions, MathMode};
use crate::digest::{Digest, Hasher};
use crate::error::{Error, Result};
use crate::kernel::constants::{Available, assign};
use abi::{ConstantValue, Constants};
use msl::Compilation;
use msl::program::Value;
use msl::reflect::{self, Kernel};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// A Metal source.
pub struct MetalSource {
    /// Parsed on first use, or from the start if opened eagerly.
    compilation: OnceLock<Result<Box<Compilation>>>,
    text: Cow<'static, str>,
    options: CompileOptions,
    /// Digest of everything that affects the code of its kernels; `None` if that is unknown.
    digest: Option<Digest>,
}

impl MetalSource {
    pub(crate) fn with_text(text: &str, options: &CompileOptions) -> Result<MetalSource> {
        MetalSource::read(msl::compile_source(&options.name, text, &front_end(options)), options)
    }

    pub(crate) fn with_file(path: &Path, options: &CompileOptions) -> Result<MetalSource> {
        let compilation = msl::compile_file(path, &front_end(options)).map_err(|error| Error::File {
            path: path.display().to_string(),
            reason: error.reason().to_string(),
        })?;
        MetalSource::read(compilation, options)
    }

    fn read(compilation: Compilation, options: &CompileOptions) -> Result<MetalSource> {
        let digest = digest_of_compilation(&compilation, options);
        let compilation = checked(compilation)?;
        Ok(MetalSource {
            compilation: OnceLock::from(Ok(compilation)),
            text: Cow::Borrowed(""),
            options: options.clone(),
            digest,
        })
    }

    /// A text that is parsed on first use. If it includes other files, it is parsed at once: its digest depends on
    /// them.
    pub(crate) fn deferred(text: Cow<'static, str>, options: &CompileOptions) -> MetalSource {
        let mut source = MetalSource { compilation: OnceLock::new(), text, options: options.clone(), digest: None };
        source.digest = match is_self_contained(&source.text) {
            true => digest([(&*source.options.name, &*source.text)].into_iter(), options),
            false => match source.compile() {
                Ok(compilation) => digest_of_compilation(compilation, options),
                Err(_) => None,
            },
        };
        source
    }

    /// A text for another compiler, which opens no files: includes are folded into it. A text without includes is
    /// parsed on first use.
    pub fn folded(text: Cow<'static, str>, options: &CompileOptions) -> Result<MetalSource> {
        let source = MetalSource { compilation: OnceLock::new(), text, options: options.clone(), digest: None };
        if is_self_contained(&source.text) {
            return Ok(source);
        }
        fold(msl::compile_source(&options.name, &source.text, &front_end(options)), options)
    }

    /// As [`MetalSource::folded`], for a file, which may include others from its own folder.
    pub fn folded_file(path: &Path, options: &CompileOptions) -> Result<MetalSource> {
        let compilation = msl::compile_file(path, &front_end(options)).map_err(|error| Error::File {
            path: path.display().to_string(),
            reason: error.reason().to_string(),
        })?;
        fold(compilation, &CompileOptions { name: path.display().to_string(), ..options.clone() })
    }

    /// The text for the other compiler.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its compile options.
    pub fn options(&self) -> &CompileOptions {
        &self.options
    }

    pub(crate) fn digest(&self) -> Option<Digest> {
        self.digest
    }

    #[cfg(llvm)]
    pub(crate) fn math_mode(&self) -> MathMode {
        self.options.math_mode
    }

    /// The front end's result.
    pub(crate) fn compile(&self) -> Result<&Compilation> {
        let read = || checked(msl::compile_source(&self.options.name, &self.text, &front_end(&self.options)));
        match self.compilation.get_or_init(read) {
            Ok(compilation) => Ok(compilation),
            Err(error) => Err(error.clone()),
        }
    }
}

impl MetalSource {
    /// Names of its kernels; empty if it has errors.
    pub(crate) fn names(&self) -> Vec<String> {
        let kernels = self.compile().into_iter().flat_map(|compilation| compilation.program.kernels());
        kernels.map(|entry| entry.name.to_string()).collect()
    }

    /// Its function constants. `used` are those of a kernel; others may be set, too.
    pub fn function_constants(&self, used: &[u32]) -> Result<Vec<Available>> {
        let all = reflect::function_constants(&self.compile()?.program);
        let available = |constant: &reflect::FunctionConstant| Available {
            name: constant.name.clone(),
            index: constant.index,
            ty: constant.ty.clone(),
            must_be_set: constant.required && used.contains(&constant.index),
        };
        Ok(all.iter().map(available).collect())
    }

    /// The reflection of a kernel with these constants, if its library has a source; `None` if there is no such kernel.
    pub fn reflection(source: Option<&MetalSource>, kernel: &str, constants: &Constants) -> Result<Option<Kernel>> {
        match source {
            Some(source) => source.describe(kernel, constants),
            None => {
                let what = "reflecting a kernel of a .metallib without compiling it".into();
                Err(Error::Unsupported { kernel: kernel.into(), what })
            }
        }
    }

    /// The reflection of a kernel with these constants; `None` if there is no such kernel.
    pub fn describe(&self, name: &str, constants: &Constants) -> Result<Option<Kernel>> {
        let compilation = self.compile()?;
        let Some(entry) = compilation.program.kernels().find(|entry| entry.name == name) else { return Ok(None) };
        let describe = |values: &BTreeMap<u32, Value>| {
            reflect::specialize(&compilation.program, &compilation.sources, entry, values)
        };
        let available = self.function_constants(&describe(&BTreeMap::new()).function_constants)?;
        let assigned = assign(name, &available, constants)?;
        let values = assigned.into_iter().map(|(position, value)| (available[position].index, known(value)));
        Ok(Some(describe(&values.collect())))
    }
}

/// Converts a value for the front end.
fn known(value: &ConstantValue) -> Value {
    match value {
        ConstantValue::Bool(value) => Value::Bool(*value),
        ConstantValue::Char(value) => Value::Int((*value).into()),
        ConstantValue::Uchar(value) => Value::Int((*value).into()),
        ConstantValue::Short(value) => Value::Int((*value).into()),
        ConstantValue::Ushort(value) => Value::Int((*value).into()),
        ConstantValue::Int(value) => Value::Int((*value).into()),
        ConstantValue::Uint(value) => Value::Int((*value).into()),
        ConstantValue::Long(value) => Value::Int((*value).into()),
        ConstantValue::Ulong(value) => Value::Int((*value).into()),
        ConstantValue::Half(value) => Value::Float(value.to_f64()),
        ConstantValue::Bfloat(value) => Value::Float(value.to_f64()),
        ConstantValue::Float(value) => Value::Float((*value).into()),
        ConstantValue::Vector(parts) => Value::Aggregate(parts.iter().map(known).collect()),
    }
}

/// Folds all files into one text. The other compiler reports errors, except missing files.
fn fold(compilation: Compilation, options: &CompileOptions) -> Result<MetalSource> {
    if compilation.diagnostics.iter().any(|diagnostic| diagnostic.id == "include") {
        checked(compilation.clone())?;
    }
    Ok(MetalSource {
        text: msl::fold(&compilation.sources, |name| name).into(),
        compilation: OnceLock::from(checked(compilation)),
        options: options.clone(),
        digest: None,
    })
}

fn checked(compilation: Compilation) -> Result<Box<Compilation>> {
    if compilation.has_errors() {
        let errors = compilation.error_count();
        return Err(Error::Source { errors, diagnostics: compilation.render_diagnostics(false) });
    }
    Ok(Box::new(compilation))
}

fn front_end(options: &CompileOptions) -> msl::Options {
    msl::Options {
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        std: options.language_version,
        warnings: false,
        math: super::compiler_mode(options.math_mode),
        math_functions: options.math_functions,
    }
}

/// Hashes the source. The built-in headers are part of the compiler, whose fingerprint is in every key.
fn digest_of_compilation(compilation: &Compilation, options: &CompileOptions) -> Option<Digest> {
    let mut files = compilation.sources.files().map(|(_, file)| file);
    let main = files.next()?;
    // A file that is neither the main file nor included comes from the options.
    let included = files.filter(|file| !file.builtin && file.included_from.is_some());
    digest(std::iter::once(main).chain(included).map(|file| (&*file.name, &*file.text)), options)
}

/// Digest of files by name and text. Names do not affect the code, unless it asks for them.
fn digest<'a>(files: impl Iterator<Item = (&'a str, &'a str)>, options: &CompileOptions) -> Option<Digest> {
    let mut hasher = Hasher::new("source");
    let mut asks_for_names = false;
    let mut names = Vec::new();
    for (name, text) in files {
        // Its result depends on files that are not read.
        if text.contains("__has_include") {
            return None;
        }
        asks_for_names |= text.contains("__FILE__");
        names.push(name);
        hasher.text(text);
    }
    if asks_for_names {
        hasher.text("names");
        names.into_iter().for_each(|name| hasher.text(name));
    }
    hasher.text("options");
    hasher.text(&options.language_version.to_string());
    hasher.text(match options.math_mode {
        MathMode::Fast => "fast",
        MathMode::Relaxed => "relaxed",
        MathMode::Safe => "safe",
    });
    match options.math_functions {
        Some(MathFunctions::Fast) => hasher.text("fast functions"),
        Some(MathFunctions::Precise) => hasher.text("precise functions"),
        None => {}
    }
    for (name, value) in &options.defines {
        hasher.text(name);
        hasher.text(value.as_deref().unwrap_or("1"));
    }
    Some(hasher.finish())
}

/// True if a text includes only built-in headers, by `<name>`: quoted names are searched in folders first. False if in
/// doubt.
fn is_self_contained(text: &str) -> bool {
    // A directive with a line continuation, or written with a digraph.
    if text.contains("#\\") || text.contains("%:") {
        return false;
    }
    let is_comment = |line: &str| line.trim_start().starts_with("//") && !line.contains("*/");
    let directives = text.lines().filter(|line| !is_comment(line)).flat_map(|line| line.split('#').skip(1));
    directives.map(skip_blanks).all(|directive| {
        let Some(name) = directive.strip_prefix("include") else { return !directive.starts_with("/*") };
        let name = name.trim_start().strip_prefix('<').and_then(|name| name.split_once('>'));
        name.is_some_and(|(name, _)| msl::stdlib::header(name).is_some())
    })
}

/// Skips blanks and comments; a comment that does not end here stays.
fn skip_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        match text.strip_prefix("/*").map(|comment| comment.split_once("*/")) {
            Some(Some((_, rest))) => text = rest,
            Some(None) | None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <metal_stdlib>\nkernel void k(device float *x [[buffer(0)]]) { *x = SCALE; }\n";

    fn options() -> CompileOptions {
        CompileOptions { defines: vec![("SCALE".into(), Some("2".into()))], ..CompileOptions::default() }
    }

    fn eager(text: &str, options: &CompileOptions) -> Option<Digest> {
        MetalSource::with_text(text, options).expect("it has no mistakes").digest()
    }

    #[test]
    fn eager_and_deferred_sources_have_the_same_digest() {
        let deferred = MetalSource::deferred(TEXT.into(), &options());
        assert!(deferred.compilation.get().is_none(), "nothing was read");
        assert_eq!(eager(TEXT, &options()), deferred.digest());
        let other_name = CompileOptions { name: "other".into(), ..options() };
        assert_eq!(eager(TEXT, &other_name), deferred.digest());
    }

    #[test]
    fn every_input_changes_the_digest() {
        let mut digests = vec![eager(TEXT, &options()), eager(&format!("{TEXT}\n"), &options())];
        let others = [
            CompileOptions { math_mode: MathMode::Safe, ..options() },
            CompileOptions { math_mode: MathMode::Relaxed, ..options() },
            CompileOptions { math_functions: Some(MathFunctions::Precise), ..options() },
            CompileOptions { language_version: msl::LanguageVersion::new(3, 0), ..options() },
            CompileOptions { defines: vec![("SCALE".into(), None)], ..options() },
            CompileOptions { defines: [options().defines, vec![("MORE".into(), None)]].concat(), ..options() },
        ];
        digests.extend(others.iter().map(|options| eager(TEXT, options)));
        assert!(digests.iter().all(Option::is_some));
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 2 + others.len());
    }

    #[test]
    fn included_files_change_the_digest() {
        let folder = std::env::temp_dir().join(format!("metalworks-digest-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let options = CompileOptions { include_dirs: vec![folder.clone()], ..CompileOptions::default() };
        let text = "#include \"scale.h\"\nkernel void k(device float *x [[buffer(0)]]) { *x = SCALE; }\n";
        let digest = |header: &str| {
            std::fs::write(folder.join("scale.h"), header).expect("a header");
            let (eager, deferred) = (eager(text, &options), MetalSource::deferred(text.into(), &options));
            assert_eq!(eager, deferred.digest());
            eager
        };
        let (two, three) = (digest("#define SCALE 2\n"), digest("#define SCALE 3\n"));
        assert!(two.is_some() && two != three);
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn includes_are_folded() {
        let folder = std::env::temp_dir().join(format!("metalworks-folded-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("scale.h"), "#define SCALE 2\n").expect("a header");
        let text = "#include \"scale.h\"\nkernel void k(device float *x [[buffer(0)]]) { *x = SCALE; }\n";
        std::fs::write(folder.join("k.metal"), text).expect("a file");
        let options = CompileOptions { include_dirs: vec![folder.clone()], ..CompileOptions::default() };
        let sources = [
            MetalSource::folded(text.into(), &options).expect("all is there"),
            MetalSource::folded_file(&folder.join("k.metal"), &CompileOptions::default()).expect("all is there"),
        ];
        let missing = MetalSource::folded(text.into(), &CompileOptions::default());
        std::fs::remove_dir_all(&folder).expect("it is ours");
        for source in sources {
            assert!(source.text().contains("#define SCALE 2\n") && !source.text().contains("#include"));
            assert_eq!(source.names(), ["k"]);
        }
        let Err(Error::Source { diagnostics, .. }) = missing else { panic!("the file is gone") };
        assert!(diagnostics.contains("scale.h"), "{diagnostics}");
        // The other compiler reports errors, and a text without includes is not parsed.
        let wrong = "#include \"metal_stdlib\"\nkernel void k() { x; }\n";
        assert!(MetalSource::folded(wrong.into(), &CompileOptions::default()).is_ok());
        let plain = MetalSource::folded(TEXT.into(), &options).expect("nothing is read");
        assert!(plain.compilation.get().is_none() && plain.text() == TEXT);
    }

    #[test]
    fn unknown_inputs_give_no_digest() {
        let text = "#if __has_include(\"scale.h\")\n#endif\nkernel void k() {}\n";
        assert_eq!(eager(text, &CompileOptions::default()), None);
        assert_eq!(MetalSource::deferred(text.into(), &CompileOptions::default()).digest(), None);
    }

    #[test]
    fn the_name_matters_if_the_source_asks_for_it() {
        let other_name = CompileOptions { name: "other".into(), ..options() };
        let text = format!("constant int LENGTH = sizeof(__FILE__);\n{TEXT}");
        let digest = eager(&text, &options());
        assert!(digest.is_some() && digest != eager(&text, &other_name));
        assert_eq!(digest, MetalSource::deferred(text.into(), &options()).digest());
    }

    #[test]
    fn includes_are_recognized() {
        for text in [
            "",
            "  #  include <metal_stdlib>\n#include<simd/simd.h> // fine\n",
            "// #include \"a.h\"\n#endif // include/a.h\n#define NAME(x) #x\n",
        ] {
            assert!(is_self_contained(text), "{text}");
        }
        for text in [
            "#include \"a.h\"",
            "# include <a.h>",
            "#include \"metal_stdlib\"",
            "#include NAME",
            "#include",
            "/* why */ # /* not */ include \"a.h\"",
            "# /*\n*/ include \"a.h\"",
            "/*\n// */ #include \"a.h\"",
            "#\\\ninclude \"a.h\"",
            "%:include \"a.h\"",
        ] {
            assert!(!is_self_contained(text), "{text}");
        }
    }
}
