//! Messages of kernels: `os_log`.
#![cfg(llvm)]

use metalworks_compute::{
    CommandBuffer, CompileOptions, CpuOptions, Device, FunctionConstantValues, LogLevel, LogMessage,
    ShaderValidation, Size,
};
use std::sync::{Arc, Mutex};

fn device(threads: usize) -> Device {
    Device::cpu_with_options(&CpuOptions { threads: Some(threads) }).expect("a CPU")
}

/// A handler that keeps messages.
fn keep() -> (Arc<Mutex<Vec<LogMessage>>>, impl Fn(&LogMessage) + Send + Sync + 'static) {
    let found: Arc<Mutex<Vec<LogMessage>>> = Arc::default();
    let list = found.clone();
    (found, move |message| list.lock().expect("no panic").push(message.clone()))
}

/// Runs a kernel with a buffer of 64 floats, 0 to 63, in threadgroups of 32 threads; returns its messages.
fn messages(before: &str, body: &str, threads: usize, validation: bool) -> Vec<LogMessage> {
    let device = device(threads);
    if validation {
        device.set_shader_validation(Some(ShaderValidation::default())).expect("the CPU validates");
    }
    let (found, handler) = keep();
    device.set_log_handler(handler);
    run(&device, before, body, |_| {});
    std::mem::take(&mut found.lock().expect("no panic"))
}

fn run(device: &Device, before: &str, body: &str, prepare: impl FnOnce(&CommandBuffer)) {
    let source = format!(
        "#include <metal_stdlib>
#include <metal_logging>
using namespace metal;
{before}
kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {{
{body}
}}"
    );
    let language_version = "metal3.2".parse().expect("a version");
    let options = CompileOptions { name: "k.metal".into(), language_version, ..CompileOptions::default() };
    let library = device.new_library_with_source(&source, &options).unwrap_or_else(|error| panic!("{error}"));
    let function = library.new_function("k", &FunctionConstantValues::new()).expect("it is there");
    let pipeline = device.new_compute_pipeline_state(&function).unwrap_or_else(|error| panic!("{error}"));
    let numbers: Vec<u8> = (0..64).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let buffer = device.new_buffer_with_bytes(&numbers).expect("memory");
    let commands = device.new_command_queue().new_command_buffer();
    prepare(&commands);
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("a pipeline state");
    encoder.set_buffer(0, &buffer, 0).expect("a buffer");
    encoder.dispatch_threads(Size::linear(64), Size::linear(32)).expect("a grid");
    encoder.end_encoding().expect("an end");
    commands.commit().expect("it is complete");
    commands.wait_until_completed().expect("it runs");
    assert!(device.take_findings().is_empty());
}

fn texts(messages: &[LogMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn a_message_has_its_thread_place_and_log() {
    let before = "constant os_log tiles(\"com.example\", \"tiles\");";
    for validation in [false, true] {
        let found = messages(before, "if (i == 37) { tiles.log_info(\"x[%u] is %.1f\", i, x[i]); }", 1, validation);
        assert_eq!(texts(&found), ["x[37] is 37.0"]);
        let message = &found[0];
        assert_eq!((message.level, message.kernel.as_str()), (LogLevel::Info, "k"));
        assert_eq!((message.subsystem.as_str(), message.category.as_str()), ("com.example", "tiles"));
        assert_eq!((message.thread.threadgroup, message.thread.thread), ([1, 0, 0], [5, 0, 0]));
        assert_eq!((message.thread.simdgroup, message.thread.lane), (0, 5));
        let location = message.location.as_ref().expect("a place");
        assert_eq!((location.file.as_str(), location.line), ("k.metal", 6));
        assert_eq!(
            message.to_string(),
            "k.metal:6:16: info: x[37] is 37.0 (com.example: tiles; threadgroup (1, 0, 0), thread (5, 0, 0))"
        );
    }
}

#[test]
fn messages_are_in_the_order_of_threads() {
    let body = "for (uint n = 0; n < 2; ++n) { if (i % 16 == 3) { os_log_default.log(\"%u %u\", i, n); } }";
    for threads in [1, 3] {
        let found = messages("", body, threads, false);
        assert_eq!(texts(&found), ["3 0", "3 1", "19 0", "19 1", "35 0", "35 1", "51 0", "51 1"]);
        assert!(found.iter().all(|message| message.level == LogLevel::Notice));
    }
}

#[test]
fn arguments_have_all_types() {
    let body = "
        if (i != 1) { return; }
        os_log_default.log_debug(\"%d %d %u %lu\", char(-3), short(-4), ushort(5), ulong(1) << 40);
        os_log_default.log_error(\"%v4f %v3d %v2hf\", float4(1, 2, 3, x[i]), int3(-1, 2, 3), half2(0.5, 1));
        os_log_default.log_fault(\"%s %x %d\", \"text\", 255, x[i] == 1);
        os_log_default.log_with_type(os_log_type::os_log_type_info, \"%f 100%%\", half(0.25));";
    let found = messages("", body, 1, false);
    assert_eq!(
        texts(&found),
        [
            "-3 -4 5 1099511627776",
            "1.000000,2.000000,3.000000,1.000000 -1,2,3 0.500000,1.000000",
            "text ff 1",
            "0.250000 100%",
        ]
    );
    let levels: Vec<LogLevel> = found.iter().map(|message| message.level).collect();
    assert_eq!(levels, [LogLevel::Debug, LogLevel::Error, LogLevel::Fault, LogLevel::Info]);
}

#[test]
fn a_command_buffer_has_its_own_handler() {
    let device = device(1);
    let ((of_device, handler), (of_commands, own)) = (keep(), keep());
    device.set_log_handler(handler);
    let body = "if (i == 5) { os_log_default.log(\"%u\", i); }";
    run(&device, "", body, |commands| commands.set_log_handler(own).expect("it is not committed"));
    assert_eq!(texts(&of_commands.lock().expect("no panic")), ["5"]);
    assert!(of_device.lock().expect("no panic").is_empty());
    // The handler was only for that one, and is dropped with it.
    run(&device, "", body, |_| {});
    assert_eq!((of_commands.lock().expect("no panic").len(), of_device.lock().expect("no panic").len()), (1, 1));
    assert_eq!(Arc::strong_count(&of_commands), 1);
    let commands = device.new_command_queue().new_command_buffer();
    commands.commit().expect("it is complete");
    commands.set_log_handler(|_| {}).expect_err("it is committed");
}

#[test]
fn the_number_of_messages_is_bounded() {
    let found = messages("", "for (uint n = 0; n < 1000; ++n) { os_log_default.log(\"%u\", n); }", 2, false);
    let last = found.last().expect("messages");
    assert!((10_000..10_000 + 64 * 32).contains(&found.len()), "{}", found.len());
    assert_eq!(last.text, format!("{} more messages were dropped", 64_000 - (found.len() - 1)));
}
