//! Order of dispatches, encoders, copies, replays and command buffers.

use crate::setup::{Setup, on_every_device, run};
use metalworks_compute::{
    Buffer, ComputeCommandEncoder, ComputePipelineState, DispatchType, Patch, Result, Size, StorageMode,
};

fn append(
    encoder: &mut ComputeCommandEncoder,
    pipeline: &ComputePipelineState,
    list: &Buffer,
    number: u32,
) -> Result<()> {
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, list, 0)?;
    encoder.set_bytes(1, &number.to_ne_bytes())?;
    encoder.dispatch_threads(Size::linear(1), Size::linear(1))
}

fn list(setup: &Setup, room: usize) -> Buffer {
    setup.device.new_buffer(4 * (room + 1)).expect("memory")
}

fn contents(list: &Buffer) -> Vec<u32> {
    let numbers = list.read::<u32>();
    numbers[1..=numbers[0] as usize].to_vec()
}

#[test]
fn dependent_dispatches_run_in_order() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("append");
        for dispatch_type in [DispatchType::Serial, DispatchType::Concurrent] {
            let lists = [(); 3].map(|()| list(setup, 200));
            let commands = setup.queue.new_command_buffer();
            let mut encoder =
                commands.compute_command_encoder_with_dispatch_type(dispatch_type).expect("an encoder");
            for number in 0..200 {
                for list in &lists {
                    append(&mut encoder, &pipeline, list, number).expect("it is right");
                }
            }
            encoder.end_encoding().expect("it ends");
            run(&commands);
            lists.iter().for_each(|list| assert_eq!(contents(list), (0..200).collect::<Vec<u32>>()));
        }
    });
}

#[test]
fn barriers_order_untracked_accesses() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("scale");
        let buffers = [(); 20].map(|()| setup.buffer(&[1; 64]));
        let commands = setup.queue.new_command_buffer();
        let mut encoder =
            commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent).expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("set");
        encoder.set_bytes(2, &2u32.to_ne_bytes()).expect("set");
        for pair in buffers.windows(2) {
            // The ranges cover less than the kernel accesses: by the ranges, there is no hazard.
            encoder.set_buffer_range(0, &pair[0], 0..4).expect("set");
            encoder.set_buffer_range(1, &pair[1], 4..8).expect("set");
            encoder.memory_barrier().expect("a barrier");
            encoder.dispatch_threads(Size::linear(60), Size::linear(20)).expect("it is right");
        }
        encoder.end_encoding().expect("it ends");
        run(&commands);
        for (i, buffer) in buffers.iter().enumerate() {
            // Doubled each time, and shifted by one number.
            let numbers = buffer.read::<u32>();
            assert_eq!((numbers[0], numbers[i], numbers[60], numbers[61]), (1, 1 << i, 1 << i, 1), "{i}");
        }
    });
}

#[test]
fn encoders_copies_and_replays_run_in_order() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("append");
        let private = setup.device.new_buffer_with_storage_mode(404, StorageMode::Private).expect("memory");
        let mut recorder = setup.device.new_command_recorder(DispatchType::Concurrent);
        let mut locations = Vec::new();
        for number in [1u32, 2] {
            recorder.set_compute_pipeline_state(&pipeline).expect("set");
            recorder.set_buffer(0, &private, 0).expect("set");
            locations.push(recorder.set_bytes(1, &number.to_ne_bytes()).expect("set"));
            recorder.dispatch_threads(Size::linear(1), Size::linear(1)).expect("it is right");
        }
        let recording = recorder.finish().expect("a recording");
        let output = list(setup, 100);
        for commands in [setup.queue.new_command_buffer(), setup.profiled()] {
            commands.copy_buffer(&list(setup, 0), 0..4, &private, 0).expect("it begins empty");
            commands.replay(&recording, &[]).expect("a replay");
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            append(&mut encoder, &pipeline, &private, 3).expect("it is right");
            encoder.end_encoding().expect("it ends");
            for number in 4..8u32 {
                let bytes = number.to_ne_bytes();
                let patch = Patch { location: locations[number as usize % 2], offset: 0, bytes: &bytes };
                commands.replay(&recording, &[patch]).expect("a replay");
            }
            commands
                .compute_command_encoder()
                .and_then(|mut empty| empty.end_encoding())
                .expect("one with nothing");
            commands.copy_buffer(&private, 0..404, &output, 0).expect("a copy");
            run(&commands);
            assert_eq!(contents(&output), [1, 2, 3, 4, 2, 1, 5, 6, 2, 1, 7]);
        }
    });
}

#[test]
fn fills_between_dispatches_run_in_order() {
    on_every_device(|setup| {
        let (pipeline, output) = (setup.pipeline("append"), list(setup, 100));
        let private = setup.device.new_buffer_with_storage_mode(404, StorageMode::Private).expect("memory");
        for commands in [setup.queue.new_command_buffer(), setup.profiled()] {
            for number in 0..50 {
                // Empties the list.
                commands.fill_buffer(&private, 0..4, 0).expect("a fill");
                let mut encoder = commands.compute_command_encoder().expect("an encoder");
                append(&mut encoder, &pipeline, &private, number).expect("it is right");
                append(&mut encoder, &pipeline, &private, number + 100).expect("it is right");
                encoder.end_encoding().expect("it ends");
            }
            commands.copy_buffer(&private, 0..404, &output, 0).expect("a copy");
            commands.fill_buffer(&private, 0..404, 0).expect("a fill");
            run(&commands);
            assert_eq!(contents(&output), [49, 149]);
        }
    });
}

#[test]
fn command_buffers_run_in_order() {
    on_every_device(|setup| {
        let (pipeline, list) = (setup.pipeline("append"), list(setup, 300));
        // More than a Metal queue holds at once.
        let all: Vec<_> = (0..300)
            .map(|number| setup.encode(|encoder| append(encoder, &pipeline, &list, number)))
            .inspect(|commands| commands.commit().expect("it commits"))
            .collect();
        all.last().expect("there are some").wait_until_completed().expect("it runs");
        assert_eq!(contents(&list), (0..300).collect::<Vec<u32>>());
        run(&setup.queue.new_command_buffer());
    });
}
