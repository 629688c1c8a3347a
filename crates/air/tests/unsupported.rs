//! Kernels that the front end accepts and lowering does not support: each says why, and where.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{Error, MathMode, lower};
use std::collections::BTreeSet;

/// Kernels of the file that are supported, although they are about the same types.
const SUPPORTED: &[&str] = &[
    "unused_argument_buffer",
    "sizes",
    "copies",
    "threadgroup_textures",
    "rays",
    "pixel_copies",
    "grids",
    "long_vectors",
    "atomics",
    "factors",
];

#[test]
fn unsupported_kernels_say_where() {
    let options = msl::Options { std: msl::LanguageVersion::new(4, 0), ..msl::Options::default() };
    let text = include_str!("unsupported.metal");
    let compilation = msl::compile_source("unsupported.metal", text, &options);
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let (mut supported, mut failures) = (BTreeSet::new(), Vec::new());
    for entry in compilation.program.kernels() {
        let name = entry.name.as_str();
        let context = Context::create();
        match lower(&context, &compilation, entry, MathMode::Fast).map(|module| module.verify()) {
            Ok(Ok(())) => _ = supported.insert(name),
            Ok(Err(error)) => failures.push(format!("{name}: {error}")),
            Err(Error::Unsupported { what, span }) => {
                let place = compilation.sources.presumed(compilation.sources.outermost(span));
                let is_here = span != msl::source::Span::default() && place.file == "unsupported.metal";
                if !is_here || what.is_empty() {
                    failures.push(format!("{name}: {what} at {place}"));
                }
            }
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(supported, SUPPORTED.iter().copied().collect());
}
