//! Kernels on one thread beside the same loops in plain Rust, in turns in the same run:
//!
//! ```text
//! cargo bench -p metalworks-compute
//! ```
//!
//! Both sides use the same memory. Each number is the median of many runs; GB/s counts the bytes that must move. A
//! ratio above 1 means that the kernel is slower. Results are compared before anything is measured.

mod plain;

use half::f16;
use metalworks_compute::{
    Buffer, CommandBufferDescriptor, CompileOptions, ComputePipelineState, ConstantValue, CpuOptions, Device,
    FunctionConstantValues, Library, Size,
};
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// A loop in Rust that writes its result.
type Loop = Box<dyn FnMut(&mut [f32])>;

/// A number from a sequence that looks random, between -1 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.next()).collect()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| ((self.next() + 1.0) * 127.0) as u8).collect()
    }
}

struct Bench {
    device: Device,
    library: Library,
}

/// A benchmark.
struct Case {
    name: String,
    pipeline: ComputePipelineState,
    arguments: Vec<Buffer>,
    grid: Size,
    threadgroup: Size,
    /// Index of the result buffer.
    result: usize,
    /// Bytes that must be read and written.
    bytes: usize,
    plain: Loop,
}

impl Bench {
    fn new() -> Result<Bench, Failure> {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) })?;
        let library = device.new_library_with_source(include_str!("kernels.metal"), &CompileOptions::default())?;
        Ok(Bench { device, library })
    }

    fn pipeline(&self, name: &str, k: usize) -> Result<ComputePipelineState, Failure> {
        let mut constants = FunctionConstantValues::new();
        if !matches!(name, "add" | "silu_mul" | "row_sum") {
            constants.set(0, ConstantValue::Uint(k as u32));
        }
        let function = self.library.new_function(name, &constants)?;
        Ok(self.device.new_compute_pipeline_state(&function)?)
    }

    fn buffer<T: bytemuck::Pod>(&self, values: &[T]) -> Result<Buffer, Failure> {
        Ok(self.device.new_buffer_with_bytes(bytemuck::cast_slice(values))?)
    }

    fn run(&self, case: &Case) -> Result<Duration, Failure> {
        let profiled = CommandBufferDescriptor { profiling: true, ..CommandBufferDescriptor::default() };
        let command_buffer = self.device.new_command_queue().new_command_buffer_with_descriptor(&profiled);
        let mut encoder = command_buffer.compute_command_encoder()?;
        encoder.set_compute_pipeline_state(&case.pipeline)?;
        for (index, buffer) in case.arguments.iter().enumerate() {
            encoder.set_buffer(index, buffer, 0)?;
        }
        encoder.dispatch_threads(case.grid, case.threadgroup)?;
        encoder.end_encoding()?;
        command_buffer.commit()?;
        command_buffer.wait_until_completed()?;
        Ok(command_buffer.dispatch_timings().iter().map(|timing| timing.duration()).sum())
    }

    fn measure(&self, mut case: Case) -> Result<(), Failure> {
        let count = case.arguments[case.result].len() / 4;
        let mut expected = vec![0.0f32; count];
        (case.plain)(&mut expected);
        self.run(&case)?;
        compare(&case.name, &case.arguments[case.result].read::<f32>(), &expected)?;
        let (mut kernel, mut plain) = (Vec::new(), Vec::new());
        let begin = Instant::now();
        while kernel.len() < 15 || (begin.elapsed() < Duration::from_millis(700) && kernel.len() < 2000) {
            kernel.push(self.run(&case)?);
            let start = Instant::now();
            (case.plain)(black_box(&mut expected));
            plain.push(start.elapsed());
        }
        let (kernel, plain) = (median(kernel), median(plain));
        let rate = |time: Duration| case.bytes as f64 / time.as_secs_f64() / 1e9;
        writeln!(
            std::io::stdout(),
            "{:<26} {:>12} ns {:>7.1} GB/s {:>12} ns {:>7.1} GB/s {:>7.2}",
            case.name,
            kernel.as_nanos(),
            rate(kernel),
            plain.as_nanos(),
            rate(plain),
            kernel.as_secs_f64() / plain.as_secs_f64()
        )?;
        Ok(())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn compare(name: &str, found: &[f32], expected: &[f32]) -> Result<(), Failure> {
    let largest = expected.iter().fold(1e-6f32, |largest, value| largest.max(value.abs()));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let near = (found - expected).abs() <= 1e-4 * largest;
        if !near {
            return Err(format!("{name}: element {index} is {found}, not {expected}").into());
        }
    }
    Ok(())
}

/// Rows are spread over simdgroups, several to a threadgroup.
const ROWS_PER_THREADGROUP: usize = 8;

fn rows(count: usize) -> (Size, Size) {
    (Size::new(32, count, 1), Size::new(32, ROWS_PER_THREADGROUP, 1))
}

