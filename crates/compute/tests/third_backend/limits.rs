//! Validation uses the device's limits, and keeps devices apart.

use crate::fixture::{Fixture, toy};
use crate::setup::{run, usage};
use crate::toy::{Toy, ToyOptions};
use metalworks_compute::{ComputePipelineDescriptor, Device, DispatchType, Error, FunctionConstantValues, Size};

#[test]
fn threadgroup_memory_is_limited_by_the_device() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let refused =
        fixture.try_pipeline("hoard", &FunctionConstantValues::new(), &ComputePipelineDescriptor::default());
    let problem = refused.expect_err("it needs too much").to_string();
    assert_eq!(problem, "kernel 'hoard': 20480 bytes of threadgroup memory (the limit is 16384) is not supported");
    let (turn, buffer) = (fixture.pipeline("turn"), fixture.buffer(&[1, 2, 3, 4]));
    run(&fixture.encode(DispatchType::Serial, |encoder| {
        encoder.set_compute_pipeline_state(&turn)?;
        encoder.set_buffer(0, &buffer, 0)?;
        let problem = usage(encoder.set_threadgroup_memory_length(0, 20 << 10));
        assert!(problem.contains("at most 16384 are available"), "{problem}");
        encoder.set_threadgroup_memory_length(0, 16 << 10)?;
        encoder.dispatch_threads(Size::linear(4), Size::linear(4))
    }));
    assert_eq!(buffer.read::<u32>(), [4, 3, 2, 1]);

    // The CPU has room for both.
    let cpu = Fixture::new(&Device::cpu().expect("a CPU"));
    assert_eq!(cpu.pipeline("hoard").static_threadgroup_memory_length(), 20 << 10);
}

#[test]
fn threadgroups_are_limited_by_the_device() {
    let cpu = Device::cpu().expect("a CPU");
    let roomy = ToyOptions { max_threads: 1024, max_threadgroup_memory: 32 << 10, ..ToyOptions::default() };
    let roomy = Toy::new(&roomy).expect("a toy");
    for (device, is_allowed) in [(toy().device(), false), (roomy.device(), true), (&cpu, true)] {
        let fixture = Fixture::new(device);
        let (add, buffer) = (fixture.pipeline("add"), fixture.buffer(&[3; 512]));
        run(&fixture.encode(DispatchType::Serial, |encoder| {
            encoder.set_compute_pipeline_state(&add)?;
            (0..3).try_for_each(|index| encoder.set_buffer(index, &buffer, 0))?;
            let large = encoder.dispatch_threads(Size::linear(512), Size::linear(512));
            match is_allowed {
                true => large?,
                false => {
                    let problem = usage(large);
                    assert!(problem.contains("at most 256 are allowed in all"), "{problem}");
                    encoder.dispatch_threads(Size::linear(512), Size::linear(256))?;
                }
            }
            Ok(())
        }));
        assert_eq!(buffer.read::<u32>(), [6; 512], "{}", device.name());
    }
}

#[test]
fn threadgroups_are_limited_along_each_dimension() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let (add, buffer) = (fixture.pipeline("add"), fixture.buffer(&[3; 512]));
    run(&fixture.encode(DispatchType::Serial, |encoder| {
        encoder.set_compute_pipeline_state(&add)?;
        (0..3).try_for_each(|index| encoder.set_buffer(index, &buffer, 0))?;
        let problem = usage(encoder.dispatch_threads(Size::new(1, 1, 128), Size::new(1, 1, 128)));
        assert!(problem.contains("the device allows 256 × 256 × 64 along each dimension"), "{problem}");
        encoder.dispatch_threads(Size::new(1, 1, 64), Size::new(1, 1, 64))
    }));
}

#[test]
fn devices_keep_to_their_own() {
    let (toy, other, cpu) = (toy(), toy(), Device::cpu().expect("a CPU"));
    let devices = [toy.device(), other.device(), &cpu];
    let fixtures = devices.map(Fixture::new);
    let pipelines = fixtures.each_ref().map(|fixture| fixture.pipeline("append"));
    for (at, fixture) in fixtures.iter().enumerate() {
        let own = fixture.buffer(&[0; 4]);
        for foreign in (0..devices.len()).filter(|&foreign| foreign != at) {
            let (buffer, pipeline) = (fixtures[foreign].buffer(&[0; 4]), &pipelines[foreign]);
            let commands = fixture.queue.new_command_buffer();
            assert!(usage(commands.copy_buffer(&buffer, 0..4, &own, 0)).contains("another device"));
            assert!(usage(commands.copy_buffer(&own, 0..4, &buffer, 0)).contains("another device"));
            assert!(usage(commands.fill_buffer(&buffer, 0..4, 0)).contains("another device"));
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            assert!(usage(encoder.set_buffer(0, &buffer, 0)).contains("another device"));
            assert!(usage(encoder.set_compute_pipeline_state(pipeline)).contains("another device"));
            // The encoder is as good as new.
            encoder.set_compute_pipeline_state(&pipelines[at]).expect("set");
            encoder.set_buffer(0, &own, 0).expect("set");
            encoder.set_bytes(1, &7u32.to_ne_bytes()).expect("set");
            encoder.dispatch_threads(Size::linear(1), Size::linear(1)).expect("it is right");
            encoder.end_encoding().expect("it ends");
            run(&commands);
        }
        assert_eq!(own.read::<u32>(), [2, 7, 7, 0]);
    }
}

#[test]
fn a_buffer_larger_than_the_device_allows_is_refused() {
    let toy = toy();
    let most = toy.device().max_buffer_length();
    assert!(matches!(toy.device().new_buffer(most + 1), Err(Error::OutOfMemory { .. })));
}
