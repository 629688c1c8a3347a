//! Chat templates: render messages to the prompt format that a model was trained on.
//!
//! A model file contains its template (`tokenizer.chat_template`), written for Jinja as the Python package
//! `transformers` configures it. minijinja renders it with the same settings and extensions:
//!
//! ```text
//! template ── generation: replace tags of transformers ── minijinja: parse, render ── text
//!                                                         ├ pycompat: methods of Python's types
//!                                                         └ functions: tojson, raise_exception, strftime_now
//! ```
//!
//! A template is untrusted code: it is parsed and rendered in a child process with bounds on time, memory and depth.

mod engine;
mod error;
mod functions;
mod generation;
mod sandbox;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use minijinja::value::{Serde, Value};
use serde::{Deserialize, Serialize};

use crate::gguf::Metadata;
use crate::tokenizer::Tokenizer;

pub use error::ChatError;

/// Chat template of a model.
pub struct ChatTemplate {
    text: String,
    bos_token: String,
    eos_token: String,
}

/// Message of a conversation. [`ChatTemplate::render`] also takes other structures with the fields that the template
/// reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Message {
    /// Role of the speaker, such as `system`, `user` or `assistant`.
    pub role: String,
    /// Text of the message.
    pub content: String,
}

impl Message {
    /// Creates a message.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }
}

/// Value of a template variable, such as parsed JSON. Unlike `serde_json::Value`, it keeps the order of keys, which
/// templates write out for tools.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variable(Value);

impl Variable {
    /// Creates a variable.
    pub fn new(value: impl Serialize) -> Self {
        Self(Value::from(Serde(value)))
    }
}

/// Options of [`ChatTemplate::render`].
#[derive(Clone, Default, Debug)]
pub struct RenderOptions {
    /// End the prompt with the header of an assistant message, which the model continues.
    pub add_generation_prompt: bool,
    /// Variables that some templates read, such as `tools` or `enable_thinking`.
    pub variables: BTreeMap<String, Variable>,
    /// Time for `strftime_now`, in UTC. Default: the current time in the system's time zone.
    pub now: Option<SystemTime>,
    /// Bounds of the rendering.
    pub limits: TemplateLimits,
}

/// Bounds of a rendering, such as those of a server that cannot wait. The defaults are enough for tens of thousands of
/// messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TemplateLimits {
    /// Instructions of the template engine.
    pub instructions: u64,
    /// Processor time.
    pub time: Duration,
    /// Bytes of memory beyond those of this process, on Linux.
    pub memory: u64,
}

impl Default for TemplateLimits {
    fn default() -> Self {
        // As many instructions take about a second.
        Self { instructions: 10_000_000, time: Duration::from_secs(10), memory: 256 << 20 }
    }
}

impl ChatTemplate {
    /// Parses a template. The tokens are the values of its variables `bos_token` and `eos_token`.
    pub fn new(
        template: &str,
        bos_token: impl Into<String>,
        eos_token: impl Into<String>,
    ) -> Result<Self, ChatError> {
        engine::check(template)?;
        Ok(Self { text: template.to_owned(), bos_token: bos_token.into(), eos_token: eos_token.into() })
    }

    /// Parses the template of a model file.
    pub fn from_metadata(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Self, ChatError> {
        let template = metadata.get_optional::<&str>("tokenizer.chat_template").map_err(ChatError::File)?;
        let Some(template) = template else { return Err(ChatError::NoTemplate) };
        let text = |id: Option<u32>| {
            let piece = id.and_then(|id| tokenizer.piece(id).ok()).unwrap_or_default();
            String::from_utf8_lossy(piece).into_owned()
        };
        Self::new(template, text(tokenizer.bos()), text(tokenizer.eos()))
    }

    /// Renders a conversation. Encode the text with `parse_special`, because it contains special tokens, and without
    /// `add_special`, because a template adds `bos` itself if the model wants it.
    pub fn render(&self, messages: &[impl Serialize], options: &RenderOptions) -> Result<String, ChatError> {
        if messages.is_empty() {
            return Err(ChatError::Refused { problem: "the list is empty".to_owned(), line: None });
        }
        let mut variables = BTreeMap::from([
            ("tools", Value::from(())),
            ("documents", Value::from(())),
            ("bos_token", Value::from(self.bos_token.as_str())),
            ("eos_token", Value::from(self.eos_token.as_str())),
        ]);
        variables.extend(options.variables.iter().map(|(name, variable)| (name.as_str(), variable.0.clone())));
        variables.insert("messages", Value::from(Serde(messages)));
        variables.insert("add_generation_prompt", Value::from(options.add_generation_prompt));
        engine::render(&self.text, Value::from(variables), functions::time(options.now), options.limits)
    }
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate").finish_non_exhaustive()
    }
}
