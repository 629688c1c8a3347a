//! `metalworks man`: writes the manual pages, for packages.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::output::{self, Outcome};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks man /usr/local/share/man/man1

Exit status: 0 success, 2 a page could not be written.";

#[derive(Args)]
pub(crate) struct Man {
    /// Write the pages to this folder, which must exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(&self, program: clap::Command) -> io::Result<Outcome> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        match write(&program, &self.folder) {
            Ok(()) => Ok(Outcome::Fine),
            Err(error) => {
                let message = format!("cannot write manual pages to '{}': {error}", self.folder.display());
                output::error(&message).map(|()| Outcome::NotTried)
            }
        }
    }
}

/// Writes the page of a command, and those of its subcommands.
fn write(command: &clap::Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write(subcommand, folder)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    compute::files::replace_with(&folder.join(page.get_filename()), &text)
}
