//! Sessions: a plan with the tokenizer and the chat template of its model.

use super::{Generated, TokenRequest, generate};
use crate::chat::{ChatError, ChatTemplate, Message, RenderOptions};
use crate::error::{Error, Result};
use crate::gguf::Gguf;
use crate::plan::Plan;
use crate::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use compute::trace;
use std::sync::atomic::AtomicBool;

/// Model that completes texts and answers messages.
pub struct Session {
    plan: Plan,
    tokenizer: Tokenizer,
    /// An error here matters to conversations only.
    template: std::result::Result<ChatTemplate, ChatError>,
}

/// Options of [`Session::complete`] and [`Session::answer`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextRequest<'a> {
    /// Most tokens to generate. `None`: no limit.
    pub max_tokens: Option<usize>,
    /// Tokens to decode at a time: text comes in such pieces. `None`: as many as suit the device.
    pub steps: Option<usize>,
    /// Drop the oldest messages or tokens of a full context and continue.
    pub context_shift: bool,
    /// Continue past tokens that end the text.
    pub ignore_end: bool,
    /// Set to true to stop.
    pub cancelled: &'a AtomicBool,
}

impl<'a> TextRequest<'a> {
    /// A request without limits, which ends where the model ends the text, the context is full, or `cancelled` is set.
    pub fn new(cancelled: &'a AtomicBool) -> TextRequest<'a> {
        TextRequest { max_tokens: None, steps: None, context_shift: false, ignore_end: false, cancelled }
    }
}

impl Session {
    /// Creates a session from a plan and the file that it was loaded from.
    pub fn new(plan: Plan, model: &Gguf) -> Result<Session> {
        let vocabulary = Vocabulary::from_metadata(model.metadata())?;
        let tokenizer = Tokenizer::new(&vocabulary).map_err(|error| Error::Model(error.to_string()))?;
        let (tokens, rows) = (tokenizer.vocabulary_size(), plan.hyperparameters().vocabulary);
        if tokens > rows {
            let problem = format!("the vocabulary has {tokens} tokens, but the embedding has {rows}");
            return Err(Error::Model(problem));
        }
        let template = ChatTemplate::from_metadata(model.metadata(), &tokenizer);
        Ok(Session { plan, tokenizer, template })
    }

    /// The plan.
    pub fn plan(&mut self) -> &mut Plan {
        &mut self.plan
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns an error if the model has no usable chat template.
    pub fn check_chat(&self) -> Result<()> {
        match &self.template {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Model(error.to_string())),
        }
    }

    /// Continues a text. Calls `each` with the new text, in whole characters.
    pub fn complete(&mut self, text: &str, request: &TextRequest<'_>, each: impl FnMut(&str)) -> Result<Generated> {
        let options = EncodeOptions { add_special: true, parse_special: true };
        let tokenizing = trace::host("tokenize");
        let tokens = self.tokenizer.encode(text, options);
        drop(tokenizing);
        if tokens.is_empty() {
            return Err(Error::Usage("the prompt is empty: it needs at least one token".into()));
        }
        self.continue_from(&tokens, request, each)
    }

    /// Answers the last message of a conversation. Calls `each` with the new text, in whole characters.
    pub fn answer(
        &mut self,
        messages: &[Message],
        request: &TextRequest<'_>,
        each: impl FnMut(&str),
    ) -> Result<Generated> {
        let mut messages = messages.to_vec();
        let mut tokens = self.conversation(&messages)?;
        let mut shifted = false;
        // Leave at least one position for the answer.
        while request.context_shift && tokens.len() >= self.plan.context() && drop_oldest(&mut messages) {
            tokens = self.conversation(&messages)?;
            shifted = true;
        }
        let generated = self.continue_from(&tokens, request, each)?;
        Ok(Generated { shifted: shifted || generated.shifted, ..generated })
    }

    /// Returns the tokens of a conversation, up to the beginning of the answer.
    pub fn conversation(&self, messages: &[Message]) -> Result<Vec<u32>> {
        let template = self.template.as_ref().map_err(|error| Error::Model(error.to_string()))?;
        let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
        let rendering = trace::host("render chat");
        let text = template.render(messages, &options).map_err(|error| Error::Usage(error.to_string()))?;
        drop(rendering);
        let _tokenizing = trace::host("tokenize");
        Ok(self.tokenizer.encode(&text, EncodeOptions { add_special: false, parse_special: true }))
    }

    fn continue_from(
        &mut self,
        tokens: &[u32],
        request: &TextRequest<'_>,
        mut each: impl FnMut(&str),
    ) -> Result<Generated> {
        let Session { plan, tokenizer, .. } = self;
        if tokens.len() > plan.context() {
            return Err(Error::Usage(format!(
                "the prompt has {} tokens, more than the context of {}: use a larger context, or a shorter prompt",
                tokens.len(),
                plan.context()
            )));
        }
        plan.resume(tokens)?;
        let TextRequest { max_tokens, steps, context_shift, ignore_end, cancelled } = *request;
        let steps = steps.unwrap_or_else(|| plan.steps());
        let is_end = |token| !ignore_end && tokenizer.ends_generation(token);
        let request = TokenRequest { max_tokens, steps, context_shift, is_end: &is_end, cancelled };
        let mut stream = tokenizer.stream(false);
        let mut failed = None;
        let generated = generate(plan, &request, |token| {
            let _span = trace::host("detokenize");
            match stream.push(token) {
                Ok(Some(text)) => each(text),
                Ok(None) => {}
                // The output matrix may have more rows than there are tokens.
                Err(error) => failed = Some(error),
            }
        })?;
        if let Some(rest) = stream.finish() {
            each(rest);
        }
        match failed {
            Some(error) => Err(Error::Model(format!("the model sampled an invalid token: {error}"))),
            None => Ok(generated),
        }
    }
}

/// Drops the oldest message and its answer, but not a leading system message nor the last message. Returns false if
/// nothing is left to drop.
fn drop_oldest(messages: &mut Vec<Message>) -> bool {
    let first = usize::from(messages.first().is_some_and(|message| message.role == "system"));
    if messages.len() <= first + 1 {
        return false;
    }
    // Drop the answer too: templates require alternating roles.
    let last = messages.len().min(first + 3) - 1;
    messages.drain(first..last.max(first + 1));
    true
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("plan", &self.plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_the_oldest_turn() {
        let message = |role: &str| Message::new(role, role.to_uppercase());
        let roles = |messages: &[Message]| -> Vec<String> { messages.iter().map(|m| m.role.clone()).collect() };
        let mut messages: Vec<Message> =
            ["system", "user", "assistant", "user", "assistant", "user"].map(message).to_vec();
        assert!(drop_oldest(&mut messages));
        assert_eq!(roles(&messages), ["system", "user", "assistant", "user"]);
        assert!(drop_oldest(&mut messages));
        assert_eq!(roles(&messages), ["system", "user"]);
        assert!(!drop_oldest(&mut messages), "the last message stays");
        let mut messages = vec![message("user")];
        assert!(!drop_oldest(&mut messages));
    }
}
