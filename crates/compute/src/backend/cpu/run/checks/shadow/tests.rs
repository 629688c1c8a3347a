use super::*;

/// The accesses of a test: each is by a thread of the threadgroup that was begun last.
#[derive(Default)]
struct Trial {
    shadow: Shadow,
}

/// One access of four bytes, or of consecutive lanes.
#[derive(Clone, Copy)]
struct By {
    thread: u32,
    epochs: Epochs,
    is_atomic: bool,
    value: u64,
    bytes: u64,
    lanes: u32,
    is_threadgroup: bool,
}

/// After `epoch` barriers of all memory. Each thread writes a value of its own.
fn by(thread: u32, epoch: u32) -> By {
    let epochs =
        Epochs { threadgroup: [epoch; 2], simdgroup: [epoch; 2], threadgroup_all: epoch, simdgroup_all: epoch };
    By { thread, epochs, is_atomic: false, value: thread.into(), bytes: 4, lanes: 1, is_threadgroup: true }
}

impl Trial {
    fn new() -> Trial {
        let mut trial = Trial::default();
        trial.shadow.begin(1);
        trial.group(0);
        trial
    }

    fn group(&mut self, dispatch: usize) {
        let periods = &mut self.shadow.periods;
        periods.begin_group_of(GroupInfo {
            dispatch,
            kernel: "k".into(),
            sites: Arc::new([]),
            position: [0; 3],
            size: [64, 1, 1],
        });
    }

    fn note(&mut self, at: u64, by: By, is_read: bool) -> Vec<(u32, Problem)> {
        let lanes = LANES as u32;
        let period = self.shadow.period(by.thread / lanes, by.epochs);
        let values: [u64; LANES] = std::array::from_fn(|_| by.value);
        let accesses = Accesses {
            is_threadgroup: by.is_threadgroup,
            is_read,
            is_atomic: by.is_atomic,
            is_update: false,
            has_fence: false,
            bytes: by.bytes,
            period,
            sequence: 0,
            site: 0,
            values: (!is_read && !by.is_atomic).then_some(&values),
        };
        let mut problems = Vec::new();
        let lane = by.thread % lanes;
        self.shadow.note(&accesses, at, lane..lane + by.lanes, &mut problems);
        problems
    }

    fn read(&mut self, at: u64, by: By) -> bool {
        self.note(at, by, true).iter().any(|(_, problem)| matches!(problem, Problem::Unordered(_)))
    }

    fn write(&mut self, at: u64, by: By) -> bool {
        self.note(at, by, false).iter().any(|(_, problem)| matches!(problem, Problem::Unordered(_)))
    }
}

#[test]
fn barriers_order_accesses() {
    let mut trial = Trial::new();
    assert!(!trial.write(0, by(0, 0)));
    assert!(trial.read(0, by(40, 0)), "read without a barrier");
    assert!(!trial.read(0, by(40, 1)));
    assert!(trial.write(0, by(0, 1)), "write after a read");
    assert!(!trial.write(0, by(0, 2)));
}

#[test]
fn lanes_of_a_simdgroup_need_a_barrier() {
    let mut trial = Trial::new();
    trial.write(0, by(0, 0));
    assert!(trial.read(0, by(1, 0)));
    let epochs = Epochs { simdgroup: [1; 2], simdgroup_all: 1, ..Epochs::default() };
    assert!(!trial.read(0, By { epochs, ..by(1, 0) }));
}

#[test]
fn barriers_order_their_own_memory() {
    let mut trial = Trial::new();
    let epochs = |memory: usize| {
        let mut epochs = Epochs { threadgroup_all: 1, simdgroup_all: 1, ..Epochs::default() };
        (epochs.threadgroup[memory], epochs.simdgroup[memory]) = (1, 1);
        epochs
    };
    trial.write(0, by(0, 0));
    assert!(trial.read(0, By { epochs: epochs(DEVICE), ..by(40, 0) }));
    assert!(!trial.read(0, By { epochs: epochs(THREADGROUP), ..by(40, 0) }));
    trial.write(64, By { is_threadgroup: false, ..by(0, 0) });
    assert!(trial.read(64, By { epochs: epochs(THREADGROUP), is_threadgroup: false, ..by(40, 0) }));
    assert!(!trial.read(64, By { epochs: epochs(DEVICE), is_threadgroup: false, ..by(40, 0) }));
}

#[test]
fn a_barrier_without_memory_orders_a_write_after_a_read() {
    let mut trial = Trial::new();
    let epochs = Epochs { threadgroup_all: 1, simdgroup_all: 1, ..Epochs::default() };
    trial.write(0, by(0, 0));
    trial.read(0, by(0, 0));
    trial.read(4, by(0, 0));
    assert!(trial.write(0, By { epochs, ..by(40, 0) }), "write after a write");
    assert!(!trial.write(4, By { epochs, ..by(40, 0) }));
}

#[test]
fn atomic_accesses_and_equal_values_do_not_race() {
    let mut trial = Trial::new();
    let atomic = |thread| By { is_atomic: true, ..by(thread, 0) };
    trial.write(0, atomic(0));
    assert!(!trial.write(0, atomic(50)));
    assert!(trial.write(0, by(60, 0)));
    let same = |thread| By { value: 9, ..by(thread, 0) };
    trial.write(8, same(0));
    assert!(!trial.write(8, same(50)));
    assert!(trial.write(8, by(51, 0)));
}

