//! Text from tokens as they come.

use super::{Tokenizer, TokenizerError};

/// Turns tokens into text one by one, and never gives out a part of a character.
///
/// Characters may be spread over several tokens. Bytes that begin a character are held back until the rest of it has come;
/// bytes that can no longer become one are U+FFFD.
#[derive(Clone, Debug)]
pub struct TokenStream<'t> {
    tokenizer: &'t Tokenizer,
    show_special: bool,
    /// The beginning of a character: at most three bytes between calls.
    held_back: Vec<u8>,
    text: String,
}

impl<'t> TokenStream<'t> {
    pub(super) fn new(tokenizer: &'t Tokenizer, show_special: bool) -> Self {
        Self { tokenizer, show_special, held_back: Vec::new(), text: String::new() }
    }

    /// Takes the next token, and returns the text that has become certain by it, if any.
    pub fn push(&mut self, id: u32) -> Result<Option<&str>, TokenizerError> {
        let piece = self.tokenizer.shown(id, self.show_special)?;
        self.text.clear();
        self.held_back.extend_from_slice(piece);
        let mut certain = 0;
        for chunk in self.held_back.utf8_chunks() {
            self.text.push_str(chunk.valid());
            certain += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                if may_continue(chunk.invalid()) && certain + chunk.invalid().len() == self.held_back.len() {
                    break;
                }
                self.text.push(char::REPLACEMENT_CHARACTER);
                certain += chunk.invalid().len();
            }
        }
        self.held_back.drain(..certain);
        Ok((!self.text.is_empty()).then_some(self.text.as_str()))
    }

    /// Ends the text: a character that is not whole is U+FFFD. The stream can be used again.
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

/// Whether more bytes may make a character of these.
fn may_continue(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
