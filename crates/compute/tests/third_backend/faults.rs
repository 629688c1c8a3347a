//! A failed submission is the error of its own command buffer only.

use crate::fixture::{Fixture, toy};
use crate::setup::usage;
use crate::toy::{Fault, Toy};
use metalworks_compute::{
    Buffer, CommandBuffer, CommandBufferStatus, ComputePipelineState, DispatchType, Error, Size,
};
use std::sync::mpsc::channel;

struct List {
    toy: Toy,
    fixture: Fixture,
    append: ComputePipelineState,
    list: Buffer,
}

impl List {
    fn new() -> List {
        let toy = toy();
        let fixture = Fixture::new(toy.device());
        let (append, list) = (fixture.pipeline("append"), fixture.buffer(&[0; 16]));
        List { toy, fixture, append, list }
    }

    /// A command buffer that appends a number to the list.
    fn append(&self, number: u32) -> CommandBuffer {
        self.fixture.encode(DispatchType::Serial, |encoder| {
            encoder.set_compute_pipeline_state(&self.append)?;
            encoder.set_buffer(0, &self.list, 0)?;
            encoder.set_bytes(1, &number.to_ne_bytes())?;
            encoder.dispatch_threads(Size::linear(1), Size::linear(1))
        })
    }

    fn contents(&self) -> Vec<u32> {
        let numbers = self.list.read::<u32>();
        numbers[1..=numbers[0] as usize].to_vec()
    }
}

#[test]
fn a_failure_is_the_command_buffers_error_and_the_next_one_runs() {
    let refusal =
        Error::Driver { what: "a command buffer".into(), domain: "toy".into(), code: 3, description: "no".into() };
    let loss = Error::Internal("the device lost the command buffer".into());
    for (fault, expected) in [(Fault::Failed(refusal.clone()), refusal), (Fault::Lost, loss)] {
        let list = List::new();
        list.toy.break_next_submission(fault);
        let (failing, next) = (list.append(1), list.append(2));
        let (sender, receiver) = channel();
        for (number, commands) in [&failing, &next].into_iter().enumerate() {
            let sender = sender.clone();
            let handler = move |commands: &CommandBuffer| {
                sender.send((number, commands.status(), commands.error())).expect("somebody listens");
            };
            commands.add_completed_handler(handler).expect("it is added");
            commands.commit().expect("it commits");
        }
        drop(sender);
        assert_eq!(failing.wait_until_completed(), Err(expected.clone()));
        assert_eq!(next.wait_until_completed(), Ok(()));
        assert_eq!(
            receiver.iter().collect::<Vec<_>>(),
            [(0, CommandBufferStatus::Error, Some(expected)), (1, CommandBufferStatus::Completed, None)]
        );
        assert_eq!(list.contents(), [2]);
        let counts = list.toy.counts();
        assert_eq!((counts.submissions, counts.dispatches), (2, 1));
        assert!(failing.gpu_start_time().is_none() && next.gpu_start_time() <= next.gpu_end_time());
    }
}

#[test]
fn a_lost_command_buffer_is_done() {
    let list = List::new();
    let (sender, receiver) = channel::<()>();
    list.toy.break_next_submission(Fault::Lost);
    let commands = list.append(1);
    commands.add_completed_handler(move |_| drop(sender)).expect("it is added");
    commands.commit().expect("it commits");
    assert!(commands.wait_until_completed().is_err());
    assert!(receiver.recv().is_err(), "its handler ran and is gone");
    assert!(usage(commands.commit()).contains("committed twice"));
    assert_eq!(list.contents(), [0; 0]);
}
