//! Chat templates: messages to the text that a model was trained on.
//!
//! A model file brings its template along (`tokenizer.chat_template`), written for Jinja as the Python package `transformers`
//! sets it up. Here minijinja runs it, with the same settings and the same additions:
//!
//! ```text
//! template ── generation: tags of transformers that Jinja lacks ── minijinja: parse, run ── text
//!                                                                  ├ pycompat: the methods of Python's types
//!                                                                  └ functions: tojson, raise_exception, strftime_now
//! ```
//!
//! A template is foreign code: it may run only so many instructions and write only so much.

mod error;
mod functions;
mod generation;

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use serde::{Deserialize, Serialize};

use crate::gguf::Metadata;
use crate::tokenizer::Tokenizer;

pub use error::ChatError;

/// How many instructions a template may run: about a second, and enough for tens of thousands of messages.
const FUEL: u64 = 10_000_000;

/// How many bytes a template may write, far beyond any context.
const LONGEST_TEXT: usize = 64 << 20;

const NAME: &str = "chat_template";

/// The template of a model.
pub struct ChatTemplate {
    environment: Environment<'static>,
    bos_token: String,
    eos_token: String,
}

/// A message of a conversation. Any other structure that has what the template asks for will do as well.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Message {
    /// Who speaks: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }
}

/// Anything that a template may be given, such as JSON that was read. Unlike `serde_json::Value`, it keeps the order of keys,
/// which templates write out for tools.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variable(Value);

impl Variable {
    /// A variable with a value.
    pub fn new(value: impl Serialize) -> Self {
        Self(Value::from(Serde(value)))
    }
}

/// What a template is given beside the messages.
#[derive(Clone, Default, Debug)]
pub struct RenderOptions {
    /// End with the beginning of the answer, so that the model goes on with it.
    pub add_generation_prompt: bool,
    /// Variables that only some templates know, such as `tools` or `enable_thinking`.
    pub variables: BTreeMap<String, Variable>,
    /// The time that a template finds, in UTC; the present, in the time zone of the system, if none is given.
    pub now: Option<SystemTime>,
}

impl ChatTemplate {
    /// Reads a template. The tokens are what it puts where it says `bos_token` and `eos_token`.
    pub fn new(
        template: &str,
        bos_token: impl Into<String>,
        eos_token: impl Into<String>,
    ) -> Result<Self, ChatError> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| ChatError::template(&error))?);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.set_formatter(functions::format);
        environment.set_fuel(Some(FUEL));
        functions::add_to(&mut environment);
        let template = generation::without_tags(template);
        environment.add_template_owned(NAME, template).map_err(|error| ChatError::template(&error))?;
        Ok(Self { environment, bos_token: bos_token.into(), eos_token: eos_token.into() })
    }

    /// Reads the template of a model file.
    pub fn from_metadata(metadata: &Metadata, tokenizer: &Tokenizer) -> Result<Self, ChatError> {
        let template = metadata.get_optional::<&str>("tokenizer.chat_template").map_err(ChatError::File)?;
        let Some(template) = template else { return Err(ChatError::NoTemplate) };
        let text = |id: Option<u32>| {
            let piece = id.and_then(|id| tokenizer.piece(id).ok()).unwrap_or_default();
            String::from_utf8_lossy(piece).into_owned()
        };
        Self::new(template, text(tokenizer.bos()), text(tokenizer.eos()))
    }

    /// The text of a conversation. Its special tokens are written out: encode it with `parse_special`, and without
    /// `add_special`, as templates begin with `bos` themselves where models want that.
    pub fn render(&self, messages: &[impl Serialize], options: &RenderOptions) -> Result<String, ChatError> {
        let template = self.environment.get_template(NAME).map_err(|error| ChatError::template(&error))?;
        if messages.is_empty() {
            return Err(ChatError::Refused { problem: "there are none".to_owned(), line: None });
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
        variables.insert(functions::NOW, Value::from(options.now.map(functions::seconds)));
        let mut text = Limited(Vec::new());
        // minijinja 3.0 panics on some templates, such as a list of nothing in reverse.
        let run = AssertUnwindSafe(|| template.render_captured_to(Value::from(variables), &mut text).map(drop));
        match catch_unwind(run) {
            Ok(result) => result.map_err(|error| ChatError::rendering(&error))?,
            Err(_) => return Err(ChatError::engine()),
        }
        Ok(String::from_utf8_lossy(&text.0).into_owned())
    }
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate").finish_non_exhaustive()
    }
}

/// Text that does not grow beyond a limit.
struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST_TEXT {
            return Err(io::Error::other(format!("the text is longer than {LONGEST_TEXT} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
