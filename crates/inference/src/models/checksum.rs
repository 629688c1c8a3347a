//! SHA-256 checksums.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{ModelError, PullProgress, PullStep};

/// Returns the SHA-256 of a file in hexadecimal digits.
pub(super) fn of_file(path: &Path, progress: &mut dyn FnMut(PullProgress)) -> Result<String, ModelError> {
    let failed = |error: std::io::Error| ModelError::failed(format!("cannot read '{}': {error}", path.display()));
    let mut file = File::open(path).map_err(failed)?;
    let total = file.metadata().map_err(failed)?.len();
    let (mut hash, mut done) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hash.update(&buffer[..read]);
        done += read as u64;
        progress(PullProgress { step: PullStep::Checking, done, total });
    }
}
