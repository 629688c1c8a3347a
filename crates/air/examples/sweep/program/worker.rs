//! Compiles functions whose names come in, one line each, and answers each with one line.

use abi::{ConstantValue, Constants, Lanes};
use metalworks_air::metallib::{Constant, Function, Library};
use metalworks_air::wave::Target;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

/// The names of a library's functions, sorted.
pub(crate) fn names(path: &str) -> Result<Vec<String>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let library = Library::parse(&bytes).map_err(|error| format!("{path}: {error}"))?;
    let mut names: Vec<String> = library.functions().iter().map(|function| function.name().to_string()).collect();
    names.sort();
    Ok(names)
}

/// The size of each function's bitcode.
pub(crate) fn sizes(path: &str) -> Result<BTreeMap<String, usize>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let library = Library::parse(&bytes).map_err(|error| format!("{path}: {error}"))?;
    let size = |function: &Function| function.bitcode().map_or(0, <[u8]>::len);
    Ok(library.functions().iter().map(|function| (function.name().to_string(), size(function))).collect())
}

/// Reads names until the end of the input.
pub(crate) fn serve(path: &str) -> ExitCode {
    let Ok(bytes) = std::fs::read(path) else { return ExitCode::from(2) };
    let Ok(library) = Library::parse(&bytes) else { return ExitCode::from(2) };
    let Ok(target) = Target::host() else { return ExitCode::from(2) };
    for name in std::io::stdin().lock().lines().map_while(Result::ok) {
        let start = Instant::now();
        let (bytes, verdict) = match library.function(&name) {
            Some(function) => match compile(function, &target) {
                Ok(bytes) => (bytes, "ok".into()),
                Err(reason) => (0, reason),
            },
            None => (0, "it is not there".into()),
        };
        let verdict = verdict.replace(['\n', '\t'], " ");
        println!("{}\t{bytes}\t{verdict}", start.elapsed().as_millis());
        let _ = std::io::stdout().flush();
    }
    ExitCode::SUCCESS
}

/// The size of the object file.
fn compile(function: &Function, target: &Target) -> Result<usize, String> {
    let bitcode = function.bitcode().map_err(|error| error.to_string())?;
    let choices: &[bool] = if function.constants.is_empty() { &[true] } else { &[true, false] };
    let mut size = 0;
    for choice in choices {
        let mut constants = Constants::new();
        for constant in &function.constants {
            constants.set(constant.index.into(), value(constant, *choice).ok_or("a constant of an unknown type")?);
        }
        let specialized = metalworks_air::specialize(bitcode, function.name(), &constants)
            .map_err(|error| format!("specialize: {error}"))?;
        let kernels = metalworks_air::wave::compile(&specialized, target, &[Lanes::Row])
            .map_err(|error| error.to_string())?;
        size += kernels.iter().map(|kernel| kernel.object.len()).sum::<usize>();
    }
    Ok(size)
}

/// A value that makes sense: sizes of kernels, steps and blocks are small.
fn value(constant: &Constant, choice: bool) -> Option<ConstantValue> {
    let is = |name: &str| metalworks_air::metallib::data_type(name) == Some(constant.data_type);
    Some(match constant.name.as_ref() {
        "blocks" => ConstantValue::Int(32),
        _ if is("bool") => ConstantValue::Bool(choice),
        _ if is("int") => ConstantValue::Int(if choice { 2 } else { 1 }),
        _ if is("uint") => ConstantValue::Uint(if choice { 2 } else { 1 }),
        _ if is("float") => ConstantValue::Float(1.0),
        _ => return None,
    })
}
