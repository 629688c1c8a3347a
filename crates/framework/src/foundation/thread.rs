//! NSThread.

use super::object::NS_OBJECT;
use super::time::until;
use crate::debug;
use crate::runtime::block::{Block, Kept};
use crate::runtime::{Fields, Id, Object, Sel, Strong, pool, send};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A thread, started or not.
#[derive(Default)]
pub(crate) struct Thread {
    name: Strong,
    work: Work,
    state: State,
    stack: usize,
    /// True for the thread that the process began with.
    is_main: bool,
}

#[derive(Default)]
enum Work {
    #[default]
    None,
    Block(Kept),
    /// A message with one object.
    Message(Strong, Sel, Strong),
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    New,
    Running,
    Finished,
}

// SAFETY: blocks and objects of a program are handed to the thread that it asks for; a selector is a number.
unsafe impl Send for Work {}

thread_local! {
    static CURRENT: RefCell<Strong> = RefCell::default();
}

/// The object of the first thread, which lives as long as the process.
fn main() -> Id {
    static MAIN: OnceLock<Id> = OnceLock::new();
    *MAIN.get_or_init(|| {
        let made = Strong::new(Fields::new(Thread { is_main: true, state: State::Running, ..Thread::default() }));
        NS_THREAD.data.live.fetch_sub(1, Ordering::Relaxed);
        made.into_id()
    })
}

fn is_main() -> bool {
    // SAFETY: the calls have no preconditions; the first thread of a process has its number.
    unsafe { libc::getpid() == libc::gettid() }
}

fn current() -> Id {
    if is_main() {
        return main();
    }
    CURRENT.with_borrow_mut(|current| {
        if current.id().is_nil() {
            *current = Strong::new(Fields::new(Thread { state: State::Running, ..Thread::default() }));
        }
        current.clone().autorelease()
    })
}

fn start(this: Object<Fields<Thread>>, here: &str) {
    {
        let mut thread = this.lock();
        forbid!(here, thread.state != State::New, (), "the thread has been started already.");
        thread.state = State::Running;
    }
    let own = this.strong();
    let stack = this.lock().stack;
    let builder =
        if stack > 0 { std::thread::Builder::new().stack_size(stack) } else { std::thread::Builder::new() };
    let spawned = builder.spawn(move || {
        CURRENT.set(own.clone());
        pool::with(|| send::send(own.id(), Sel::register(c"main")));
        CURRENT.set(Strong::default());
        if let Some(thread) = own.cast::<Fields<Thread>>() {
            let _work = {
                let mut thread = thread.lock();
                thread.state = State::Finished;
                std::mem::take(&mut thread.work)
            };
        }
    });
    if let Err(problem) = spawned {
        debug::fail(here, format_args!("{problem}"));
    }
}

fn with_work(work: Work) -> Fields<Thread> {
    Fields::new(Thread { work, ..Thread::default() })
}

fn detach(work: Work, here: &str) {
    let made = Strong::new(with_work(work));
    if let Some(thread) = made.cast::<Fields<Thread>>() {
        start(thread, here);
    }
}

class! {
    NS_THREAD = "NSThread": NS_OBJECT, default Fields<Thread>, []
    properties {
        "name" "setName:" name: Strong,
        "stackSize" "setStackSize:" stack: usize,
    }
    absent { "threadDictionary", "cancel", "isCancelled", "threadPriority", "setThreadPriority:", }
    methods {
        + "currentThread" (_class) -> Id { current() }
        + "mainThread" (_class) -> Id { main() }
        + "isMainThread" (_class) -> bool { is_main() }
        + "isMultiThreaded" (_class) -> bool { true }
        + "sleepForTimeInterval:" (_class, seconds: f64) {
            std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        }
        + "sleepUntilDate:" (_class, date: Id) { std::thread::sleep(until(date).unwrap_or_default()) }
        + "detachNewThreadWithBlock:" (_class, block: Block) {
            if let Some(block) = Kept::new(block) { detach(Work::Block(block), HERE) }
        }
        + "detachNewThreadSelector:toTarget:withObject:" (_class, selector: Sel, target: Id, object: Id) {
            detach(Work::Message(Strong::retain(target), selector, Strong::retain(object)), HERE);
        }
        - "initWithBlock:" (this, block: Block) -> Id {
            this.set(with_work(Kept::new(block).map_or(Work::None, Work::Block)))
        }
        - "initWithTarget:selector:object:" (this, target: Id, selector: Sel, object: Id) -> Id {
            this.set(with_work(Work::Message(Strong::retain(target), selector, Strong::retain(object))))
        }
        - "start" (this) { start(this, HERE) }
        - "main" (this) {
            let work = std::mem::take(&mut this.lock().work);
            match work {
                Work::None => {}
                // SAFETY: the methods take blocks without parameters.
                Work::Block(block) => unsafe { block.call() },
                Work::Message(target, selector, object) => drop(send::send1(target.id(), selector, object.id())),
            }
        }
        - "isMainThread" (this) -> bool { this.lock().is_main }
        - "isExecuting" (this) -> bool { this.lock().state == State::Running }
        - "isFinished" (this) -> bool { this.lock().state == State::Finished }
        - "qualityOfService" (_this) -> isize { -1 }
        - "setQualityOfService:" (_this, _quality: isize) {}
    }
}
