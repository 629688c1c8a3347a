//! Devices: names and properties.

use metalworks_compute::{Device, DeviceKind, Error};

fn refused(name: &str) -> String {
    match Device::named(name).expect_err("there is none") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn all_devices_are_found_by_name() {
    let all = Device::all().expect("some");
    assert_eq!(all.iter().filter(|device| device.kind() == DeviceKind::Cpu).count(), 1);
    for device in &all {
        let again = Device::named(&device.id()).expect("it is there");
        assert_eq!((again.id(), again.name(), again.kind()), (device.id(), device.name(), device.kind()));
        assert!(device.id().starts_with(&device.kind().to_string()));
    }
}

#[test]
fn rejects_unknown_names() {
    let ids: Vec<String> = Device::all().expect("some").iter().map(Device::id).collect();
    let there = format!("there {} {}", if ids.len() == 1 { "is" } else { "are" }, ids.join(", "));
    for name in ["", "CPU", "cpu:0", "gpu", "cpu ", "metal2"] {
        let problem = refused(name);
        assert!(problem.starts_with(&format!("there is no device '{name}'; {there}")), "{problem}");
    }
    for name in ["metal:", "metal:x", "metal:-1", "metal:1:2", "metal:99999999999999999999999"] {
        let problem = refused(name);
        assert!(problem.contains("the part after 'metal:' must be a number"), "{problem}");
    }
    let problem = refused("metal:4000000000");
    assert!(problem.starts_with("there is no device 'metal:4000000000': "), "{problem}");
    if !cfg!(metal) {
        assert_eq!(refused("metal"), format!("there is no device 'metal': Metal needs macOS; {there}"));
    }
}

/// On a machine without NVIDIA's driver, or with one that finds no GPU.
#[test]
fn a_missing_gpu_is_explained() {
    let count = Device::all().expect("some").iter().filter(|device| device.kind() == DeviceKind::Cuda).count();
    let problem = refused(&format!("cuda:{count}"));
    let reason = match () {
        () if !cfg!(target_os = "linux") => "needs Linux",
        () if count > 0 => "this system does not have it",
        () => "NVIDIA's driver",
    };
    assert!(problem.contains(reason) && problem.contains("there "), "{problem}");
}

#[test]
fn the_cpu_has_its_properties() {
    let device = Device::cpu().expect("a CPU");
    let can = device.capabilities();
    assert!(can.simd_reductions && can.simdgroup_matrix && can.bfloat);
    assert!(can.nonuniform_threadgroups && can.unified_memory && !can.family.is_empty());
    let limits = device.limits();
    assert_eq!(limits.max_threadgroup_memory_length, 32 << 10);
    assert_eq!(limits.max_threads_per_threadgroup.width, 1024);
    let refused = device.new_buffer(limits.max_buffer_length + 1).expect_err("it is too large");
    assert!(matches!(refused, Error::OutOfMemory { .. }));
}
