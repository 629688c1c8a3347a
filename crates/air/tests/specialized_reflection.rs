//! The interface of a kernel with values for its function constants: the front end finds the same without LLVM that the
//! kernel's AIR has.

#![cfg(llvm)]

use abi::{ConstantValue, Constants};
use msl::program::Value;
use msl::reflect::{Argument, FunctionConstant, Kernel};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A value of a constant's type; `None` for types that this does not make up.
fn value(constant: &FunctionConstant, flag: bool, number: u8) -> Option<(ConstantValue, Value)> {
    let (int, float) = (Value::Int(number.into()), Value::Float(number.into()));
    Some(match constant.ty.as_str() {
        "bool" => (ConstantValue::Bool(flag), Value::Bool(flag)),
        "char" => (ConstantValue::Char(number as i8), int),
        "uchar" => (ConstantValue::Uchar(number), int),
        "short" => (ConstantValue::Short(number.into()), int),
        "ushort" => (ConstantValue::Ushort(number.into()), int),
        "int" => (ConstantValue::Int(number.into()), int),
        "uint" => (ConstantValue::Uint(number.into()), int),
        "long" => (ConstantValue::Long(number.into()), int),
        "ulong" => (ConstantValue::Ulong(number.into()), int),
        "half" => (ConstantValue::Half(half::f16::from_f32(number.into())), float),
        "float" => (ConstantValue::Float(number.into()), float),
        _ => return None,
    })
}

/// Names of the arguments, for messages.
fn arguments(kernel: &Kernel) -> Vec<&str> {
    kernel.arguments.iter().map(|argument| argument.name.as_str()).collect()
}

/// Compares every `step`-th kernel of a file with several values of all constants; returns how many times, and how often
/// an argument was gone.
fn compare(file: &Path, options: &msl::Options, step: usize) -> (usize, usize) {
    let compilation = msl::compile_file(file, options).unwrap_or_else(|error| panic!("{error}"));
    if compilation.has_errors() {
        return (0, 0);
    }
    let all = msl::reflect::function_constants(&compilation.program);
    let general = compilation.reflect();
    let (mut compared, mut gone) = (0, 0);
    for entry in compilation.program.kernels().step_by(step) {
        let source = metalworks_air::ProgramSource::from(&compilation);
        let Ok(function) = metalworks_air::compile_kernel(source, entry, metalworks_air::MathMode::Fast) else {
            continue;
        };
        let bitcode = function.bitcode().expect("we wrote it");
        let general =
            general.kernels.iter().find(|kernel| kernel.name == entry.name.as_str()).expect("it is there");
        let used: Vec<&FunctionConstant> =
            all.iter().filter(|constant| general.function_constants.contains(&constant.index)).collect();
        // All flags off, all on, every second one; and optional constants unset.
        let combinations: &[(u8, bool)] = match used.is_empty() {
            true => &[(0, true)],
            false => &[(0, true), (1, true), (2, true), (3, true), (1, false)],
        };
        for &(flags, set_all) in combinations {
            let (mut constants, mut values) = (Constants::new(), BTreeMap::new());
            for (position, constant) in used.iter().enumerate() {
                if !constant.required && !set_all {
                    continue;
                }
                let flag = flags == 1 || (flags == 2) == (position % 2 == 0);
                let flag = flags != 0 && flag;
                let Some((ours, theirs)) = value(constant, flag, 32) else { continue };
                constants.set(constant.index, ours);
                values.insert(constant.index, theirs);
            }
            let Ok(specialized) = metalworks_air::specialize(bitcode, &entry.name, &constants) else { continue };
            let described = msl::reflect::specialize(&compilation.program, &compilation.sources, entry, &values);
            let at = format!("{}: {} with {constants:?}", file.display(), entry.name);
            let left = &specialized.reflection;
            assert_eq!(arguments(&described), arguments(left), "{at}");
            // A variable that only removed code used is gone as well: only a compiler sees that, and which
            // arguments are used.
            assert!(left.static_threadgroup_memory <= described.static_threadgroup_memory, "{at}");
            let arguments = described.arguments.into_iter().zip(&left.arguments);
            let arguments = arguments.map(|(argument, left)| Argument { is_used: left.is_used, ..argument });
            let expected = Kernel {
                arguments: arguments.collect(),
                threadgroup_memory: left.threadgroup_memory.clone(),
                static_threadgroup_memory: left.static_threadgroup_memory,
                ..described
            };
            assert_eq!(expected, *left, "{at}");
            compared += 1;
            gone += general.arguments.len() - left.arguments.len();
        }
    }
    (compared, gone)
}

fn files(dir: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    files
}

fn compare_all(dirs: &[&str], include: Option<&str>, step: usize) -> (usize, usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = msl::Options {
        include_dirs: include.iter().map(|dir| root.join(dir)).collect(),
        ..msl::Options::default()
    };
    let files = dirs.iter().flat_map(|dir| files(root.join(dir)));
    files.map(|file| compare(&file, &options, step)).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

// Most kernels are instantiated from few templates.
#[test]
fn the_shader_library() {
    let shaders = "crates/inference/src/metal/shaders";
    let (compared, gone) = compare_all(&[shaders], Some("crates/inference/src/metal/include"), 3);
    assert!(compared > 500 && gone > 100, "compared {compared}, {gone} arguments gone");
}

#[test]
fn kernels_of_tests_and_examples() {
    let (compared, gone) = compare_all(&["examples", "crates/compute/tests/kernels"], None, 1);
    assert!(compared > 50 && gone > 5, "compared {compared}, {gone} arguments gone");
}
