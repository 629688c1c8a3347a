//! Small programs: correct results, with exactly the requested work.

use crate::fixture::{Fixture, factor, toy};
use crate::setup::run;
use crate::toy::Counts;
use metalworks_compute::{ComputePipelineDescriptor, DeviceKind, DispatchType, Size};

#[test]
fn a_program_gives_right_results_and_is_counted() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let constants = factor(7);
    let scale =
        fixture.try_pipeline("scale", &constants, &ComputePipelineDescriptor::default()).expect("it compiles");
    let (add, reduce) = (fixture.pipeline("add"), fixture.pipeline("reduce"));
    // No multiple of a threadgroup for the first two kernels.
    let (numbers, others): (Vec<u32>, Vec<u32>) = ((0..1000).collect(), (0..1000).map(|i| i * i).collect());
    let (x, y) = (fixture.buffer(&numbers), fixture.buffer(&others));
    let (z, scaled, sums) = (
        fixture.device.new_buffer(4000).expect("memory"),
        fixture.device.new_buffer(4096).expect("memory"),
        fixture.device.new_buffer(32).expect("memory"),
    );
    let commands = fixture.encode(DispatchType::Serial, |encoder| {
        encoder.set_compute_pipeline_state(&add)?;
        encoder.set_buffer(0, &x, 0)?;
        encoder.set_buffer(1, &y, 0)?;
        encoder.set_buffer(2, &z, 0)?;
        encoder.dispatch_threads(Size::linear(1000), Size::linear(64))?;
        encoder.set_compute_pipeline_state(&scale)?;
        encoder.set_buffer(0, &z, 0)?;
        encoder.set_buffer(1, &scaled, 0)?;
        encoder.set_bytes(2, &5u32.to_ne_bytes())?;
        encoder.dispatch_threads(Size::linear(1000), Size::linear(256))?;
        encoder.set_compute_pipeline_state(&reduce)?;
        encoder.set_buffer(0, &scaled, 0)?;
        encoder.set_buffer(1, &sums, 0)?;
        encoder.dispatch_threadgroups(Size::linear(8), Size::linear(128))
    });
    run(&commands);

    let mut expected: Vec<u32> = (0..1000).map(|i| 7 * (i + i * i) + 5).collect();
    assert_eq!(scaled.read_at::<u32>(0, 1000).expect("they are inside"), expected);
    expected.resize(1024, 0);
    let expected: Vec<u32> = expected.chunks(128).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(sums.read::<u32>(), expected);
    assert_eq!(
        toy.counts(),
        Counts {
            uploads: 2,
            uploaded_bytes: 8000,
            downloads: 2,
            downloaded_bytes: 4032,
            pipelines: 3,
            submissions: 1,
            passes: 1,
            dispatches: 3,
            ..Counts::default()
        }
    );
}

#[test]
fn concurrent_dispatches_have_the_barriers_that_they_need() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let add = fixture.pipeline("add");
    let [a, b, c, d] = [1, 2, 0, 0].map(|number| fixture.buffer(&[number; 64]));
    let commands = fixture.encode(DispatchType::Concurrent, |encoder| {
        encoder.set_compute_pipeline_state(&add)?;
        // c and d from a and b at once, then a from both.
        for [x, y, z] in [[&a, &b, &c], [&b, &b, &d], [&c, &d, &a]] {
            encoder.set_buffer(0, x, 0)?;
            encoder.set_buffer(1, y, 0)?;
            encoder.set_buffer(2, z, 0)?;
            encoder.dispatch_threads(Size::linear(64), Size::linear(32))?;
        }
        Ok(())
    });
    run(&commands);
    assert_eq!(a.read::<u32>(), [7; 64]);
    let Counts { dispatches, barriers, passes, .. } = toy.counts();
    assert_eq!((dispatches, barriers, passes), (3, 1, 1));
}

#[test]
fn a_device_reports_its_properties() {
    let toy = toy();
    let (device, cpu) = (toy.device(), metalworks_compute::Device::cpu().expect("a CPU"));
    assert_eq!((device.kind(), device.id()), (DeviceKind::Other("toy"), "toy".into()));
    assert_eq!(device.kind().to_string(), "toy");
    assert!(!device.capabilities().unified_memory && cpu.capabilities().unified_memory);
    assert_eq!(device.limits().max_threadgroup_memory_length, 16 << 10);
    assert_eq!(device.max_threads_per_threadgroup(), Size::new(256, 256, 64));
    for on in [true, false] {
        device.set_adverse(on);
        assert_eq!(device.is_adverse(), on);
    }
}
