//! Lists the devices of every back end, and chooses the one to test.

use compute::{Device, DeviceKind};

use super::findings::{Chosen, DeviceFinding};
use super::problems::Problems;
use crate::device::DeviceFlag;

/// The device to test.
pub(super) struct Choice {
    pub(super) device: Option<Device>,
    pub(super) finding: Chosen,
}

pub(super) fn examine(flag: &DeviceFlag, problems: &mut Problems) -> (Vec<DeviceFinding>, Choice) {
    let devices = Device::all().unwrap_or_else(|error| {
        problems.error(format!("devices cannot be listed: {error}"), "");
        Vec::new()
    });
    if cfg!(target_os = "macos") && devices.iter().all(|device| device.kind() != DeviceKind::Metal) {
        problems.warning(
            "Metal has no device here",
            "in a virtual machine, allow it a GPU; over ssh, log in at the machine once",
        );
    }
    let choice = choose(flag, problems);
    if let Some(device) = &choice.device {
        abilities(device, problems);
    }
    (devices.iter().map(describe).collect(), choice)
}

fn choose(flag: &DeviceFlag, problems: &mut Problems) -> Choice {
    let variable = std::env::var("METALWORKS_DEVICE").ok().filter(|name| !name.trim().is_empty());
    let why = match (flag.name(), variable) {
        (Some(name), _) => format!("--device {name}"),
        (None, Some(name)) => format!("METALWORKS_DEVICE={name}"),
        (None, None) => "the best device of this machine".into(),
    };
    let device = flag.find(None).map_err(|error| problems.error(error.to_string(), "see the devices above")).ok();
    Choice { finding: Chosen { id: device.as_ref().map(Device::id), why }, device }
}

/// Warns about missing capabilities.
fn abilities(device: &Device, problems: &mut Problems) {
    let capabilities = device.capabilities();
    let needed = [
        (capabilities.simd_reductions, "reductions over a simdgroup"),
        (capabilities.simdgroup_matrix, "simdgroup matrices"),
        (capabilities.bfloat, "the type bfloat"),
    ];
    let missing: Vec<&str> = needed.into_iter().filter(|(is_there, _)| !is_there).map(|(_, what)| what).collect();
    if !missing.is_empty() {
        let what = format!("{} lacks what some kernels need: {}", device.name(), missing.join(", "));
        problems.warning(what, "use an Apple M1 or later, or --device cpu, which is slower");
    }
}

fn describe(device: &Device) -> DeviceFinding {
    let (capabilities, limits) = (device.capabilities(), device.limits());
    let threads = limits.max_threads_per_threadgroup;
    DeviceFinding {
        id: device.id(),
        kind: device.kind().to_string(),
        name: device.name(),
        family: capabilities.family,
        apple_family: capabilities.apple_family,
        simd_reductions: capabilities.simd_reductions,
        simdgroup_matrix: capabilities.simdgroup_matrix,
        bfloat: capabilities.bfloat,
        nonuniform_threadgroups: capabilities.nonuniform_threadgroups,
        unified_memory: capabilities.unified_memory,
        max_threads_per_threadgroup: [threads.width, threads.height, threads.depth],
        max_threadgroup_memory_bytes: limits.max_threadgroup_memory_length,
        max_buffer_bytes: limits.max_buffer_length,
        recommended_working_set_bytes: limits.recommended_max_working_set_size,
    }
}
