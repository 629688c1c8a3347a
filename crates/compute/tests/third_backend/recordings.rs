//! Recordings are prepared once, and replayed with other bytes.

use crate::fixture::{Fixture, toy};
use crate::setup::{run, usage};
use crate::toy::Counts;
use metalworks_compute::{Device, DispatchType, Patch, Size};

#[test]
fn a_recording_is_made_ready_once_and_replayed_many_times() {
    const REPLAYS: u32 = 50;
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let (append, list) = (fixture.pipeline("append"), fixture.buffer(&[0; 400]));
    let mut recorder = fixture.device.new_command_recorder(DispatchType::Concurrent);
    recorder.set_compute_pipeline_state(&append).expect("set");
    recorder.set_buffer(0, &list, 0).expect("set");
    let locations = [100u32, 200].map(|number| {
        let location = recorder.set_bytes(1, &number.to_ne_bytes()).expect("set");
        recorder.dispatch_threads(Size::linear(1), Size::linear(1)).expect("it is right");
        location
    });
    assert_eq!(toy.counts().recordings, 0);
    let recording = recorder.finish().expect("a recording");
    assert_eq!((toy.counts().recordings, recording.barrier_count()), (1, 1));

    let mut expected = Vec::new();
    let mut last = None;
    for replay in 0..REPLAYS {
        let commands = fixture.queue.new_command_buffer();
        let bytes = replay.to_ne_bytes();
        // Of each patch nothing is left for the next replay.
        let patches = [Patch { location: locations[replay as usize % 2], offset: 0, bytes: &bytes }];
        commands.replay(&recording, &patches[..usize::from(replay % 5 != 0)]).expect("a replay");
        commands.replay(&recording, &[]).expect("a replay");
        commands.commit().expect("it commits");
        last = Some(commands);
        match (replay % 5, replay % 2) {
            (0, _) => expected.extend([100, 200]),
            (_, 0) => expected.extend([replay, 200]),
            (..) => expected.extend([100, replay]),
        }
        expected.extend([100, 200]);
    }
    last.expect("there are some").wait_until_completed().expect("it runs");
    let numbers = list.read::<u32>();
    assert_eq!(numbers[1..=numbers[0] as usize], expected);
    let Counts { recordings, replays, passes, dispatches, submissions, .. } = toy.counts();
    let replayed = u64::from(2 * REPLAYS);
    assert_eq!((recordings, replays, passes, dispatches), (1, replayed, 0, 2 * replayed));
    assert_eq!(submissions, u64::from(REPLAYS));
}

#[test]
fn recordings_are_of_one_device() {
    let (toy, cpu) = (toy(), Device::cpu().expect("a CPU"));
    let own = toy.device().new_command_recorder(DispatchType::Serial).finish().expect("a recording");
    let foreign = cpu.new_command_recorder(DispatchType::Serial).finish().expect("a recording");
    for (device, recording) in [(toy.device(), foreign), (&cpu, own)] {
        let refused = device.new_command_queue().new_command_buffer().replay(&recording, &[]);
        assert!(usage(refused).contains("another device"));
    }
}

#[test]
fn released_buffers_are_not_replayed() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let (append, list) = (fixture.pipeline("append"), fixture.buffer(&[0; 4]));
    let mut recorder = fixture.device.new_command_recorder(DispatchType::Serial);
    recorder.set_compute_pipeline_state(&append).expect("set");
    recorder.set_buffer(0, &list, 0).expect("set");
    recorder.set_bytes(1, &1u32.to_ne_bytes()).expect("set");
    recorder.dispatch_threads(Size::linear(1), Size::linear(1)).expect("it is right");
    let recording = recorder.finish().expect("a recording");
    let commands = fixture.queue.new_command_buffer();
    commands.replay(&recording, &[]).expect("a replay");
    run(&commands);
    list.release();
    assert!(usage(fixture.queue.new_command_buffer().replay(&recording, &[])).contains("released"));
    assert_eq!(toy.counts().replays, 1);
}
