//! Loads, calls and refuses objects that LLVM compiles from small modules.

use super::*;
use abi::Lanes;
use air::inkwell::OptimizationLevel;
use air::inkwell::context::Context;
use air::inkwell::memory_buffer::MemoryBuffer;
use air::inkwell::targets::{CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetTriple};

/// Compiles LLVM assembly for a triple, or for this machine: to ELF, as kernels are on every system.
fn object(ir: &str, triple: Option<&str>) -> Vec<u8> {
    Target::initialize_all(&InitializationConfig::default());
    let context = Context::create();
    let mut text = ir.as_bytes().to_vec();
    text.push(0);
    let buffer = MemoryBuffer::create_from_memory_range_copy(&text, "module");
    let module = context.create_module_from_ir(buffer).expect("the module is right");
    let here = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let triple = TargetTriple::create(triple.unwrap_or(&here));
    let target = Target::from_triple(&triple).expect("LLVM knows the target");
    let machine = target
        .create_target_machine(&triple, "", "", OptimizationLevel::Default, RelocMode::PIC, CodeModel::Small)
        .expect("there is such a machine");
    module.set_triple(&triple);
    machine.write_to_memory_buffer(&module, FileType::Object).expect("it compiles").as_slice().to_vec()
}

fn kernel(object: Vec<u8>) -> WaveKernel {
    WaveKernel {
        name: "test".into(),
        symbol: "test".into(),
        object,
        lanes: Lanes::Row,
        has_barrier: false,
        static_threadgroup_memory: 0,
        private_memory: 0,
        flush_denormals: false,
        failures: Vec::new(),
        sites: Vec::new(),
    }
}

/// Loads the function `test`, whose first parameter is a pointer to numbers, and calls it.
fn call(ir: &str, numbers: &mut [u64]) {
    let image = Image::load(&kernel(object(ir, None))).expect("it loads");
    // SAFETY: the functions of these tests take one pointer.
    unsafe {
        let function: unsafe extern "C" fn(*mut u64) = std::mem::transmute(image.entry());
        function(numbers.as_mut_ptr());
    }
}

fn refusal(kernel: &WaveKernel) -> String {
    Image::load(kernel).err().expect("it is refused").to_string()
}

#[test]
fn links_constants_and_functions() {
    let mut numbers = [1];
    call(
        "@table = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
         @other = internal constant [2 x ptr] [ptr @table, ptr getelementptr (i8, ptr @table, i64 8)]
         define internal i64 @triple(i64 %x) noinline { %y = mul i64 %x, 3  ret i64 %y }
         define void @test(ptr %numbers) {
           %which = load i64, ptr %numbers
           %entry = getelementptr [2 x ptr], ptr @other, i64 0, i64 %which
           %place = load ptr, ptr %entry
           %value = load i64, ptr %place
           %tripled = call i64 @triple(i64 %value)
           store i64 %tripled, ptr %numbers
           ret void
         }",
        &mut numbers,
    );
    assert_eq!(numbers[0], 60);
}

#[test]
fn links_switch_tables() {
    let ir = "define void @test(ptr %numbers) {
           %x = load i64, ptr %numbers
           switch i64 %x, label %default [ i64 0, label %a  i64 1, label %b  i64 2, label %c  i64 3, label %d
                                           i64 4, label %e  i64 5, label %f ]
         a: call void asm sideeffect \"\", \"\"()  store i64 7, ptr %numbers  ret void
         b: call void asm sideeffect \"nop\", \"\"()  store i64 99, ptr %numbers  ret void
         c: call void asm sideeffect \"nop;nop\", \"\"()  store i64 3, ptr %numbers  ret void
         d: call void asm sideeffect \"nop;nop;nop\", \"\"()  store i64 12345, ptr %numbers  ret void
         e: call void asm sideeffect \"\", \"\"()  store i64 8, ptr %numbers  ret void
         f: call void asm sideeffect \"nop\", \"\"()  store i64 1, ptr %numbers  ret void
         default: store i64 0, ptr %numbers  ret void
         }";
    for (input, output) in [(0, 7), (1, 99), (2, 3), (3, 12345), (4, 8), (5, 1), (6, 0)] {
        let mut numbers = [input];
        call(ir, &mut numbers);
        assert_eq!(numbers[0], output);
    }
}

#[test]
fn links_memory_functions_of_the_c_library() {
    let mut numbers = vec![0; 3000];
    numbers[..1000].fill(5);
    call(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
         declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
         declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
         define void @test(ptr %numbers) {
           %second = getelementptr i64, ptr %numbers, i64 1000
           %third = getelementptr i64, ptr %numbers, i64 2000
           %last = getelementptr i64, ptr %numbers, i64 2001
           call void @llvm.memcpy.p0.p0.i64(ptr %second, ptr %numbers, i64 8000, i1 false)
           call void @llvm.memset.p0.i64(ptr %numbers, i8 1, i64 8000, i1 false)
           call void @llvm.memmove.p0.p0.i64(ptr %last, ptr %third, i64 7992, i1 false)
           ret void
         }",
        &mut numbers,
    );
    assert!(numbers[..1000].iter().all(|&number| number == 0x0101_0101_0101_0101));
    assert!(numbers[1000..2000].iter().all(|&number| number == 5));
}

