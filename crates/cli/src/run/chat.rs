//! Chat on a terminal.

use std::io;
use std::sync::atomic::Ordering;

use inference::chat::Message;
use inference::generate::{Session, StopReason};

use super::answer::AnswerText;
use super::commands::{self, ChatInput, Settings};
use super::editor::{Input, LineEditor};
use super::{Interrupt, Run, saved};
use crate::output::{self, Outcome};

/// Reads messages and answers them until the user ends the chat.
pub(super) fn conversation(
    run: &Run,
    session: &mut Session,
    interrupt: &Interrupt,
    greeting: &str,
) -> io::Result<Outcome> {
    if let Err(error) = session.check_chat() {
        return output::error(&error.to_string()).map(|()| Outcome::Refused);
    }
    output::diagnostics(greeting)?;
    let settings = Settings { sampling: *session.plan().sampling(), tokens: run.tokens };
    let system = run.system.iter().map(|text| Message::new("system", text)).collect();
    let mut chat =
        Chat { run, session, interrupt, messages: system, settings, stats: run.stats, was_interrupted: false };
    let mut editor = LineEditor::new()?;
    let mut was_interrupted = false;
    loop {
        let text = match editor.read()? {
            Input::Text(text) => text,
            Input::End => return Ok(Outcome::Fine),
            Input::Interrupted if was_interrupted => return Ok(Outcome::Fine),
            Input::Interrupted => {
                output::diagnostics("(Ctrl-C again, or /exit, leaves)\n")?;
                was_interrupted = true;
                continue;
            }
        };
        match commands::parse(&text) {
            ChatInput::Exit => return Ok(Outcome::Fine),
            input => chat.take(input)?,
        }
        if interrupt.was_repeated.load(Ordering::Relaxed) {
            return Ok(Outcome::Fine);
        }
        // The first Ctrl-C stopped an answer: the second leaves.
        was_interrupted = std::mem::take(&mut chat.was_interrupted);
    }
}

/// A chat so far.
struct Chat<'a> {
    run: &'a Run,
    session: &'a mut Session,
    interrupt: &'a Interrupt,
    messages: Vec<Message>,
    settings: Settings,
    stats: bool,
    /// Ctrl-C stopped the last answer.
    was_interrupted: bool,
}

impl Chat<'_> {
    fn take(&mut self, input: ChatInput<'_>) -> io::Result<()> {
        match input {
            ChatInput::Nothing | ChatInput::Exit => Ok(()),
            ChatInput::Unknown(problem) => output::error(&problem),
            ChatInput::Help => output::diagnostics(&commands::help()),
            ChatInput::Message(text) => {
                self.messages.push(Message::new("user", text));
                self.answer()
            }
            ChatInput::Regenerate => match self.messages.iter().rposition(|message| message.role == "user") {
                Some(last) => {
                    self.messages.truncate(last + 1);
                    // With the same seed, the answer would be the same.
                    self.settings.sampling.seed = self.settings.sampling.seed.wrapping_add(1);
                    let sampling = self.settings.sampling;
                    match self.session.plan().set_sampling(&sampling) {
                        Ok(()) => self.answer(),
                        Err(error) => output::error(&error.to_string()),
                    }
                }
                None => output::error("there is no message to answer yet"),
            },
            ChatInput::Clear => {
                self.messages.retain(|message| message.role == "system");
                output::diagnostics("(a new chat)\n")
            }
            ChatInput::System(None) => {
                let system = self.messages.iter().find(|message| message.role == "system");
                output::diagnostics(&format!("{}\n", system.map_or("(none)", |message| &message.content)))
            }
            ChatInput::System(Some(text)) => {
                self.messages.retain(|message| message.role != "system");
                self.messages.insert(0, Message::new("system", text));
                Ok(())
            }
            ChatInput::Settings => output::diagnostics(&self.settings.to_text()),
            ChatInput::Set(name, value) => {
                let mut settings = self.settings.clone();
                let changed = settings.set(name, value).and_then(|()| {
                    self.session.plan().set_sampling(&settings.sampling).map_err(|error| error.to_string())
                });
                match changed {
                    Ok(()) => self.settings = settings,
                    Err(problem) => output::error(&problem)?,
                }
                Ok(())
            }
            ChatInput::Stats => {
                self.stats = !self.stats;
                output::diagnostics(if self.stats { "(times are shown)\n" } else { "(times are not shown)\n" })
            }
            ChatInput::Save(file) => match saved::save(file, &self.messages) {
                Ok(()) => output::diagnostics(&format!(
                    "({} in '{file}')\n",
                    output::count(self.messages.len(), "message")
                )),
                Err(problem) => output::error(&problem),
            },
            ChatInput::Load(file) => match saved::load(file) {
                Ok(messages) => {
                    self.messages = messages;
                    output::diagnostics(&format!("({})\n", output::count(self.messages.len(), "message")))
                }
                Err(problem) => output::error(&problem),
            },
        }
    }

    /// Answers the last message.
    fn answer(&mut self) -> io::Result<()> {
        let mut answer = String::new();
        let mut text = AnswerText::new(true);
        let result = self.interrupt.during(|cancelled| {
            let mut request = self.run.request(cancelled);
            (request.context_shift, request.max_tokens) = (true, self.settings.tokens);
            self.session.answer(&self.messages, &request, |part| {
                answer.push_str(part);
                text.write(part, cancelled);
            })
        });
        text.finish()?;
        match result {
            Ok(generated) => {
                self.was_interrupted = generated.stop == StopReason::Cancelled;
                self.run.explain(self.session.plan().context(), &generated)?;
                if self.stats {
                    self.run.print_stats(&generated)?;
                }
                self.messages.push(Message::new("assistant", answer));
                Ok(())
            }
            Err(error) => {
                self.messages.pop();
                output::error(&error.to_string())
            }
        }
    }
}
