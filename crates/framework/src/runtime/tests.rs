//! The runtime as programs use it: by its C functions.

use super::build::*;
use super::object::{allocate, objc_release, objc_retain};
use super::send::{objc_msg_lookup, objc_msgSend};
use super::*;
use crate::debug::leaks::metalworks_live_objects;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string::{self, NS_STRING};
use std::ffi::{CStr, c_void};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sends a message through `objc_msgSend`.
macro_rules! send {
    ($receiver:expr, $selector:literal $(, $arg:expr => $ty:ty)* ; $ret:ty) => {{
        #[allow(unused_unsafe, reason = "some tests send messages in unsafe blocks")]
        // SAFETY: the test names the types of the method.
        let function: extern "C" fn(Id, Sel $(, $ty)*) -> $ret =
            unsafe { std::mem::transmute(objc_msgSend as *const ()) };
        function($receiver, Sel::register($selector) $(, $arg)*)
    }};
}

fn class_object(class: &'static Class) -> Id {
    Id(std::ptr::from_ref(class).cast_mut().cast())
}

fn live(class: &CStr) -> isize {
    // SAFETY: a C string.
    unsafe { metalworks_live_objects(class.as_ptr()) }
}

#[test]
fn messages_reach_methods_of_instances_and_classes() {
    pool::with(|| {
        let text = send!(class_object(&NS_STRING), c"stringWithUTF8String:", c"grüße".as_ptr() => *const i8; Id);
        assert_eq!(send!(text, c"length"; usize), 5);
        assert_eq!(send!(text, c"lengthOfBytesUsingEncoding:", 4 => usize; usize), 7);
        assert_eq!(send!(text, c"characterAtIndex:", 2 => usize; u16), 0xfc);
        let same = string::new("grüße");
        assert_eq!(send!(text, c"isEqual:", same.id() => Id; u8), 1);
        assert_eq!(send!(text, c"hash"; usize), send!(same.id(), c"hash"; usize));
        assert!(send!(text, c"isKindOfClass:", &NS_OBJECT => &'static Class; u8) == 1);
        // Methods of a root class answer for its subclasses' class objects, too.
        assert_eq!(send!(class_object(&NS_STRING), c"hash"; usize), class_object(&NS_STRING).0.addr() >> 4);
        assert_eq!(send!(text, c"doubleValue"; f64), 0.0);
        let number =
            send!(class_object(&crate::foundation::number::NS_NUMBER), c"numberWithDouble:", 2.5 => f64; Id);
        assert_eq!(send!(number, c"doubleValue"; f64), 2.5);
    });
}

#[test]
fn nil_answers_nothing() {
    assert_eq!(send!(Id::NIL, c"length"; usize), 0);
    assert_eq!(send!(Id::NIL, c"doubleValue"; f64), 0.0);
    let code = objc_msg_lookup(Id::NIL, Sel::register(c"length"));
    assert!(!code.is_null());
}

#[test]
fn many_arguments_arrive_before_and_after_the_lookup() {
    extern "C" fn sum(
        _: Id,
        _: Sel,
        a: usize,
        x: f64,
        b: usize,
        y: f32,
        c: usize,
        d: usize,
        e: usize,
        size: Size3,
    ) -> f64 {
        (a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * size.depth) as f64 + x + f64::from(y)
    }
    // SAFETY: the code fits the types.
    let class = unsafe {
        let class = &*objc_allocateClassPair(Some(&NS_OBJECT), c"ManyArguments".as_ptr(), 0);
        assert!(class_addMethod(
            class,
            Sel::register(c"sum:::::::"),
            sum as *mut (),
            c"d@:QdQfQQQ{?=QQQ}".as_ptr()
        ));
        objc_registerClassPair(class);
        class
    };
    let object = allocate(class, 0);
    for _ in 0..2 {
        let size = Size3 { width: 0, height: 0, depth: 1 };
        let sum = send!(object, c"sum:::::::", 1 => usize, 0.5 => f64, 1 => usize, 0.25 => f32, 1 => usize, 1 => usize,
            1 => usize, size => Size3; f64);
        assert_eq!(sum, 29.75);
    }
    objc_release(object);
}

#[test]
fn programs_make_classes_and_replace_methods() {
    extern "C" fn one(_: Id, _: Sel) -> usize {
        1
    }
    extern "C" fn two(_: Id, _: Sel) -> usize {
        2
    }
    static DEALLOCATED: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn dealloc(this: Id, _: Sel) {
        DEALLOCATED.fetch_add(1, Ordering::Relaxed);
        object::deallocate(this);
    }
    // SAFETY: the code fits the types.
    unsafe {
        let class = &*objc_allocateClassPair(Some(&NS_OBJECT), c"Made".as_ptr(), 0);
        assert!(objc_getClass(c"Made".as_ptr()).is_none(), "not registered yet");
        assert!(class_addIvar(class, c"count".as_ptr(), 4, 2, c"i".as_ptr()));
        assert!(class_addIvar(class, c"next".as_ptr(), 8, 3, c"@".as_ptr()));
        assert!(class_addMethod(class, Sel::register(c"number"), one as *mut (), c"Q@:".as_ptr()));
        assert!(class_addMethod(class, Sel::register(c"dealloc"), dealloc as *mut (), c"v@:".as_ptr()));
        let meta = &*class.isa.load(Ordering::Acquire);
        assert!(class_addMethod(meta, Sel::register(c"number"), two as *mut (), c"Q@:".as_ptr()));
        let protocol = objc_allocateProtocol(c"Numbered".as_ptr());
        objc_registerProtocol(protocol);
        assert!(class_addProtocol(class, protocol));
        objc_registerClassPair(class);
        assert!(objc_allocateClassPair(Some(&NS_OBJECT), c"Made".as_ptr(), 0).is_null(), "the name is taken");
        let object = send!(class_object(class), c"new"; Id);
        assert_eq!((send!(object, c"number"; usize), send!(class_object(class), c"number"; usize)), (1, 2));
        assert_eq!(send!(object, c"conformsToProtocol:", protocol => Id; u8), 1);
        assert_eq!(
            inspect::class_getInstanceVariable(Some(class), c"next".as_ptr()).map(|ivar| ivar.offset),
            Some(16)
        );
        class_replaceMethod(class, Sel::register(c"number"), two as *mut (), c"Q@:".as_ptr());
        assert_eq!(send!(object, c"number"; usize), 2);
        objc_release(objc_retain(object));
        assert_eq!(DEALLOCATED.load(Ordering::Relaxed), 0);
        objc_release(object);
        assert_eq!((DEALLOCATED.load(Ordering::Relaxed), live(c"Made")), (1, 0));
    }
}

#[test]
fn pools_release_in_their_order() {
    // A class of its own: other tests make objects at the same time.
    // SAFETY: C strings.
    let class = unsafe { &*objc_allocateClassPair(Some(&NS_OBJECT), c"Pooled".as_ptr(), 0) };
    objc_registerClassPair(class);
    let (new, live) = (|| allocate(class, 0), || live(c"Pooled"));
    let outer = pool::objc_autoreleasePoolPush();
    let kept = new().autorelease();
    pool::with(|| new().autorelease());
    assert_eq!(live(), 1);
    // The caller of a method takes the object out of the pool again.
    let taken = pool::objc_retainAutoreleasedReturnValue(kept);
    assert_eq!(taken.retain_count(), 1);
    pool::objc_autoreleasePoolPop(outer);
    assert_eq!(live(), 1);
    objc_release(taken);
    assert_eq!(live(), 0);
    std::thread::spawn(move || new().autorelease()).join().expect("it ends");
    assert_eq!(live(), 0, "a thread without a pool");
}

#[test]
fn weak_references_become_nil() {
    let object = string::new("weak");
    let mut place = Id::NIL;
    let mut copy = Id::NIL;
    // SAFETY: the places outlive their use.
    unsafe {
        weak::objc_initWeak(&raw mut place, object.id());
        weak::objc_copyWeak(&raw mut copy, &raw mut place);
        let loaded = weak::objc_loadWeakRetained(&raw mut copy);
        assert_eq!(loaded, object.id());
        objc_release(loaded);
        drop(object);
        assert!(weak::objc_loadWeakRetained(&raw mut place).is_nil());
        weak::objc_destroyWeak(&raw mut copy);
        weak::objc_destroyWeak(&raw mut place);
    }
}

#[test]
fn blocks_are_copied_once_and_disposed_of_once() {
    static EVENTS: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    fn note(event: &'static str) {
        object::lock(&EVENTS).push(event);
    }
    #[repr(C)]
    struct Literal {
        isa: *const Class,
        flags: i32,
        reserved: i32,
        invoke: extern "C" fn(*mut Literal, usize),
        descriptor: *const Description,
        captured: usize,
    }
    #[repr(C)]
    struct Description {
        reserved: usize,
        size: usize,
        copy: extern "C" fn(*mut c_void, *const c_void),
        dispose: extern "C" fn(*mut c_void),
    }
    extern "C" fn invoke(block: *mut Literal, argument: usize) {
        // SAFETY: the block is passed to its own code.
        assert_eq!(unsafe { (*block).captured } + argument, 42);
        note("called");
    }
    extern "C" fn copy(_: *mut c_void, _: *const c_void) {
        note("copied");
    }
    extern "C" fn dispose(_: *mut c_void) {
        note("disposed of");
    }
    let description = Description { reserved: 0, size: size_of::<Literal>(), copy, dispose };
    unsafe extern "C" {
        #[allow(improper_ctypes, reason = "its address counts")]
        static _NSConcreteStackBlock: Class;
    }
    let mut literal = Literal {
        isa: &raw const _NSConcreteStackBlock,
        flags: 1 << 25,
        reserved: 0,
        invoke,
        descriptor: &description,
        captured: 40,
    };
    let kept = block::Kept::new(block::Block((&raw mut literal).cast())).expect("a block");
    // SAFETY: the block takes a number.
    unsafe { kept.call1(2usize) };
    drop(kept);
    assert_eq!(*object::lock(&EVENTS), ["copied", "called", "disposed of"]);
}

/// Runs a test that is ignored otherwise in another process, and returns its errors.
fn errors_of(test: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let output =
        Command::new(program).args([test, "--exact", "--ignored", "--nocapture"]).output().expect("it runs");
    assert!(!output.status.success(), "the process ends");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "ends the process; another test runs it"]
fn sends_an_unknown_message() {
    send!(string::new("x").id(), c"frobnicate:", 1 => usize; usize);
}

#[test]
#[ignore = "ends the process; another test runs it"]
fn sends_a_message_to_a_zombie() {
    let id = string::new("x").id();
    send!(id, c"length"; usize);
}

#[test]
#[ignore = "ends the process; another test runs it"]
fn releases_too_often() {
    let object = string::new("x");
    objc_release(object.id());
    drop(object);
}

#[test]
fn mistakes_name_the_class_and_the_selector() {
    let errors = errors_of("runtime::tests::sends_an_unknown_message");
    assert!(errors.contains("-[NSString frobnicate:]: unrecognized selector sent to instance 0x"), "{errors}");
    let errors = errors_of("runtime::tests::sends_a_message_to_a_zombie");
    assert!(errors.contains("*** -[NSString length]: message sent to deallocated instance 0x"), "{errors}");
    let errors = errors_of("runtime::tests::releases_too_often");
    assert!(errors.contains("*** -[NSString release]: message sent to deallocated instance 0x"), "{errors}");
}

#[test]
#[ignore = "measures"]
fn time_of_a_message() {
    const COUNT: u32 = 20_000_000;
    let object = string::new("x");
    let selector = Sel::register(c"isProxy");
    let code = objc_msg_lookup(object.id(), selector);
    type Code = extern "C" fn(Id, Sel) -> u8;
    // SAFETY: the method takes no arguments.
    let plain = unsafe { std::mem::transmute::<*mut (), Code>(code) };
    // SAFETY: as above.
    let message = unsafe { std::mem::transmute::<*const (), Code>(objc_msgSend as *const ()) };
    // The time of this thread: others may use the CPU.
    let now = || {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes to the structure.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    };
    let time = |call: &dyn Fn() -> u8| {
        let start = now();
        (0..COUNT).for_each(|_| assert_eq!(std::hint::black_box(call()), 0));
        (now() - start) / f64::from(COUNT)
    };
    let direct = time(&|| std::hint::black_box(plain)(object.id(), selector));
    let sent = time(&|| std::hint::black_box(message)(object.id(), selector));
    let looked_up = time(&|| {
        // SAFETY: as above.
        let code = unsafe { std::mem::transmute::<*mut (), Code>(objc_msg_lookup(object.id(), selector)) };
        code(object.id(), selector)
    });
    eprintln!(
        "call {direct:.2} ns; objc_msgSend {:.2} ns more, objc_msg_lookup and call {:.2} ns more",
        sent - direct,
        looked_up - direct
    );
}
