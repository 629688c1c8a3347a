//! Cost of a dispatch on the host, encoded and replayed.

use super::Failure;
use super::report::{PerformanceTarget, Report, Timings};
use compute::{
    Buffer, CompileOptions, ComputeCommandEncoder, ConstantBits, CpuOptions, Device, DispatchType, Error, Patch,
    Simdgroups, Size,
};
use metalworks_inference::metal::MetalDevice;
use std::time::Instant;

/// About as many as a language model has for one token.
const DISPATCHES: usize = 300;

const SOURCE: &str = "
    constant uint N [[function_constant(0)]];
    kernel void bench_tiny(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                           device const float *c [[buffer(2)]], device float *out [[buffer(3)]],
                           constant uint &step [[buffer(4)]], uint i [[thread_position_in_grid]]) {
        if (i < N) { out[i] = a[i] * b[i] + c[i] + float(step); }
    }";

/// Encodes one dispatch like an operation: look up the pipeline, bind buffers, set bytes, dispatch.
fn encode(
    device: &MetalDevice,
    encoder: &mut ComputeCommandEncoder,
    buffers: &[Buffer],
    number: usize,
) -> Result<(), Error> {
    let constants: [(&str, ConstantBits); 1] = [("N", 32u32.into())];
    let pipeline = device.pipelines().get_or_create_pso_with("bench_tiny", constants, Simdgroups::Rows)?;
    encoder.set_compute_pipeline_state(pipeline)?;
    for index in 0..4 {
        encoder.set_buffer(index, &buffers[(number + 16 * index) % buffers.len()], 0)?;
    }
    encoder.set_bytes(4, &(number as u32).to_ne_bytes())?;
    encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32))
}

pub(crate) fn measure(report: &mut Report, quick: bool) -> Result<(), Failure> {
    report.section(
        "encoding",
        &[
            "300 dispatches of one threadgroup, each with its pipeline from the cache, 4 buffers and set_bytes; a device with",
            "one thread; a replay is 300 recorded dispatches with 2 patches: until commit returns, and until completion",
        ],
    )?;
    let device = MetalDevice::with_device(Device::cpu_with_options(&CpuOptions { threads: Some(1) })?, None)?;
    let library = device.device().new_library_with_source(SOURCE, &CompileOptions::default())?;
    device.add_library("bench", &library)?;
    let buffers = (0..64).map(|_| device.device().new_buffer(4096)).collect::<Result<Vec<Buffer>, Error>>()?;
    let mut recorder = device.device().new_command_recorder(DispatchType::Serial);
    for number in 0..DISPATCHES {
        encode(&device, &mut recorder, &buffers, number)?;
    }
    let recording = recorder.finish()?;
    let location = |dispatch| recording.bytes_location(dispatch, 4).ok_or("the dispatch has no bytes at index 4");
    let (first, last) = (location(0)?, location(DISPATCHES - 1)?);

    let kinds = [(DispatchType::Serial, "serial encoder"), (DispatchType::Concurrent, "concurrent encoder")];
    let mut encoded: [Timings; 2] = Default::default();
    let (mut replayed, mut done) = (Timings::default(), Timings::default());
    for round in 0..if quick { 51 } else { 501u32 } {
        for ((kind, _), times) in kinds.iter().zip(&mut encoded) {
            let commands = device.command_buffer();
            let start = Instant::now();
            let mut encoder = commands.compute_command_encoder_with_dispatch_type(*kind)?;
            for number in 0..DISPATCHES {
                encode(&device, &mut encoder, &buffers, number)?;
            }
            encoder.end_encoding()?;
            times.add(start.elapsed(), DISPATCHES);
            commands.commit()?;
            commands.wait_until_completed()?;
        }
        let start = Instant::now();
        let commands = device.command_buffer();
        let bytes = round.to_ne_bytes();
        let patch = |location| Patch { location, offset: 0, bytes: &bytes };
        commands.replay(&recording, &[patch(first), patch(last)])?;
        commands.commit()?;
        replayed.add(start.elapsed(), DISPATCHES);
        commands.wait_until_completed()?;
        done.add(start.elapsed(), DISPATCHES);
    }
    for ((_, name), times) in kinds.iter().zip(&encoded) {
        report.time(&format!("encode, per dispatch, {name}"), times, PerformanceTarget::Below(500.0))?;
    }
    report.time("replay, per dispatch, until commit returns", &replayed, PerformanceTarget::Below(100.0))?;
    report.time("replay, per dispatch, until completion", &done, PerformanceTarget::None)
}
