//! Numbers of flags. Errors are for the user: clap puts the value and the name of the flag before them.

use std::num::NonZero;
use std::str::FromStr;

use clap::{Arg, Command};

/// Parses a whole number: a count, a seed.
pub(crate) fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "it must be a whole number, 0 or above".to_owned())
}

/// Parses a count of at least one.
pub(crate) fn positive(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "it must be a whole number, 1 or above".to_owned())
}

/// Lets flags of all commands have negative values, so that an error is about the number. Otherwise `-1` would be an
/// unexpected argument.
pub(crate) fn with_negative_values(command: Command) -> Command {
    let takes_value = |arg: &Arg| !arg.is_positional() && arg.get_action().takes_values();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_is_allowed() {
        assert_eq!(count("12"), Ok(12usize));
        assert_eq!(positive("12").unwrap().get(), 12);
        for text in ["-1", "1.5", "x", "", "99999999999999999999"] {
            assert_eq!(count::<usize>(text).unwrap_err(), "it must be a whole number, 0 or above");
            assert_eq!(positive(text).unwrap_err(), "it must be a whole number, 1 or above");
        }
        assert!(positive("0").is_err());
    }
}
