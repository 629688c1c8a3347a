//! Incremental decoding.

use super::{Tokenizer, TokenizerError};

/// Decodes tokens one by one into whole characters.
///
/// A character may span several tokens. The stream holds back the bytes of an incomplete character until the rest
/// arrives; bytes that can no longer become a character are U+FFFD.
#[derive(Clone, Debug)]
pub struct TokenStream<'t> {
    tokenizer: &'t Tokenizer,
    show_special: bool,
    /// Bytes of an incomplete character: at most three between calls.
    held_back: Vec<u8>,
    text: String,
}

impl<'t> TokenStream<'t> {
    pub(super) fn new(tokenizer: &'t Tokenizer, show_special: bool) -> Self {
        Self { tokenizer, show_special, held_back: Vec::new(), text: String::new() }
    }

    /// Decodes the next token. Returns the text that it completes, or `None` if no character is complete yet.
    pub fn push(&mut self, id: u32) -> Result<Option<&str>, TokenizerError> {
        let piece = self.tokenizer.decoded_piece(id, self.show_special)?;
        self.text.clear();
        self.held_back.extend_from_slice(piece);
        let mut decoded = 0;
        for chunk in self.held_back.utf8_chunks() {
            self.text.push_str(chunk.valid());
            decoded += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                if is_incomplete(chunk.invalid()) && decoded + chunk.invalid().len() == self.held_back.len() {
                    break;
                }
                self.text.push(char::REPLACEMENT_CHARACTER);
                decoded += chunk.invalid().len();
            }
        }
        self.held_back.drain(..decoded);
        Ok((!self.text.is_empty()).then_some(self.text.as_str()))
    }

    /// Ends the text. Returns U+FFFD for an incomplete character. The stream can be reused.
    pub fn finish(&mut self) -> Option<&str> {
        self.text.clear();
        if self.held_back.is_empty() {
            return None;
        }
        self.held_back.clear();
        self.text.push(char::REPLACEMENT_CHARACTER);
        Some(&self.text)
    }
}

/// Returns true if the bytes are a proper prefix of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
