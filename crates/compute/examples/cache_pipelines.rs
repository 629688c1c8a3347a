//! Creates the variants of a kernel in parallel, and keeps them: in a cache while the program runs, and in a file for the
//! next start.
//!
//! ```sh
//! cargo run -p metalworks-compute --example cache_pipelines [FILE]
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, Device, Error, FunctionDescriptor, PipelineCache,
    PipelineConfig,
};
use std::path::PathBuf;

const SHADER: &str = "\
#include <metal_stdlib>
constant uint WIDTH [[function_constant(0)]];

kernel void sum_rows(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                     uint row [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint i = 0; i < WIDTH; i++) sum += x[row * WIDTH + i];
  y[row] = sum;
}
";

fn main() -> Result<(), Error> {
    let file = std::env::args_os().nth(1).map(PathBuf::from);
    let archive = match &file {
        Some(path) if path.exists() => BinaryArchive::open(path)?,
        _ => BinaryArchive::new(),
    };
    let device = Device::system_default()?;
    let library = device.new_library_with_source(SHADER, &CompileOptions::default())?;

    // Called once for each kernel and set of constants, on the thread that needs the pipeline.
    let archives = vec![archive.clone()];
    let cache = PipelineCache::new(move |config| {
        let key = config.key();
        let function = FunctionDescriptor { library: &library, name: key.kernel(), constants: &key.constants()? };
        let descriptor = ComputePipelineDescriptor {
            label: Some(key.to_string()),
            binary_archives: archives.clone(),
            ..Default::default()
        };
        device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
    });

    // Loading: all variants, on all cores.
    let variants = [64_u32, 128, 256].map(|width| PipelineConfig::new("sum_rows", [("WIDTH", width.into())]));
    for pipeline in cache.create_all(&variants, |_| {}).into_pipelines()? {
        println!("{}: {:?}", pipeline.label().unwrap_or_default(), pipeline.origin());
    }
    cache.seal();

    // Running: a lookup takes no lock and allocates nothing.
    cache.get_or_create_pso("sum_rows", [("WIDTH", 128_u32.into())])?;
    println!("{:?}", cache.stats());

    match file {
        Some(path) if !path.exists() => archive.serialize(path),
        _ => Ok(()),
    }
}