#[test]
fn rejects_other_undefined_functions() {
    let ir = "declare double @cos(double)
         define void @test(ptr %numbers) {
           %x = load double, ptr %numbers  %y = call double @cos(double %x)  store double %y, ptr %numbers  ret void
         }";
    let message = refusal(&kernel(object(ir, None)));
    assert_eq!(message, "machine code of kernel 'test': 'cos' is undefined");
}

#[test]
fn rejects_writable_variables() {
    let ir = "@counter = global i64 1
         define void @test(ptr %numbers) { store i64 5, ptr @counter  ret void }";
    let message = refusal(&kernel(object(ir, None)));
    assert!(message.contains("is writable"), "{message}");
}

const NOTHING: &str = "define void @test(ptr %numbers) { ret void }";

#[test]
fn rejects_a_missing_function() {
    let kernel = WaveKernel { symbol: "other".into(), ..kernel(object(NOTHING, None)) };
    assert_eq!(refusal(&kernel), "machine code of kernel 'test': there is no function 'other'");
}

#[test]
fn rejects_code_for_another_cpu() {
    let triples = ["aarch64-linux-gnu", "x86_64-linux-gnu"];
    let other = triples.iter().find(|triple| !triple.starts_with(std::env::consts::ARCH)).expect("there is one");
    for triple in [other, "riscv64-linux-gnu"] {
        let message = refusal(&kernel(object(NOTHING, Some(triple))));
        assert!(message.contains("another kind of CPU"), "{message}");
    }
}

#[test]
fn damaged_objects_never_panic() {
    let ir = "@table = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
         define void @test(ptr %numbers) {
           %index = load i64, ptr %numbers
           %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %index
           %value = load i64, ptr %place
           store i64 %value, ptr %numbers
           ret void
         }";
    let whole = object(ir, None);
    for len in 0..whole.len() {
        let _ = Image::load(&kernel(whole[..len].to_vec()));
    }
    for at in 0..whole.len() {
        for value in [0, 0xff, whole[at] ^ 0x10] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            let _ = Image::load(&kernel(damaged));
        }
    }
    assert!(Image::load(&kernel(whole)).is_ok());
}

/// The address formed by `adrp` and the instruction after it.
fn page_and_offset(image: &[u8], at: usize, base: u64, scale: u32) -> u64 {
    let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().expect("four bytes"));
    let (adrp, next) = (word(at), word(at + 4));
    assert_eq!(adrp & 0x9f00_0000, 0x9000_0000, "no adrp at {at}");
    let pages = i64::from((adrp >> 5 & 0x7_ffff) << 2 | adrp >> 29 & 3) << 43 >> 43;
    let page = ((base + at as u64) & !0xfff).wrapping_add_signed(pages * 4096);
    page + (u64::from(next >> 10 & 0xfff) << scale)
}

#[test]
fn links_aarch64_objects() {
    let ir = "@pad = internal constant [5000 x i8] zeroinitializer
         @table = internal constant [4 x i64] [i64 10, i64 20, i64 30, i64 40]
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
         define ptr @test(i64 %index) {
           %place = getelementptr [4 x i64], ptr @table, i64 0, i64 %index
           ret ptr %place
         }
         define i64 @load() { %v = load volatile i64, ptr @table  ret i64 %v }
         define ptr @pads() { ret ptr @pad }
         define void @copy(ptr %to, ptr %from) {
           call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 80000, i1 false)
           ret void
         }";
    let object = object(ir, Some("aarch64-linux-gnu"));
    let file = ElfFile::parse(&*object).expect("an object");
    let plan = ImageLayout::new(&file).expect("a layout");
    let mut image = vec![0; plan.size];
    let base = 0x7f12_3456_7000;
    let test = link(&file, &plan, "test", &mut image, base).expect("it links");
    let load = link(&file, &plan, "load", &mut image.clone(), base).expect("it links");

    let table = image.windows(16).position(|window| window == bytes_of([10, 20])).expect("the table is there");
    assert_eq!(page_and_offset(&image, test, base, 0), base + table as u64);
    assert_eq!(page_and_offset(&image, load, base, 3), base + table as u64);

    // The call of memcpy goes to the stub, which jumps to memcpy.
    let stub = plan.stubs[0].2;
    let calls = |at: &usize| {
        let word = u32::from_le_bytes(image[*at..at + 4].try_into().expect("four bytes"));
        let way = (i64::from(word & 0x3ff_ffff) << 38 >> 38) * 4;
        matches!(word >> 26, 0b10_0101 | 0b00_0101) && at.wrapping_add_signed(way as isize) == stub
    };
    assert!((0..image.len() - 4).step_by(4).any(|at| calls(&at)));
    assert_eq!(image[stub + 8..stub + 16], (libc::memcpy as *const ()).addr().to_le_bytes());
}

fn bytes_of(numbers: [u64; 2]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
