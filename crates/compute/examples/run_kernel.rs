//! Runs a kernel through Metal's API, on the best device of this machine.
//!
//! ```sh
//! cargo run -p metalworks-compute --example run_kernel
//! METALWORKS_DEVICE=cpu cargo run -p metalworks-compute --example run_kernel
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use metalworks_compute::{CompileOptions, Device, Error, FunctionConstantValues, Size};

const SHADER: &str = "\
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}
";

fn main() -> Result<(), Error> {
    const LEN: usize = 10_000;
    let device = Device::system_default()?;
    println!("device: {}", device.name());

    let library = device.new_library_with_source(SHADER, &CompileOptions::default())?;
    let function = library.new_function("saxpy", &FunctionConstantValues::new())?;
    let pipeline = device.new_compute_pipeline_state(&function)?;

    let numbers: Vec<f32> = (0..LEN).map(|i| i as f32).collect();
    let x = device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers))?;
    let y = device.new_buffer_with_bytes(bytemuck::cast_slice(&vec![1.0_f32; LEN]))?;

    let command_buffer = device.new_command_queue().new_command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(&pipeline)?;
    encoder.set_buffer(0, &x, 0)?;
    encoder.set_buffer(1, &y, 0)?;
    encoder.set_bytes(2, &2.0_f32.to_le_bytes())?;
    // The last threadgroup is smaller, as in Metal.
    encoder.dispatch_threads(Size::linear(LEN), Size::linear(256))?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;

    let result = y.read::<f32>();
    assert!(result.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0));
    println!("2 · {} + 1 = {}", LEN - 1, result[LEN - 1]);
    Ok(())
}
