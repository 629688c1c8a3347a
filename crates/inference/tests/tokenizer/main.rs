//! Encoding and decoding, compared with other tokenizers.
//!
//! `scripts/tokenizer-reference.py` generates `tests/data/tokenizer`.

mod data;
mod decoding;
mod hostile;
mod models;
mod references;
mod special;
