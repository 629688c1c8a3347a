//! Visible functions and their tables: `kernels/visible_functions.metal`, beside the same in Rust.

use crate::harness::{device, expect_kernel_error};
use metalworks_compute::{
    Buffer, CommandBufferStatus, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantValue,
    Device, FunctionConstantValues, Library, LinkedFunctions, Result, Size, VisibleFunctionTable,
};

const THREADS: usize = 77;
const OFFSET: i32 = 100;

fn library(device: &Device) -> Library {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/visible_functions.metal");
    device.new_library_with_source_file(path, &CompileOptions::default()).expect("it has no mistakes")
}

fn constants() -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set(0, ConstantValue::Int(OFFSET));
    constants
}

fn pipeline(library: &Library, kernel: &str, linked: &[&str]) -> Result<ComputePipelineState> {
    let (none, offset) = (FunctionConstantValues::new(), constants());
    let function = library.new_function(kernel, &none)?;
    let functions = linked
        .iter()
        .map(|name| library.new_visible_function(name, if *name == "shift" { &offset } else { &none }));
    let linked_functions = LinkedFunctions { functions: functions.collect::<Result<_>>()? };
    let descriptor = ComputePipelineDescriptor { linked_functions, ..ComputePipelineDescriptor::default() };
    device().new_compute_pipeline_state_with_descriptor(&function, &descriptor)
}

fn table(pipeline: &ComputePipelineState, names: &[&str]) -> VisibleFunctionTable {
    let table = pipeline.new_visible_function_table(names.len()).expect("a table");
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        table.set_function(index, Some(&pipeline.function_handle(name).expect("it is linked"))).expect("it fits");
    }
    table
}

/// Runs a kernel whose tables follow its output.
fn run(pipeline: &ComputePipelineState, tables: &[&VisibleFunctionTable]) -> Result<Buffer> {
    let device = device();
    let out = device.new_buffer(THREADS * 4)?;
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, &out, 0)?;
    for (index, table) in tables.iter().enumerate() {
        encoder.set_visible_function_table(index + 1, table)?;
    }
    let size = |width| Size { width, height: 1, depth: 1 };
    encoder.dispatch_threads(size(THREADS), size(64))?;
    encoder.end_encoding()?;
    commands.commit()?;
    let completed = commands.wait_until_completed();
    assert_eq!(completed.is_err(), commands.status() == CommandBufferStatus::Error);
    completed.map(|()| out)
}

fn applied(name: &str, i: usize) -> f32 {
    let x = i as f32;
    match name {
        "scale" => x * 3.0,
        "shift" => x + 3.0 + OFFSET as f32,
        _ => x * x * x,
    }
}

fn check_apply(library: &Library) {
    let pipeline = pipeline(library, "apply", &["scale", "shift", "raise"]).expect("a pipeline");
    // One pipeline, several tables: the order is the table's.
    for names in [&["scale", "shift", "raise"][..], &["raise", "scale"], &["shift"], &["raise"; 5]] {
        let out = run(&pipeline, &[&table(&pipeline, names)]).expect("it runs").read::<f32>();
        for (i, value) in out.into_iter().enumerate() {
            assert_eq!(value, applied(names[i % names.len()], i), "thread {i} of {names:?}");
        }
    }
}

#[test]
fn threads_call_the_functions_of_a_table() {
    check_apply(&library(&device()));
}

#[test]
fn functions_of_a_metallib_are_linked() {
    let compilation = msl::compile_source(
        "test.metal",
        include_str!("../kernels/visible_functions.metal"),
        &msl::Options::default(),
    );
    let bytes = air::compile(&compilation, air::MathMode::Fast).expect("a library");
    check_apply(&device().new_library_with_data(bytes.library).expect("it opens"));
}

#[test]
fn tables_of_several_types() {
    let pipeline = pipeline(&library(&device()), "two_tables", &["swapped", "scale"]).expect("a pipeline");
    let maps = table(&pipeline, &["scale"]);
    let out = run(&pipeline, &[&maps, &table(&pipeline, &["swapped", "swapped"])]).expect("it runs");
    for (i, value) in out.read::<i32>().into_iter().enumerate() {
        assert_eq!(value, i as i32 * 2 + 2000, "thread {i}");
    }
    // A function of another type is not called: the table says nothing of types.
    let error = run(&pipeline, &[&maps, &table(&pipeline, &["swapped", "scale"])]).expect_err("a wrong type");
    assert!(error.to_string().contains("function pointer"), "{error}");
}

