//! minijinja in a child process, and the bounds of a template.

use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

use jiff::Zoned;
use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;

use super::error::ChatError;
use super::sandbox::{self, Limits, Stopped};
use super::{TemplateLimits, functions, generation};

/// Longest rendered text in bytes, far beyond any context.
const MAX_TEXT_LEN: usize = 16 << 20;

/// Longest template in bytes. Those of models have some thousand.
const MAX_TEMPLATE_LEN: usize = 1 << 20;

/// Time on the clock for a rendering that waits forever.
const PATIENCE: Duration = Duration::from_secs(120);

const STACK: usize = 32 << 20;

/// Longest message of an error, which a template can choose.
const MAX_MESSAGE_LEN: usize = 1 << 10;

const NAME: &str = "chat_template";

/// Parses a template.
pub(super) fn check(template: &str) -> Result<(), ChatError> {
    if template.len() > MAX_TEMPLATE_LEN {
        let problem = format!("it has {} bytes; the limit is {MAX_TEMPLATE_LEN}", template.len());
        return Err(ChatError::stopped(problem));
    }
    let (now, limits) = (Zoned::default(), TemplateLimits::default());
    in_child(limits, || {
        // Its tree may be too deep for destructors, and the process ends.
        std::mem::forget(environment(template, now, limits)?);
        Ok(String::new())
    })
    .map(drop)
}

/// Renders a template that [`check`] accepts. `now` is the time for `strftime_now`.
pub(super) fn render(
    template: &str,
    variables: Value,
    now: Zoned,
    limits: TemplateLimits,
) -> Result<String, ChatError> {
    in_child(limits, || {
        // As in `check`, nothing that may be deep is dropped.
        let environment = ManuallyDrop::new(environment(template, now, limits)?);
        let parsed = environment.get_template(NAME).map_err(|error| ChatError::template(&error))?;
        let mut text = LimitedWriter(Vec::new());
        let rendered = parsed.render_captured_to(variables, &mut text).map(std::mem::forget);
        rendered.map_err(|error| ChatError::rendering(&error))?;
        Ok(String::from_utf8_lossy(&text.0).into_owned())
    })
}

fn environment(template: &str, now: Zoned, limits: TemplateLimits) -> Result<Environment<'static>, ChatError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| ChatError::template(&error))?);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(functions::format);
    environment.set_fuel(Some(limits.instructions));
    functions::add_to(&mut environment, now);
    let template = generation::without_tags(template);
    environment.add_template_owned(NAME, template).map_err(|error| ChatError::template(&error))?;
    Ok(environment)
}

fn in_child(
    limits: TemplateLimits,
    work: impl FnOnce() -> Result<String, ChatError> + Send,
) -> Result<String, ChatError> {
    let TemplateLimits { time, memory, .. } = limits;
    let bounds = Limits { time, patience: PATIENCE, memory, stack: STACK, result: MAX_TEXT_LEN + (1 << 10) };
    let result = sandbox::run(bounds, || encode(work()));
    let result = result.map_err(|stopped| {
        ChatError::stopped(match stopped {
            Stopped::Time => format!("it takes longer than {} seconds", time.as_secs_f32()),
            Stopped::Memory => format!("it needs more than {} MiB of memory", memory >> 20),
            Stopped::Stack => "its code or its values are nested too deeply".to_owned(),
            Stopped::Result => format!("the text is longer than {MAX_TEXT_LEN} bytes"),
            Stopped::Panic => "the template engine panicked".to_owned(),
            Stopped::Signal(signal) => format!("the process that renders it ended by signal {signal}"),
            Stopped::Start(error) => format!("cannot start a process that renders it: {error}"),
        })
    })?;
    decode(&result).unwrap_or_else(|| Err(ChatError::stopped("the process that renders it failed")))
}

const TEXT: u8 = 0;
const TEMPLATE: u8 = 1;
const REFUSED: u8 = 2;

/// Result of the child as bytes: its kind, the line of an error or 0, and text.
fn encode(result: Result<String, ChatError>) -> Vec<u8> {
    let (kind, text, line) = match result {
        Ok(text) => (TEXT, text, None),
        Err(ChatError::Refused { problem, line }) => (REFUSED, shorten(problem), line),
        Err(ChatError::Template { problem, line }) => (TEMPLATE, shorten(problem), line),
        Err(other) => (TEMPLATE, shorten(other.to_string()), None),
    };
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&(line.unwrap_or(0) as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Result<String, ChatError>> {
    let (&kind, rest) = bytes.split_first()?;
    let (line, text) = rest.split_first_chunk()?;
    let line = usize::try_from(u64::from_le_bytes(*line)).ok().filter(|&line| line > 0);
    let text = String::from_utf8(text.to_vec()).ok()?;
    match kind {
        TEXT => Some(Ok(text)),
        REFUSED => Some(Err(ChatError::Refused { problem: text, line })),
        TEMPLATE => Some(Err(ChatError::Template { problem: text, line })),
        _ => None,
    }
}

fn shorten(mut text: String) -> String {
    if text.len() > MAX_MESSAGE_LEN {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE_LEN));
        text.push('…');
    }
    text
}

/// Writer that fails beyond [`MAX_TEXT_LEN`] bytes.
struct LimitedWriter(Vec<u8>);

impl io::Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT_LEN {
            return Err(io::Error::other(format!("the text is longer than {MAX_TEXT_LEN} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
