//! Checks a shader and prints the interface of its kernels.
//!
//! ```sh
//! cargo run -p metalworks-msl --example reflect [FILE.metal]
//! ```
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use metalworks_msl::{Options, compile_file, compile_source};
use std::process::ExitCode;

const SHADER: &str = "\
#include <metal_stdlib>
kernel void scale(device float *x [[buffer(0)]], constant float &factor [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  x[i] *= factor;
}
";

fn main() -> ExitCode {
    let options = Options { warnings: true, ..Options::default() };
    let compilation = match std::env::args_os().nth(1) {
        None => compile_source("scale.metal", SHADER, &options),
        Some(path) => match compile_file(path.as_ref(), &options) {
            Ok(compilation) => compilation,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        },
    };
    eprint!("{}", compilation.render_diagnostics(false));
    if compilation.has_errors() {
        return ExitCode::FAILURE;
    }
    for kernel in compilation.reflect().kernels {
        println!("kernel {}", kernel.name);
        for argument in kernel.arguments {
            println!("  {:?} {}: {} {}", argument.kind, argument.index, argument.ty, argument.name);
        }
    }
    ExitCode::SUCCESS
}
