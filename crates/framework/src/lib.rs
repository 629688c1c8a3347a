//! Metal.framework for Linux: the Objective-C runtime, the part of Foundation and of libdispatch, and the protocols of
//! Metal that programs which compute need, over the crate `compute` on the CPU.
//!
//! ```text
//! program ── objc_msgSend, objc_msg_lookup ── runtime ──┬─ foundation   NSString, NSArray, NSError, …
//!            MTLCreateSystemDefaultDevice               ├─ dispatch     queues, data, semaphores
//!                                                       └─ metal        MTLDevice, MTLCommandBuffer, …  ── compute
//!            mistakes of the program ── debug           table: all selectors and their state
//! ```
//!
//! Everything is exported by C names, and nothing else is: a program has its own build of `compute`, if any.
//!
//! **Invariant:** a mistake of the program is reported with the class and the selector it was made with, in the words of
//! Metal's debug layer where it has some (`debug`).
#![cfg(target_os = "linux")]
#![cfg_attr(test, allow(clippy::print_stderr, reason = "tests report measurements"))]

#[macro_use]
mod debug;
#[macro_use]
mod runtime;
mod dispatch;
mod foundation;
mod metal;
mod table;
