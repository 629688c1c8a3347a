//! Bindings that no dispatch of an encoder uses: as a rule, somebody took the wrong index.

use super::list;
use crate::error::{Result, usage};
use crate::pass::Pass;

/// Whether each index that is bound, a bit of `bound`, is one of some kernel that was dispatched. Kernels with function
/// constants may have arguments that the constants decided against, which hosts bind all the same: then nothing is said.
pub(crate) fn unused(call: &str, pass: &Pass, bound: u32) -> Result<()> {
    let mut used = 0;
    for dispatch in &pass.dispatches {
        let arguments = pass.pipeline(dispatch).arguments();
        if arguments.may_lack_some {
            return Ok(());
        }
        used |= arguments.buffer_indices;
    }
    let rest = bound & !used;
    let Some(last) = pass.dispatches.last().filter(|_| rest != 0) else { return Ok(()) };
    let pipeline = pass.pipeline(last);
    let (indices, are) = if rest.is_power_of_two() { ("index", "is") } else { ("indices", "are") };
    usage(format!(
        "{call}: {indices} {} {are} bound, and no kernel that was dispatched has such an argument ('{}' has {})",
        list(rest),
        pipeline.shared_name(),
        list(pipeline.arguments().buffer_indices)
    ))
}
