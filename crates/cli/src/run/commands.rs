//! Commands of the chat.

use std::fmt::Write;

use inference::generate::Sampling;

use crate::suggest::near_matches;

/// Input of the chat.
#[derive(PartialEq, Debug)]
pub(super) enum ChatInput<'a> {
    Message(&'a str),
    Help,
    Clear,
    /// The new system message, if there is one; otherwise the present one is shown.
    System(Option<&'a str>),
    Regenerate,
    Save(&'a str),
    Load(&'a str),
    Set(&'a str, &'a str),
    /// The settings are shown.
    Settings,
    Stats,
    Exit,
    Nothing,
    /// Explains a command that cannot be carried out.
    Unknown(String),
}

/// Names, arguments and meaning of the commands.
const COMMANDS: [(&str, &str); 9] = [
    ("/help", "show this"),
    ("/clear", "start a new chat"),
    ("/system [TEXT]", "show or set the system message"),
    ("/regen", "answer the last message again"),
    ("/save FILE", "write the chat to a file"),
    ("/load FILE", "continue a chat from a file"),
    ("/set [NAME VALUE]", "show or change temp, top-k, top-p, min-p, repeat-penalty, seed, tokens"),
    ("/stats", "show times after each answer, or stop it"),
    ("/exit", "leave; so does Ctrl-D"),
];

/// The text of `/help`.
pub(super) fn help() -> String {
    let mut text = String::new();
    for (name, meaning) in COMMANDS {
        let _ = writeln!(text, "  {name:18} {meaning}");
    }
    text + "Enter sends a message; end a line with \\ to continue it, or put \"\"\" around several lines.\n\
            Ctrl-C stops an answer, and leaves if pressed twice.\n"
}

/// Parses a line of the user.
pub(super) fn parse(text: &str) -> ChatInput<'_> {
    let text = text.trim();
    if !text.starts_with('/') {
        return if text.is_empty() { ChatInput::Nothing } else { ChatInput::Message(text) };
    }
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = argument.trim();
    let needs = |what: &str| ChatInput::Unknown(format!("{name} needs {what}: {}", usage(name)));
    match (name, argument) {
        ("/help" | "/?", _) => ChatInput::Help,
        ("/clear", _) => ChatInput::Clear,
        ("/system", "") => ChatInput::System(None),
        ("/system", text) => ChatInput::System(Some(text)),
        ("/regen", _) => ChatInput::Regenerate,
        ("/save" | "/load", "") => needs("a file"),
        ("/save", file) => ChatInput::Save(file),
        ("/load", file) => ChatInput::Load(file),
        ("/set", "") => ChatInput::Settings,
        ("/set", setting) => match setting.split_once(char::is_whitespace) {
            Some((name, value)) => ChatInput::Set(name, value.trim()),
            None => needs("a value"),
        },
        ("/stats", _) => ChatInput::Stats,
        ("/exit" | "/quit" | "/bye", _) => ChatInput::Exit,
        // A path or a comment, for instance, may begin a message.
        _ if name == "/" || !name[1..].chars().all(char::is_alphabetic) => ChatInput::Message(text),
        _ => ChatInput::Unknown(match near_matches(name, &COMMANDS.map(|(usage, _)| command_of(usage))).first() {
            Some(near) => format!("there is no command {name}; did you mean {near}?"),
            None => format!("there is no command {name}; /help lists them"),
        }),
    }
}

/// The name of a command with its arguments.
fn command_of(usage: &'static str) -> &'static str {
    usage.split_once(' ').map_or(usage, |(name, _)| name)
}

fn usage(name: &str) -> &'static str {
    COMMANDS.iter().find(|(usage, _)| command_of(usage) == name).map_or("", |(usage, _)| usage)
}

/// Settings that `/set` changes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Settings {
    pub(super) sampling: Sampling,
    /// Most tokens of an answer.
    pub(super) tokens: Option<usize>,
}

impl Settings {
    /// Changes a setting. The error is for the user.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |value: &str| -> Result<f32, String> {
            value.parse().map_err(|_| format!("{name} must be a number, not '{value}'"))
        };
        fn whole<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
            value.parse().map_err(|_| format!("{name} must be a whole number, 0 or above, not '{value}'"))
        }
        let sampling = &mut self.sampling;
        match name.replace('_', "-").as_str() {
            "temp" | "temperature" => sampling.temperature = number(value)?,
            "top-k" => sampling.top_k = Some(whole(name, value)?).filter(|&k| k > 0),
            "top-p" => sampling.top_p = number(value)?,
            "min-p" => sampling.min_p = number(value)?,
            "repeat-penalty" => sampling.repeat_penalty = number(value)?,
            "seed" => sampling.seed = whole(name, value)?,
            "tokens" => self.tokens = Some(whole(name, value)?).filter(|&tokens| tokens > 0),
            _ => return Err(format!("there is no setting {name}: {}", COMMANDS[6].1)),
        }
        sampling.check().map_err(|error| error.to_string())
    }

    /// The settings, one in a line.
    pub(super) fn to_text(&self) -> String {
        let Sampling { temperature, top_k, top_p, min_p, repeat_penalty, seed, .. } = self.sampling;
        let count = |count: Option<usize>, none: &str| count.map_or_else(|| none.to_owned(), |k| k.to_string());
        format!(
            "  temp {temperature}\n  top-k {}\n  top-p {top_p}\n  min-p {min_p}\n  repeat-penalty {repeat_penalty}\n  \
             seed {seed}\n  tokens {}\n",
            count(top_k, "0 (all)"),
            count(self.tokens, "0 (no limit)"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_or_commands() {
        assert_eq!(parse("hello"), ChatInput::Message("hello"));
        assert_eq!(parse("  "), ChatInput::Nothing);
        assert_eq!(parse("/exit"), ChatInput::Exit);
        assert_eq!(parse("/bye "), ChatInput::Exit);
        assert_eq!(parse("/system Be brief."), ChatInput::System(Some("Be brief.")));
        assert_eq!(parse("/set temp 0.5"), ChatInput::Set("temp", "0.5"));
        assert_eq!(parse("/set"), ChatInput::Settings);
        assert_eq!(parse("/etc/passwd is a file"), ChatInput::Message("/etc/passwd is a file"));
        for text in ["/* a comment */", "// another", "/", "/2 of it"] {
            assert_eq!(parse(text), ChatInput::Message(text));
        }
        let problem = |text| match parse(text) {
            ChatInput::Unknown(problem) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(problem("/save"), "/save needs a file: /save FILE");
        assert_eq!(problem("/set temp"), "/set needs a value: /set [NAME VALUE]");
        assert_eq!(problem("/translate this"), "there is no command /translate; /help lists them");
        assert_eq!(problem("/stat"), "there is no command /stat; did you mean /stats?");
        assert_eq!(problem("/sytem x"), "there is no command /sytem; did you mean /system?");
    }

    #[test]
    fn every_command_of_the_help_exists() {
        for (usage, _) in COMMANDS {
            let text = usage.replace(['[', ']'], "");
            assert!(!matches!(parse(&text), ChatInput::Unknown(_) | ChatInput::Message(_)), "{usage}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let mut settings = Settings { sampling: Sampling::GREEDY, tokens: None };
        settings.set("temp", "0.5").unwrap();
        settings.set("top_k", "0").unwrap();
        settings.set("tokens", "12").unwrap();
        assert_eq!((settings.sampling.temperature, settings.tokens), (0.5, Some(12)));
        assert!(settings.set("temp", "-1").unwrap_err().contains("temperature"));
        assert!(settings.set("temp", "hot").unwrap_err().contains("must be a number, not 'hot'"));
        for (name, value) in [("tokens", "-1"), ("top-k", "1.5"), ("seed", "x"), ("seed", "")] {
            let expected = format!("{name} must be a whole number, 0 or above, not '{value}'");
            assert_eq!(settings.set(name, value), Err(expected));
        }
        assert!(settings.set("heat", "1").unwrap_err().contains("there is no setting heat"));
    }
}