#[test]
fn an_empty_entry_is_an_error_of_the_command_buffer() {
    let pipeline = pipeline(&library(&device()), "apply", &["scale"]).expect("a pipeline");
    let error = run(&pipeline, &[&table(&pipeline, &["scale", ""])]).expect_err("an empty entry");
    expect_kernel_error(&error, "apply", "call through a function pointer that is null or was never set");
    let table = table(&pipeline, &["scale", "scale"]);
    run(&pipeline, &[&table]).expect("all are set");
    table.set_function(1, None).expect("it is emptied");
    run(&pipeline, &[&table]).expect_err("it is empty now");
}

#[test]
fn tables_have_a_size() {
    let pipeline = pipeline(&library(&device()), "count", &[]).expect("a pipeline");
    let out = run(&pipeline, &[&pipeline.new_visible_function_table(9).expect("a table")]).expect("it runs");
    assert_eq!(out.read::<u32>()[..3], [9, 0, 0]);
}

#[test]
fn visible_functions_are_called_directly() {
    let out = run(&pipeline(&library(&device()), "direct", &[]).expect("a pipeline"), &[]).expect("it runs");
    assert!(out.read::<f32>().into_iter().enumerate().all(|(i, value)| value == i as f32 * 4.0));
}

#[test]
fn reflection_shows_tables() {
    use metalworks_compute::reflect::ArgumentKind;
    let pipeline = pipeline(&library(&device()), "apply", &["scale"]).expect("a pipeline");
    let argument = &pipeline.reflection().arguments[1];
    assert_eq!((argument.kind, argument.index), (ArgumentKind::VisibleFunctionTable, 1));
    assert_eq!(argument.ty, "visible_function_table<float (float, int)>");
}

#[track_caller]
fn refused<T>(result: Result<T>, text: &str) {
    let error = result.err().expect("it is refused").to_string();
    assert!(error.contains(text), "{error}");
}

#[test]
fn wrong_uses_are_refused() {
    let library = library(&device());
    let none = FunctionConstantValues::new();
    refused(library.new_visible_function("apply", &none), "'apply' is a kernel, not a visible function");
    refused(library.new_visible_function("nothing", &none), "the library has no visible function 'nothing'");
    refused(library.new_visible_function("shift", &none), "OFFSET");
    refused(library.new_function("scale", &none), "has no kernel 'scale'");
    refused(pipeline(&library, "apply", &["scale", "scale"]), "two linked functions have the name 'scale'");

    let linked = pipeline(&library, "apply", &["scale"]).expect("a pipeline");
    let other = pipeline(&library, "apply", &["scale"]).expect("a pipeline");
    refused(linked.function_handle("raise"), "no function 'raise' is linked");
    refused(linked.new_visible_function_table(0), "0 entries");
    let own = table(&linked, &["scale"]);
    refused(own.set_function(1, None), "index 1 is not inside a table of 1 entries");
    refused(
        own.set_function(0, Some(&other.function_handle("scale").expect("a handle"))),
        "another pipeline state",
    );

    refused(run(&linked, &[]), "no visible function table is bound at index 1 for the argument 'table'");
    refused(run(&linked, &[&table(&other, &["scale"])]), "belongs to another pipeline state");
    let direct = pipeline(&library, "direct", &[]).expect("a pipeline");
    refused(bind_table_as_buffer(&direct, &own), "not a visible function table");
    refused(bind_buffer_as_table(&linked), "it is a visible function table; call set_visible_function_table");
}

fn bind_table_as_buffer(pipeline: &ComputePipelineState, table: &VisibleFunctionTable) -> Result<()> {
    let commands = device().new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_visible_function_table(0, table)?;
    encoder.dispatch_threads(Size { width: 1, height: 1, depth: 1 }, Size { width: 1, height: 1, depth: 1 })
}

fn bind_buffer_as_table(pipeline: &ComputePipelineState) -> Result<()> {
    let device = device();
    let buffer = device.new_buffer(1024)?;
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, &buffer, 0)?;
    encoder.set_buffer(1, &buffer, 0)?;
    encoder.dispatch_threads(Size { width: 1, height: 1, depth: 1 }, Size { width: 1, height: 1, depth: 1 })
}
