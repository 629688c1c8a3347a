//! Expanded functions, run: what they compute, on millions of numbers.

mod accuracy;
mod files;
mod run;
