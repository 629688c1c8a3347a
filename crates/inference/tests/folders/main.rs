//! Folders of Hugging Face and MLX: reading, running, and errors for corrupt input.

mod folder;
mod hostile;
#[cfg(feature = "compiler")]
mod logits;
mod quantized;
mod tokenizer;
