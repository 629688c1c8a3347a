//! GPU families and the capabilities that follow from them. No other file queries families.
//!
//! From Apple's Metal feature set tables: simdgroup reductions are in Apple7 (M1) and all Metal 3 GPUs, simdgroup
//! matrices in Apple7, bfloat in Apple6 and Metal 3, nonuniform threadgroups in Apple4 and Mac2.

use crate::backend::Capabilities;
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLDevice, MTLGPUFamily};

/// Newest first.
const APPLE: [(MTLGPUFamily, u32); 10] = [
    (MTLGPUFamily::Apple10, 10),
    (MTLGPUFamily::Apple9, 9),
    (MTLGPUFamily::Apple8, 8),
    (MTLGPUFamily::Apple7, 7),
    (MTLGPUFamily::Apple6, 6),
    (MTLGPUFamily::Apple5, 5),
    (MTLGPUFamily::Apple4, 4),
    (MTLGPUFamily::Apple3, 3),
    (MTLGPUFamily::Apple2, 2),
    (MTLGPUFamily::Apple1, 1),
];

/// Families of other vendors' GPUs, too.
const OTHERS: [(MTLGPUFamily, &str); 3] =
    [(MTLGPUFamily::Metal4, "Metal4"), (MTLGPUFamily::Metal3, "Metal3"), (MTLGPUFamily::Mac2, "Mac2")];

pub(crate) fn capabilities(device: &ProtocolObject<dyn MTLDevice>) -> Capabilities {
    // A family includes the earlier ones. An older system returns false for a family that it does not know.
    let has = |family| device.supportsFamily(family);
    let apple_family = APPLE.into_iter().find(|&(family, _)| has(family)).map(|(_, number)| number);
    let others = OTHERS.into_iter().filter(|&(family, _)| has(family)).map(|(_, name)| name.to_owned());
    let names: Vec<String> =
        apple_family.map(|number| format!("Apple{number}")).into_iter().chain(others).collect();
    let metal3 = has(MTLGPUFamily::Metal3);
    Capabilities {
        simd_reductions: has(MTLGPUFamily::Apple7) || metal3,
        simdgroup_matrix: has(MTLGPUFamily::Apple7),
        bfloat: has(MTLGPUFamily::Apple6) || metal3,
        nonuniform_threadgroups: has(MTLGPUFamily::Apple4) || has(MTLGPUFamily::Mac2),
        unified_memory: device.hasUnifiedMemory(),
        apple_family,
        compute_units: None,
        family: if names.is_empty() { "unknown".into() } else { names.join(" ") },
    }
}
