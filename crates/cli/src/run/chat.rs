//! Chat on a terminal.

use std::io::{self, BufRead, Write};

use inference::chat::Message;
use inference::generate::Session;

use super::{Interrupt, Run, session_context, write};
use crate::output::{self, Outcome};

/// Reads messages and answers them until the user ends the chat.
pub(super) fn conversation(run: &Run, session: &mut Session, interrupt: &Interrupt) -> io::Result<Outcome> {
    if let Err(error) = session.check_chat() {
        return output::error(&error.to_string()).map(|()| Outcome::Refused);
    }
    let beginning =
        |run: &Run| -> Vec<Message> { run.system.iter().map(|text| Message::new("system", text)).collect() };
    let mut messages = beginning(run);
    let steps = session.plan().steps();
    while let Some(line) = ask()? {
        match line.trim() {
            "" | "/exit" => break,
            "/clear" => {
                messages = beginning(run);
                continue;
            }
            text => messages.push(Message::new("user", text)),
        }
        let mut answer = String::new();
        let result = interrupt.during(|cancelled| {
            session.answer(&messages, &run.request(steps, cancelled), |text| {
                answer.push_str(text);
                write(text, cancelled);
            })
        });
        output::result("\n")?;
        match result {
            Ok(generated) => {
                run.explain(&session_context(session), &generated)?;
                if run.stats {
                    run.print_stats(&generated)?;
                }
                messages.push(Message::new("assistant", answer));
            }
            Err(error) => {
                output::error(&error.to_string())?;
                messages.pop();
            }
        }
    }
    Ok(Outcome::Fine)
}

/// Reads a line of the user; `None` at the end of the input.
fn ask() -> io::Result<Option<String>> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(b"> ")?;
    stderr.flush()?;
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line)? {
        0 => stderr.write_all(b"\n").map(|()| None),
        _ => Ok(Some(line)),
    }
}
