//! The Objective-C runtime: classes with methods written in Rust, messages, reference counts, pools, blocks.
//!
//! ```text
//! selector ── names to numbers                    encode ── types of methods, as text
//! class ───── classes, methods, dispatch tables   define ── the macro that declares a class in Rust
//! send ────── objc_msgSend, objc_msg_lookup       build ─── classes and protocols made by programs
//! object ──── memory and reference counts         pool ──── autorelease pools       weak ── weak references
//! block ───── blocks of C and Rust                inspect ─ questions about classes and methods
//! ```
//!
//! The layout of classes and selectors is that of GNUstep's runtime, version 2, so that classes compiled by clang can be
//! loaded one day. Counts are in the word before an object.

pub(crate) mod block;
pub(crate) mod build;
pub(crate) mod class;
#[macro_use]
pub(crate) mod define;
pub(crate) mod encode;
mod inspect;
pub(crate) mod object;
pub(crate) mod pool;
pub(crate) mod selector;
pub(crate) mod send;
#[cfg(test)]
mod tests;
mod weak;

pub(crate) use class::Class;
pub(crate) use encode::{Encode, Flag, Range, Size3};
pub(crate) use object::{Fields, Id, Object, Payload, Strong};
pub(crate) use selector::Sel;
