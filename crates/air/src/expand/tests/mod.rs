//! Expanded functions, run: what they compute, on millions of numbers.

mod accuracy;
mod convert;
mod files;
mod integer;
mod narrow;
mod run;
mod special;
mod vectors;