#[test]
fn a_stage_forgets_those_before() {
    let mut trial = Trial::new();
    let device = |value| By { is_threadgroup: false, value, ..by(0, 0) };
    assert!(!trial.write(0, device(1)));
    trial.group(0);
    assert!(trial.read(0, device(2)), "threadgroups of one stage");
    trial.shadow.begin(2);
    trial.group(0);
    assert!(!trial.read(0, device(3)), "a read after the write of a stage before");
    assert!(!trial.write(0, device(3)), "a write after the read of a stage before");
    trial.group(1);
    let problems = trial.note(0, device(4), false);
    let [(0, Problem::Unordered(other))] = &problems[..] else { panic!("no race") };
    assert_eq!(other.group.as_ref().map(|group| group.dispatch), Some(0));
}

#[test]
fn threadgroups_have_memory_of_their_own() {
    let mut trial = Trial::new();
    assert!(!trial.write(0, by(0, 0)));
    trial.group(0);
    assert!(matches!(trial.note(0, by(0, 0), true)[..], [(0, Problem::NeverWritten)]));
    assert!(!trial.write(0, by(0, 0)));
    assert!(!trial.read(0, by(0, 0)));
}

#[test]
fn bytes_are_told_apart() {
    let mut trial = Trial::new();
    let byte = |thread| By { bytes: 1, ..by(thread, 0) };
    trial.write(0, byte(0));
    assert!(!trial.write(1, byte(40)));
    assert!(trial.write(0, byte(40)));
    assert!(matches!(trial.note(2, byte(40), true)[..], [(8, Problem::NeverWritten)]));
}

#[test]
fn a_writer_that_read_last_races_with_the_reader_before() {
    let mut trial = Trial::new();
    trial.write(0, by(5, 0));
    trial.read(0, by(1, 1));
    trial.read(0, by(40, 1));
    assert!(trial.write(0, by(40, 1)));
}

/// The first thread of a simdgroup and those after it access consecutive elements.
fn wave(simdgroup: u32, epoch: u32) -> By {
    By { lanes: 32, ..by(simdgroup * 32, epoch) }
}

#[test]
fn simdgroups_race_line_by_line() {
    let mut trial = Trial::new();
    assert!(trial.note(0, wave(0, 0), false).is_empty());
    assert!(trial.note(0, wave(0, 0), true).is_empty(), "each lane reads its own");
    assert!(trial.shadow.spaces[THREADGROUP].pages[0].lines.iter().all(|line| line.parts.is_none()));
    assert_eq!(trial.note(0, wave(1, 0), true).len(), 32);
    assert!(trial.note(0, wave(1, 1), true).is_empty());
    let lanes: Vec<u32> = trial.note(64, wave(0, 1), false).iter().map(|(lane, _)| *lane).collect();
    assert_eq!(lanes, (0..16).collect::<Vec<u32>>(), "half of it was read by others");
}

#[test]
fn lanes_of_other_sizes_are_compared() {
    let mut trial = Trial::new();
    let vectors = By { bytes: 16, ..wave(0, 0) };
    trial.note(0, vectors, false);
    assert!(trial.note(0, vectors, true).is_empty());
    // The first four numbers belong to lane 0. Lane 0 reads the first.
    let lanes: Vec<u32> = trial.note(0, wave(0, 0), true).iter().map(|(lane, _)| *lane).collect();
    assert_eq!(lanes, (1..32).collect::<Vec<u32>>());
    assert!(trial.note(0, wave(0, 1), true).is_empty());
}

#[test]
fn parts_of_a_line_are_told_apart_until_it_is_overwritten() {
    let mut trial = Trial::new();
    trial.note(0, wave(0, 0), false);
    trial.note(4, by(40, 1), false);
    let problems = trial.note(0, wave(2, 1), true);
    let lanes: Vec<u32> = problems.iter().map(|(lane, _)| *lane).collect();
    assert_eq!(lanes, [1]);
    let [(_, Problem::Unordered(other))] = &problems[..] else { panic!("no race") };
    assert_eq!(other.thread, 40);
    assert!(trial.shadow.spaces[THREADGROUP].pages[0].lines[0].parts.is_some());
    trial.note(0, wave(0, 2), false);
    assert!(trial.shadow.spaces[THREADGROUP].pages[0].lines[0].parts.is_none());
}

#[test]
fn elements_across_pages_are_followed() {
    let mut trial = Trial::new();
    let start = PAGE - 20;
    trial.note(start, By { bytes: 12, ..wave(0, 0) }, false);
    for lane in [0, 1, 2, 31] {
        let at = start + 12 * u64::from(lane);
        assert!(!trial.read(at + 8, by(lane, 0)), "lane {lane}");
        assert!(trial.read(at + 8, by(40, 0)), "lane {lane}");
    }
}

#[test]
fn lines_are_as_small_as_accesses_need() {
    let mut trial = Trial::new();
    trial.note(0, wave(0, 0), false);
    assert_eq!(trial.shadow.spaces[THREADGROUP].pages[0].line, 7);
    // Halfs, and floats at another start.
    trial.note(1024, By { bytes: 2, ..wave(0, 0) }, false);
    assert_eq!(trial.shadow.spaces[THREADGROUP].pages[0].line, 6);
    trial.note(2048 + 32, wave(1, 0), false);
    assert_eq!(trial.shadow.spaces[THREADGROUP].pages[0].line, 5);
    assert!(trial.shadow.spaces[THREADGROUP].pages[0].lines.iter().all(|line| line.parts.is_none()));
    for lane in [0, 7, 8, 20, 31] {
        assert!(!trial.read(4 * u64::from(lane), by(lane, 0)), "lane {lane}");
        assert!(trial.read(4 * u64::from(lane), by((lane + 1) % 32, 0)), "lane {lane}");
        assert!(!trial.read(1024 + 2 * u64::from(lane), By { bytes: 2, ..by(lane, 0) }), "lane {lane}");
    }
}
