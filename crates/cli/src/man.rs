//! `metalworks man`: writes the manual pages, for packages.

use std::io;
use std::path::PathBuf;

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
        match clap_mangen::generate_to(program, &self.folder) {
            Ok(()) => Ok(Outcome::Fine),
            Err(error) => {
                let message = format!("cannot write manual pages to '{}': {error}", self.folder.display());
                output::error(&message).map(|()| Outcome::NotTried)
            }
        }
    }
}
