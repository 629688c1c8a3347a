//! Folders of Hugging Face and MLX: reading, running, and errors for corrupt input.

#[cfg(feature = "compiler")]
mod delta_net;
#[cfg(feature = "compiler")]
mod experts;
mod folder;
mod hostile;
#[cfg(feature = "compiler")]
mod logits;
mod quantized;
mod tokenizer;
#[cfg(feature = "compiler")]
#[path = "../../../compute/tests/until_exit/mod.rs"]
mod until_exit;
