//! Multiplies your own weights with a vector, with a kernel of the shader library.
//!
//! ```sh
//! cargo run -p metalworks-inference --example gemv
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use metalworks_inference::formats::{Activation, Format, quantize};
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::metal::dispatch::Encoding;
use metalworks_inference::metal::layout::{Layout, Matrix};
use metalworks_inference::metal::library::BufferSlice;
use metalworks_inference::metal::operations::{Gemv, gemv};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    const ROWS: usize = 96;
    const COLUMNS: usize = 256;
    let weights: Vec<f32> = (0..ROWS * COLUMNS).map(|i| ((i % 31) as f32 - 15.0) / 16.0).collect();
    let vector: Vec<f32> = (0..COLUMNS).map(|i| (i % 7) as f32 / 8.0).collect();

    let metal = MetalDevice::system_default()?;
    let device = metal.device();
    println!("device: {}", device.name());

    // Blocks as in GGUF files, in the layout that kernels read fastest.
    let format = Format::Q8_0;
    let blocks = quantize(format, &weights).ok_or("rows are not whole blocks")?;
    let layout = Layout::preferred(format, COLUMNS);
    let w = device.new_buffer_with_bytes(&layout.from_blocks(format, ROWS, COLUMNS, &blocks)?)?;
    let x = device.new_buffer_with_bytes(bytemuck::cast_slice(&vector))?;
    let y = device.new_buffer(4 * ROWS)?;

    let all = |buffer| BufferSlice::from(buffer);
    let product = Gemv {
        w: Matrix { data: all(&w), format, layout, rows: ROWS, columns: COLUMNS },
        x: all(&x),
        y: all(&y),
        bias: None,
        residual: None,
        m: 1,
        activation: Activation::F32,
        packed_x: false,
    };
    let command_buffer = metal.command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    gemv(&mut Encoding::new(&metal, &mut encoder), product)?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;

    let mut largest = 0.0_f32;
    for (row, result) in weights.chunks(COLUMNS).zip(y.read::<f32>()) {
        let exact: f32 = row.iter().zip(&vector).map(|(w, x)| w * x).sum();
        largest = largest.max((exact - result).abs());
    }
    println!("{ROWS} × {COLUMNS} weights in {format}: largest error {largest:.4}");
    assert!(largest < 0.5, "rounding to 8 bits does not explain the error");
    Ok(())
}
