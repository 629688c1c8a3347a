//! Text in, text out: a plan with the tokenizer and the template of its model.

use super::{Generated, Request, generate};
use crate::chat::{ChatError, ChatTemplate, Message, RenderOptions};
use crate::error::{Error, Result};
use crate::gguf::Gguf;
use crate::plan::Plan;
use crate::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use std::sync::atomic::AtomicBool;

/// A model that reads and writes text.
pub struct Session {
    plan: Plan,
    tokenizer: Tokenizer,
    /// Only who wants a conversation needs one.
    template: std::result::Result<ChatTemplate, ChatError>,
}

/// How long a text may be, and when it ends.
#[derive(Clone, Copy, Debug)]
pub struct TextRequest<'a> {
    /// Tokens at most; until the end of the text or of the context where it is none.
    pub max_tokens: Option<usize>,
    /// Tokens that are chosen at a time.
    pub steps: usize,
    /// Where the context is full, forgets what is oldest and goes on.
    pub context_shift: bool,
    /// Goes on over tokens that end a text.
    pub ignore_end: bool,
    /// Ends the text when it is set.
    pub cancelled: &'a AtomicBool,
}

impl Session {
    /// A plan, and the file that it was loaded from.
    pub fn new(plan: Plan, model: &Gguf) -> Result<Session> {
        let vocabulary = Vocabulary::from_metadata(model.metadata())?;
        let tokenizer = Tokenizer::new(&vocabulary).map_err(|error| Error::Model(error.to_string()))?;
        let (tokens, rows) = (tokenizer.vocabulary_size(), plan.hyperparameters().vocabulary);
        if tokens > rows {
            let problem = format!("the vocabulary has {tokens} tokens, but the model knows {rows}");
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

    /// Whether the model can hold a conversation; the error says why not.
    pub fn check_chat(&self) -> Result<()> {
        match &self.template {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Model(error.to_string())),
        }
    }

    /// Goes on with a text as it is. `each` is given what comes, in whole characters.
    pub fn complete(&mut self, text: &str, request: &TextRequest<'_>, each: impl FnMut(&str)) -> Result<Generated> {
        let options = EncodeOptions { add_special: true, parse_special: true };
        let tokens = self.tokenizer.encode(text, options);
        if tokens.is_empty() {
            return Err(Error::Usage("the text is empty, so that there is nothing to go on from".into()));
        }
        self.go_on(&tokens, request, each)
    }

    /// Answers the last message of a conversation. `each` is given what comes, in whole characters.
    pub fn answer(
        &mut self,
        messages: &[Message],
        request: &TextRequest<'_>,
        each: impl FnMut(&str),
    ) -> Result<Generated> {
        let mut messages = messages.to_vec();
        let mut tokens = self.conversation(&messages)?;
        // One position at least is for the answer.
        while request.context_shift && tokens.len() >= self.plan.context() && drop_oldest(&mut messages) {
            tokens = self.conversation(&messages)?;
        }
        self.go_on(&tokens, request, each)
    }

    /// The tokens of a conversation, up to where the answer begins.
    pub fn conversation(&self, messages: &[Message]) -> Result<Vec<u32>> {
        let template = self.template.as_ref().map_err(|error| Error::Model(error.to_string()))?;
        let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
        let text = template.render(messages, &options).map_err(|error| Error::Usage(error.to_string()))?;
        Ok(self.tokenizer.encode(&text, EncodeOptions { add_special: false, parse_special: true }))
    }

    fn go_on(
        &mut self,
        tokens: &[u32],
        request: &TextRequest<'_>,
        mut each: impl FnMut(&str),
    ) -> Result<Generated> {
        let Session { plan, tokenizer, .. } = self;
        plan.resume(tokens)?;
        let TextRequest { max_tokens, steps, context_shift, ignore_end, cancelled } = *request;
        let is_end = |token| !ignore_end && tokenizer.ends_generation(token);
        let request = Request { max_tokens, steps, context_shift, is_end: &is_end, cancelled };
        let mut stream = tokenizer.stream(false);
        let mut failed = None;
        let generated = generate(plan, &request, |token| match stream.push(token) {
            Ok(Some(text)) => each(text),
            Ok(None) => {}
            // A row of the head that is no token.
            Err(error) => failed = Some(error),
        })?;
        if let Some(rest) = stream.finish() {
            each(rest);
        }
        match failed {
            Some(error) => Err(Error::Model(format!("the model chose what is no token: {error}"))),
            None => Ok(generated),
        }
    }
}

/// Drops the oldest message that can be: not the first where that is of the system, and not the last.
fn drop_oldest(messages: &mut Vec<Message>) -> bool {
    let first = usize::from(messages.first().is_some_and(|message| message.role == "system"));
    if messages.len() <= first + 1 {
        return false;
    }
    // With the answer to it: templates want turns to alternate.
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
    fn the_oldest_turn_goes_first() {
        let message = |role: &str| Message::new(role, role.to_uppercase());
        let roles = |messages: &[Message]| -> Vec<String> { messages.iter().map(|m| m.role.clone()).collect() };
        let mut messages: Vec<Message> =
            ["system", "user", "assistant", "user", "assistant", "user"].map(message).to_vec();
        assert!(drop_oldest(&mut messages));
        assert_eq!(roles(&messages), ["system", "user", "assistant", "user"]);
        assert!(drop_oldest(&mut messages));
        assert_eq!(roles(&messages), ["system", "user"]);
        assert!(!drop_oldest(&mut messages), "what was asked stays");
        let mut messages = vec![message("user")];
        assert!(!drop_oldest(&mut messages));
    }
}
