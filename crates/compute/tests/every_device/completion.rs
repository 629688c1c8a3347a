//! Completed handlers, waiting, and drops in flight.

use crate::setup::{add, on_every_device, run};
use metalworks_compute::{CommandBufferStatus, CommandQueue, ComputePipelineState, Size};
use std::sync::mpsc::{Sender, channel};
use std::thread;

#[test]
fn handlers_commit_and_wait() {
    fn link(
        queue: &CommandQueue,
        pipeline: &ComputePipelineState,
        buffer: &metalworks_compute::Buffer,
        left: u32,
        done: Sender<u32>,
    ) {
        let commands = queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        add(&mut encoder, pipeline, buffer, 8, 1).and_then(|()| encoder.end_encoding()).expect("it is right");
        let (queue, pipeline, buffer) = (queue.clone(), pipeline.clone(), buffer.clone());
        let handler = move |own: &metalworks_compute::CommandBuffer| {
            own.wait_until_completed().expect("it is done");
            assert_eq!(own.status(), CommandBufferStatus::Completed);
            if left > 0 {
                link(&queue, &pipeline, &buffer, left - 1, done.clone());
            }
            done.send(left).expect("somebody listens");
        };
        commands.add_completed_handler(handler).expect("it is added");
        commands.commit().expect("it commits");
        commands.wait_until_completed().expect("it runs");
    }
    on_every_device(|setup| {
        let (buffer, pipeline) = (setup.buffer(&[0; 8]), setup.pipeline("add"));
        let (sender, receiver) = channel();
        link(&setup.queue, &pipeline, &buffer, 5, sender);
        assert_eq!(receiver.iter().collect::<Vec<u32>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(buffer.read::<u32>(), [6; 8]);
    });
}

#[test]
fn work_in_flight_survives_drops() {
    on_every_device(|setup| {
        let (sender, receiver) = channel();
        {
            let (x, y) = (setup.buffer(&[21; 10_000]), setup.device.new_buffer(40_000).expect("memory"));
            let (queue, pipeline, seen) = (setup.device.new_command_queue(), setup.pipeline("scale"), y.clone());
            let commands = queue.new_command_buffer();
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            encoder.set_compute_pipeline_state(&pipeline).expect("set");
            encoder.set_buffer(0, &x, 0).expect("set");
            encoder.set_buffer(1, &y, 0).expect("set");
            encoder.set_bytes(2, &2u32.to_ne_bytes()).expect("set");
            encoder.dispatch_threads(Size::linear(10_000), Size::linear(256)).expect("it is right");
            encoder.end_encoding().expect("it ends");
            let handler = move |_: &metalworks_compute::CommandBuffer| {
                sender.send(seen.read::<u32>()).expect("somebody listens")
            };
            commands.add_completed_handler(handler).expect("it is added");
            commands.commit().expect("it commits");
        }
        assert_eq!(receiver.recv().expect("it is called"), [42; 10_000]);
        assert!(receiver.recv().is_err(), "and dropped");
    });
}

#[test]
fn threads_and_queues_share_a_device() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("add");
        let shared = setup.device.new_command_queue();
        thread::scope(|scope| {
            for number in 0..4u32 {
                let queue = if number % 2 == 0 { shared.clone() } else { setup.device.new_command_queue() };
                let (pipeline, buffer) = (&pipeline, setup.buffer(&[number; 100]));
                scope.spawn(move || {
                    for round in 0..20u32 {
                        let commands = queue.new_command_buffer();
                        let mut encoder = commands.compute_command_encoder().expect("an encoder");
                        add(&mut encoder, pipeline, &buffer, 100, round).expect("it is right");
                        encoder.end_encoding().expect("it ends");
                        run(&commands);
                    }
                    assert_eq!(buffer.read::<u32>(), [number + 190; 100]);
                });
            }
        });
    });
}
