//! SHA-256 checksums.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{ModelError, PullEvent, PullProgress, PullStep};

/// Returns the SHA-256 of a file in hexadecimal digits.
pub(super) fn of_file(path: &Path, report: &mut dyn FnMut(PullEvent<'_>)) -> Result<String, ModelError> {
    let failed = |error: io::Error| ModelError::failed(format!("cannot read '{}': {error}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let total = file.metadata().map_err(failed)?.len();
    let mut progress = |done| report(PullEvent::Progress(PullProgress { step: PullStep::Checking, done, total }));
    of_reader(&mut file, &mut progress).map(digits).map_err(failed)
}

/// Hashes everything that a reader has.
pub(super) fn of_reader(reader: &mut dyn Read, progress: &mut dyn FnMut(u64)) -> io::Result<Sha256> {
    let (mut hash, mut done) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = reader.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash);
        }
        hash.update(&buffer[..read]);
        done += read as u64;
        progress(done);
    }
}

pub(super) fn digits(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
