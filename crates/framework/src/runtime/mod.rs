//! The Objective-C runtime: classes with methods written in Rust, messages, reference counts, pools, blocks.
//!
//! ```text
//! selector ── names to numbers                    encode ── types of methods, as text
//! class ───── classes, methods, dispatch tables   define ── the macro that declares a class in Rust
//! send ────── objc_msgSend, objc_msg_lookup       build ─── classes and protocols made by programs
//! object ──── memory and reference counts         pool ──── autorelease pools       weak ── weak references
//! payload ─── the Rust value of an instance       small ─── short strings in the bits of a pointer
//! block ───── blocks of C and Rust                inspect ─ questions about classes and methods
//! load ────── classes that clang emits            initialize ─ +initialize          exception ── @throw and @catch, also in C++
//! property ── accessors that clang calls          associate ── associated objects, @synchronized
//! variadic ── methods with variable arguments
//! ```
//!
//! The layout of classes and selectors is that of GNUstep's runtime, version 2: classes compiled by clang are loaded.
//! Counts are in the word before an object.

mod associate;
pub(crate) mod block;
pub(crate) mod build;
pub(crate) mod class;
#[macro_use]
pub(crate) mod define;
pub(crate) mod encode;
pub(crate) mod exception;
mod exception_cpp;
mod initialize;
mod inspect;
mod load;
pub(crate) mod object;
pub(crate) mod payload;
pub(crate) mod pool;
mod property;
pub(crate) mod selector;
pub(crate) mod send;
mod small;
#[cfg(test)]
mod tests;
#[macro_use]
pub(crate) mod variadic;
mod weak;

pub(crate) use class::Class;
pub(crate) use encode::{Encode, Flag, Range, Size3};
pub(crate) use object::{Id, Strong};
pub(crate) use payload::{Copied, Fields, Object, Payload};
pub(crate) use selector::Sel;
