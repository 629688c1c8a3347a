//! Modules are written and read back the same: by LLVM 22 here, and by LLVM 14 in the tests that `make air` runs.

mod cases;
mod corpus;

use super::write;
use crate::ir::{Block, Opcode, Rewrite};
use crate::metallib::{Library, apple_library};
use cases::{CASES, REFUSED};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::path::PathBuf;
use std::process::{Command, Output};

fn parse<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "module");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module.verify().unwrap_or_else(|error| panic!("{error}\n{text}"));
    module
}

/// A module as text, after it has been written and read.
fn round_trip(text: &str) -> (String, String) {
    let context = Context::create();
    let module = parse(&context, text);
    let bitcode = write(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let other = Context::create();
    let mut read =
        crate::bitcode::parse(&other, &bitcode, "module").unwrap_or_else(|error| panic!("{error}\n{text}"));
    remove_casts(&mut read);
    (module.print_to_string().to_string(), read.print_to_string().to_string())
}

/// Removes the casts that LLVM 14 needs, and LLVM 22 keeps: they do nothing.
fn remove_casts(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    for function in rewrite.module().functions() {
        for instruction in function.blocks().into_iter().flat_map(Block::instructions) {
            if instruction.is(Opcode::LLVMBitCast) && instruction.ty() == instruction.operand(0).ty() {
                instruction.replace_all_uses_with(instruction.operand(0));
                rewrite.erase(instruction);
            }
        }
    }
}

#[test]
fn every_kind_is_read_back() {
    for case in CASES {
        let (before, after) = round_trip(case.text);
        // An attribute that LLVM 14 does not have is gone; LLVM 22 adds it again where it knows the function.
        let without_new = before.replace(" nocreateundeforpoison", "");
        // LLVM 22 keeps declarations of the old form, under a name that nothing uses.
        let after = after.replace(" nocreateundeforpoison", "");
        let after = after.replace("declare void @llvm.lifetime.start.i64(i64)\n\n", "");
        let after = after.replace("declare void @llvm.lifetime.end.i64(i64)\n\n", "");
        assert_eq!(without_new, after, "{}", case.name);
        assert!(before.contains(case.text.trim()), "{}: written otherwise:\n{before}", case.name);
    }
}

/// Flags and attributes that are newer than LLVM 14 are left out.
#[test]
fn new_flags_are_dropped() {
    let text = "
define i64 @f(i32 %0, i32 %1, ptr %2, float %3) {
  %5 = zext nneg i32 %0 to i64
  %6 = or disjoint i32 %0, %1
  %7 = trunc nuw nsw i32 %6 to i8
  %8 = icmp samesign ult i32 %0, %1
  %9 = getelementptr inbounds nuw i8, ptr %2, i64 %5
  %10 = uitofp nneg i32 %0 to float
  %11 = fpext fast float %10 to double
  store i8 %7, ptr %9, align 1
  ret i64 %5
}

declare range(i32 0, 5) i32 @g(ptr writable captures(address) dead_on_unwind, float nofpclass(nan)) nosanitize_bounds
";
    let (before, after) = round_trip(text);
    let mut expected = before;
    let new = ["nneg ", "disjoint ", "nuw nsw ", "samesign ", "nuw ", "fast ", "range(i32 0, 5) ", " writable"];
    for flag in new.into_iter().chain([" captures(address)", " dead_on_unwind", " nofpclass(nan)"]) {
        assert!(expected.contains(flag), "{flag}");
        expected = expected.replace(flag, "");
    }
    let cut = |text: &str| text.split("}").next().unwrap_or_default().to_owned();
    assert_eq!(cut(&expected), cut(&after));
    assert!(after.contains("declare i32 @g(ptr, float)"), "{after}");
    assert!(!after.contains("nosanitize_bounds"), "{after}");
}

#[test]
fn others_are_refused() {
    for (text, reason) in REFUSED {
        let context = Context::create();
        let error = write(&parse(&context, text)).expect_err(text);
        assert_eq!(error, *reason, "{text}");
    }
}

/// Damage is an error, not a panic: a change of LLVM's format must not be one either.
#[test]
fn damage_is_an_error() {
    let context = Context::create();
    for case in CASES {
        let bitcode = parse(&context, case.text).write_bitcode_to_memory().as_slice().to_vec();
        for at in (4..bitcode.len()).step_by(11) {
            let mut damaged = bitcode.clone();
            damaged[at] ^= 0x15;
            if crate::bitcode::check::check(&damaged).is_ok() {
                let _ = super::translate(&damaged);
            }
        }
    }
}

/// Runs a program of LLVM 14 on bitcode.
fn llvm_14(program: &str, arguments: &[&str], bitcode: &[u8]) -> Output {
    let folder =
        PathBuf::from(std::env::var_os("METALWORKS_LLVM14").unwrap_or_else(|| "/usr/lib/llvm-14/bin".into()));
    let program = folder.join(program);
    let scratch = std::env::temp_dir().join(format!(
        "metalworks-llvm14-{}-{:?}.bc",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::write(&scratch, bitcode).expect("a temporary file can be written");
    let output = Command::new(&program).args(arguments).arg(&scratch).output();
    std::fs::remove_file(&scratch).expect("it was written");
    output.unwrap_or_else(|error| panic!("{} cannot be run (make llvm14): {error}", program.display()))
}

/// Has LLVM 14 verify a module.
fn verify_with_14(bitcode: &[u8], name: &str) {
    // Programs that optimize must know the triple, which is AIR's.
    let verified = llvm_14("opt", &["-mtriple=x86_64-linux", "-passes=verify", "-disable-output"], bitcode);
    assert!(verified.status.success(), "{name}: {}", String::from_utf8_lossy(&verified.stderr));
}

/// The text that LLVM 14 prints; it has verified the module.
fn text_of_14(bitcode: &[u8], name: &str) -> String {
    verify_with_14(bitcode, name);
    let text = llvm_14("llvm-dis", &["-o", "-"], bitcode);
    assert!(text.status.success(), "{name}: {}", String::from_utf8_lossy(&text.stderr));
    String::from_utf8_lossy(&text.stdout).into_owned()
}

#[test]
#[ignore = "needs LLVM 14; run by make air"]
fn llvm_14_reads_every_kind() {
    for case in CASES {
        let context = Context::create();
        let bitcode = write(&parse(&context, case.text)).expect(case.name);
        let text = text_of_14(&bitcode, case.name);
        for line in case.lines_of_14 {
            assert!(text.lines().any(|one| one.trim() == *line), "{}: no line '{line}' in\n{text}", case.name);
        }
    }
}

/// Every hundredth module of Apple's compiler, read by LLVM 22 and written again.
#[test]
#[ignore = "needs LLVM 14, and mlx.metallib in the corpus; run by make air"]
fn llvm_14_reads_apples_modules() {
    let file = apple_library();
    let library = Library::parse(&file).expect("it can be read");
    let (mut count, mut same) = (0, 0);
    for function in library.functions().iter().step_by(100) {
        let name = function.name();
        let context = Context::create();
        let module = crate::bitcode::parse(&context, function.bitcode().expect(name), name).expect(name);
        let bitcode = write(&module).unwrap_or_else(|error| panic!("{name}: {error}"));
        let text = text_of_14(&bitcode, name);
        let apples = text_of_14(function.bitcode().expect(name), name);
        // The types of parameters; the numbers of attributes after them may differ.
        let types = |text: &str| {
            let lines = text.lines().filter(|line| line.starts_with("define"));
            let words = lines.flat_map(|line| line.split(' ')).filter(|word| !word.starts_with('#'));
            words.map(str::to_owned).collect::<Vec<String>>()
        };
        same += usize::from(types(&text) == types(&apples));
        count += 1;
    }
    assert_eq!(count, 173);
    // Arguments that nothing uses, and accesses that were merged, leave no trace of the type.
    assert!(same >= 160, "{same} have Apple's types");
}