fn elementwise(bench: &Bench, name: &str, count: usize) -> Result<(), Failure> {
    let mut numbers = Numbers(1);
    let (a, b) = (numbers.floats(count), numbers.floats(count));
    let mut arguments = vec![bench.buffer(&a)?, bench.buffer(&b)?, bench.device.new_buffer(count * 4)?];
    if name == "add" {
        arguments.push(bench.buffer(&[count as u32])?);
    }
    let plain: Loop = match name {
        "add" => Box::new(move |result| plain::add(&a, &b, result)),
        _ => Box::new(move |result| plain::silu_mul(&a, &b, result)),
    };
    bench.measure(Case {
        name: format!("{name} {count}"),
        pipeline: bench.pipeline(name, 0)?,
        arguments,
        grid: Size::new(count, 1, 1),
        threadgroup: Size::new(1024, 1, 1),
        result: 2,
        bytes: count * 12,
        plain,
    })
}

fn of_rows(bench: &Bench, name: &str, count: usize, k: usize) -> Result<(), Failure> {
    let x = Numbers(2).floats(count * k);
    let (result, passes) = if name == "softmax" { (count * k, 2) } else { (count, 1) };
    let mut arguments = vec![bench.buffer(&x)?, bench.device.new_buffer(result * 4)?];
    if name == "row_sum" {
        arguments.push(bench.buffer(&[k as u32])?);
    }
    let plain: Loop = match name {
        "softmax" => Box::new(move |result| plain::softmax(&x, k, result)),
        _ => Box::new(move |result| plain::row_sum(&x, k, result)),
    };
    let (grid, threadgroup) = rows(count);
    let pipeline = bench.pipeline(name, k)?;
    let bytes = count * k * 4 * passes;
    bench.measure(Case {
        name: format!("{name} {count}x{k}"),
        pipeline,
        arguments,
        grid,
        threadgroup,
        result: 1,
        bytes,
        plain,
    })
}

fn gemv(bench: &Bench, name: &str, count: usize, k: usize) -> Result<(), Failure> {
    let mut numbers = Numbers(3);
    let x = numbers.floats(k);
    let scale = |numbers: &mut Numbers| f16::from_f32(numbers.next() * 0.01 + 0.02).to_bits();
    let (mut arguments, plain): (Vec<Buffer>, Loop) = match name {
        "gemv_f16" => {
            let weights: Vec<u16> = (0..count * k).map(|_| f16::from_f32(numbers.next()).to_bits()).collect();
            let x = x.clone();
            (vec![bench.buffer(&weights)?], Box::new(move |result| plain::gemv_f16(&weights, &x, result)))
        }
        "gemv_q8_0" => {
            let mut weights = numbers.bytes(count * k / 32 * 34);
            for block in weights.chunks_exact_mut(34) {
                block[..2].copy_from_slice(&scale(&mut numbers).to_le_bytes());
            }
            let x = x.clone();
            (vec![bench.buffer(&weights)?], Box::new(move |result| plain::gemv_q8_0(&weights, &x, result)))
        }
        _ => {
            let quants = numbers.bytes(count * k / 2);
            let scales: Vec<u16> = (0..count * k / 32).map(|_| scale(&mut numbers)).collect();
            let buffers = vec![bench.buffer(&quants)?, bench.buffer(&scales)?];
            let x = x.clone();
            (buffers, Box::new(move |result| plain::gemv_q4_0(&quants, &scales, &x, result)))
        }
    };
    let bytes = arguments.iter().map(Buffer::len).sum();
    arguments.push(bench.buffer(&x)?);
    let result = arguments.len();
    arguments.push(bench.device.new_buffer(count * 4)?);
    let (grid, threadgroup) = rows(count);
    let pipeline = bench.pipeline(name, k)?;
    bench.measure(Case {
        name: format!("{name} {count}x{k}"),
        pipeline,
        arguments,
        grid,
        threadgroup,
        result,
        bytes,
        plain,
    })
}

fn main() -> Result<(), Failure> {
    let bench = Bench::new()?;
    let mut out = std::io::stdout();
    writeln!(out, "{}, one thread", bench.device.name())?;
    writeln!(out, "{:<26} {:>28} {:>28} {:>7}", "", "kernel", "plain Rust", "ratio")?;
    for count in [1 << 14, 1 << 20, 1 << 24] {
        elementwise(&bench, "add", count)?;
        elementwise(&bench, "silu_mul", count)?;
    }
    for (count, k) in [(16, 4096), (256, 4096), (4096, 4096)] {
        of_rows(&bench, "row_sum", count, k)?;
        of_rows(&bench, "softmax", count, k)?;
    }
    for (count, k) in [(64, 4096), (4096, 4096)] {
        for name in ["gemv_f16", "gemv_q8_0", "gemv_q4_0"] {
            gemv(&bench, name, count, k)?;
        }
    }
    Ok(())
}
