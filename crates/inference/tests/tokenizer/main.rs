//! Text to tokens and back, compared with the tokenizers of others.
//!
//! `scripts/tokenizer-reference.py` made what is in `tests/data/tokenizer`.

mod data;
mod decoding;
mod hostile;
mod models;
mod references;
mod special;
