//! `metalworks completions`: prints a script that completes command lines.

use std::io;

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use crate::output::{self, Outcome};

pub(crate) const EXAMPLE: &str = "\
Packages install the scripts. By hand, for one user:
  metalworks completions bash \\
    > ~/.local/share/bash-completion/completions/metalworks
  metalworks completions zsh > ~/.zfunc/_metalworks    # a folder of fpath
  metalworks completions fish > ~/.config/fish/completions/metalworks.fish

Exit status: 0 success, 2 there is no such shell.";

#[derive(Args)]
pub(crate) struct Completions {
    /// Set the shell
    shell: KnownShell,
}

/// Shells that tests check the scripts with.
#[derive(Clone, Copy, ValueEnum)]
enum KnownShell {
    Bash,
    Zsh,
    Fish,
}

impl Completions {
    pub(crate) fn run(&self, mut program: clap::Command) -> io::Result<Outcome> {
        let shell = match self.shell {
            KnownShell::Bash => Shell::Bash,
            KnownShell::Zsh => Shell::Zsh,
            KnownShell::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut program, "metalworks", &mut script);
        output::styled(&String::from_utf8_lossy(&script))?;
        Ok(Outcome::Fine)
    }
}
