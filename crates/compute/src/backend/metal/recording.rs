//! Recordings: Metal prepares nothing. A replay is encoded again, with its own bytes: indirect command buffers have no
//! `setBytes`.

use super::encode::Encoding;
use crate::backend::{Patches, Recorded, Work};
use crate::error::Result;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLCommandBuffer;

/// Encodes a replay.
pub(super) fn replay(
    encoding: Encoding<'_>,
    commands: &ProtocolObject<dyn MTLCommandBuffer>,
    work: &Work,
    recorded: &Recorded,
    patches: &Patches,
) -> Result<()> {
    encoding.table(commands, recorded.table(), &work.patched(recorded, patches))
}
