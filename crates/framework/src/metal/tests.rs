//! Metal's rules, as programs break them.

use super::device::MTLCreateSystemDefaultDevice;
use crate::debug::leaks::metalworks_live_objects;
use crate::foundation::string;
use crate::runtime::send::objc_msgSend;
use crate::runtime::{Id, Range, Sel, Size3, Strong, pool};
use std::ffi::CStr;
use std::process::Command;

/// Sends a message through `objc_msgSend`.
macro_rules! send {
    ($receiver:expr, $selector:literal $(, $arg:expr => $ty:ty)* ; $ret:ty) => {{
        let function: unsafe extern "C" fn(Id, Sel $(, $ty)*) -> $ret =
            // SAFETY: the test names the types of the method.
            unsafe { std::mem::transmute(objc_msgSend as *const ()) };
        // SAFETY: as above.
        unsafe { function($receiver, Sel::register($selector) $(, $arg)*) }
    }};
}

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2.0f; }
    constant int K [[function_constant(0)]];
    constant int L [[function_constant(1)]];
    kernel void constants(device int *x [[buffer(0)]]) {
        x[0] = K;
        x[1] = is_function_constant_defined(L);
    }
    kernel void sum(device const float4 *x [[buffer(0)]], device float4 *y [[buffer(1)]]) { *y += *x; }";

struct Setup {
    device: Strong,
    queue: Strong,
}

impl Setup {
    fn new() -> Setup {
        let device = Strong::owned(MTLCreateSystemDefaultDevice());
        let queue = Strong::owned(send!(device.id(), c"newCommandQueue"; Id));
        Setup { device, queue }
    }

    fn buffer(&self, length: usize, options: usize) -> Strong {
        let buffer =
            send!(self.device.id(), c"newBufferWithLength:options:", length => usize, options => usize; Id);
        Strong::owned(buffer)
    }

    fn library(&self) -> Strong {
        let mut error = Id::NIL;
        let source = string::new(SOURCE);
        let library = send!(self.device.id(), c"newLibraryWithSource:options:error:", source.id() => Id, Id::NIL => Id,
            &raw mut error => *mut Id; Id);
        assert!(!library.is_nil(), "{}", string::describe(error));
        Strong::owned(library)
    }

    fn pipeline(&self, name: &str) -> Strong {
        let mut error = Id::NIL;
        let (library, name) = (self.library(), string::new(name));
        let function = Strong::owned(send!(library.id(), c"newFunctionWithName:", name.id() => Id; Id));
        let pipeline = send!(self.device.id(), c"newComputePipelineStateWithFunction:error:", function.id() => Id,
            &raw mut error => *mut Id; Id);
        assert!(!pipeline.is_nil(), "{}", string::describe(error));
        Strong::owned(pipeline)
    }

    fn commands(&self) -> Id {
        send!(self.queue.id(), c"commandBuffer"; Id)
    }
}

fn encoder(commands: Id) -> Id {
    send!(commands, c"computeCommandEncoder"; Id)
}

type Mistake = (&'static str, fn(&Setup), &'static str);

/// Every mistake, with the message that it gives.
const MISTAKES: [Mistake; 24] = [
    (
        "commits twice",
        commits_twice,
        "-[MTLDebugCommandBuffer commit]: failed assertion `commit an already committed command buffer'",
    ),
    (
        "commits with an encoder",
        commits_with_an_encoder,
        "-[MTLDebugCommandBuffer commit]: failed assertion `commit command buffer with uncommitted encoder'",
    ),
    (
        "opens two encoders",
        opens_two_encoders,
        "-[MTLDebugCommandBuffer computeCommandEncoder]: failed assertion `A command encoder is already encoding to this command buffer'",
    ),
    (
        "drops an encoder",
        drops_an_encoder,
        "-[MTLDebugComputeCommandEncoder dealloc]: failed assertion `Command encoder released without endEncoding'",
    ),
    (
        "ends twice",
        ends_twice,
        "-[MTLDebugComputeCommandEncoder endEncoding]: failed assertion `Command encoding has already ended.'",
    ),
    ("waits too early", waits_too_early, "-[MTLDebugCommandBuffer waitUntilCompleted]: failed assertion"),
    ("makes an empty buffer", makes_an_empty_buffer, "Cannot create buffer of zero length."),
    ("copies to private", copies_to_private, "storageMode cannot be MTLStorageModePrivate."),
    (
        "modifies shared",
        modifies_shared,
        "-[MTLDebugBuffer didModifyRange:]: failed assertion `storageMode must be MTLStorageModeManaged.'",
    ),
    ("copies unaligned", copies_unaligned, "failed assertion `sourceOffset(2) must be a multiple of 4.'"),
    (
        "binds behind the end",
        binds_behind_the_end,
        "-[MTLDebugComputeCommandEncoder setBuffer:offset:atIndex:]: failed assertion `offset(64) must be < [buffer length] (64).'",
    ),
    (
        "binds unaligned",
        binds_unaligned,
        "-[MTLDebugComputeCommandEncoder dispatchThreads:threadsPerThreadgroup:]: failed assertion `dispatch_threads",
    ),
    (
        "binds nothing",
        binds_nothing,
        "failed assertion `Compute Function(twice): missing Buffer binding at index 0 for x[0].'",
    ),
    ("has no pipeline", has_no_pipeline, "failed assertion `a compute pipeline state must be set.'"),
    (
        "dispatches large threadgroups",
        dispatches_large_threadgroups,
        "(2048) must be <= 1024. (device threadgroup size limit)'",
    ),
    ("binds a zombie", binds_a_zombie, "failed assertion `buffer is a MTLDebugBuffer that was released before, 0x"),
    (
        "releases a buffer too early",
        releases_too_early,
        "-[MTLDebugBuffer dealloc]: failed assertion `The following Metal object is being destroyed while still required",
    ),
    ("adds nil to a residency set", adds_nil, "failed assertion `allocation must not be nil.'"),
    (
        "sets no constants",
        sets_no_constants,
        "-[MTLDebugLibrary newFunctionWithName:constantValues:error:]: failed assertion `constantValues must not be nil.'",
    ),
    (
        "dispatches unaligned",
        dispatches_unaligned,
        "failed assertion `indirectBufferOffset(2) must be a multiple of 4.'",
    ),
    (
        "places wrongly",
        places_wrongly,
        "-[MTLDebugHeap newBufferWithLength:options:]: failed assertion `Buffer Validation\nThe storage mode of the options does \
         not match the heap's.'",
    ),
    (
        "shares unaligned",
        shares_unaligned,
        "-[MTLDebugDevice newBufferWithBytesNoCopy:length:options:deallocator:]: failed assertion `Buffer Validation\npointer",
    ),
    ("binds a queue", binds_a_queue, "failed assertion `buffer is a MTLDebugCommandQueue, not a MTLDebugBuffer.'"),
    (
        "asks for textures",
        asks_for_textures,
        "-[MTLDebugDevice newTextureWithDescriptor:]: failed assertion `this device has no textures'",
    ),
];

fn commits_twice(setup: &Setup) {
    let commands = setup.commands();
    send!(commands, c"commit"; ());
    send!(commands, c"commit"; ());
}

fn commits_with_an_encoder(setup: &Setup) {
    let commands = setup.commands();
    encoder(commands);
    send!(commands, c"commit"; ());
}

fn opens_two_encoders(setup: &Setup) {
    let commands = setup.commands();
    encoder(commands);
    encoder(commands);
}

fn drops_an_encoder(setup: &Setup) {
    pool::with(|| encoder(setup.commands()));
}

fn ends_twice(setup: &Setup) {
    let encoder = encoder(setup.commands());
    send!(encoder, c"endEncoding"; ());
    send!(encoder, c"endEncoding"; ());
}

fn waits_too_early(setup: &Setup) {
    send!(setup.commands(), c"waitUntilCompleted"; ());
}

fn makes_an_empty_buffer(setup: &Setup) {
    setup.buffer(0, 0);
}

fn copies_to_private(setup: &Setup) {
    let bytes = [0u8; 4];
    send!(setup.device.id(), c"newBufferWithBytes:length:options:", bytes.as_ptr() => *const u8, 4 => usize, 2 << 4 => usize; Id);
}

fn modifies_shared(setup: &Setup) {
    let range = Range { location: 0, length: 4 };
    send!(setup.buffer(64, 0).id(), c"didModifyRange:", range => Range; ());
}

fn copies_unaligned(setup: &Setup) {
    let (a, b) = (setup.buffer(64, 0), setup.buffer(64, 0));
    let encoder = send!(setup.commands(), c"blitCommandEncoder"; Id);
    send!(encoder, c"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", a.id() => Id, 2 => usize,
        b.id() => Id, 0 => usize, 4 => usize; ());
}

fn binds_behind_the_end(setup: &Setup) {
    let (encoder, buffer) = (encoder(setup.commands()), setup.buffer(64, 0));
    send!(encoder, c"setBuffer:offset:atIndex:", buffer.id() => Id, 64 => usize, 0 => usize; ());
}

fn binds_unaligned(setup: &Setup) {
    let (encoder, buffer, pipeline) = (encoder(setup.commands()), setup.buffer(64, 0), setup.pipeline("sum"));
    send!(encoder, c"setComputePipelineState:", pipeline.id() => Id; ());
    send!(encoder, c"setBuffer:offset:atIndex:", buffer.id() => Id, 4 => usize, 0 => usize; ());
    send!(encoder, c"setBuffer:offset:atIndex:", buffer.id() => Id, 32 => usize, 1 => usize; ());
    let one = Size3 { width: 1, height: 1, depth: 1 };
    send!(encoder, c"dispatchThreads:threadsPerThreadgroup:", one => Size3, one => Size3; ());
}

const ONE: Size3 = Size3 { width: 1, height: 1, depth: 1 };

fn dispatch(encoder: Id, threads: Size3) {
    send!(encoder, c"dispatchThreads:threadsPerThreadgroup:", ONE => Size3, threads => Size3; ());
}

fn binds_nothing(setup: &Setup) {
    let (pipeline, encoder) = (setup.pipeline("twice"), encoder(setup.commands()));
    send!(encoder, c"setComputePipelineState:", pipeline.id() => Id; ());
    dispatch(encoder, ONE);
}

fn has_no_pipeline(setup: &Setup) {
    dispatch(encoder(setup.commands()), ONE);
}

fn dispatches_large_threadgroups(setup: &Setup) {
    let (pipeline, encoder) = (setup.pipeline("twice"), encoder(setup.commands()));
    send!(encoder, c"setComputePipelineState:", pipeline.id() => Id; ());
    dispatch(encoder, Size3 { width: 2048, ..ONE });
}

fn binds_a_zombie(setup: &Setup) {
    let (buffer, encoder) = (setup.buffer(64, 0).into_id(), encoder(setup.commands()));
    send!(buffer, c"release"; ());
    send!(encoder, c"setBuffer:offset:atIndex:", buffer => Id, 0 => usize, 0 => usize; ());
}

/// The command buffer does not retain the buffer, and is not completed.
fn releases_too_early(setup: &Setup) {
    let commands = send!(setup.queue.id(), c"commandBufferWithUnretainedReferences"; Id);
    let (buffer, encoder) = (setup.buffer(64, 0), encoder(commands));
    send!(encoder, c"setBuffer:offset:atIndex:", buffer.id() => Id, 0 => usize, 0 => usize; ());
    send!(encoder, c"endEncoding"; ());
    drop(buffer);
}

fn adds_nil(setup: &Setup) {
    let descriptor = new(c"MTLResidencySetDescriptor");
    let set = send!(setup.device.id(), c"newResidencySetWithDescriptor:error:", descriptor.id() => Id,
        std::ptr::null_mut() => *mut Id; Id);
    send!(set, c"addAllocation:", Id::NIL => Id; ());
}

fn sets_no_constants(setup: &Setup) {
    let (library, name) = (setup.library(), string::new("twice"));
    send!(library.id(), c"newFunctionWithName:constantValues:error:", name.id() => Id, Id::NIL => Id,
        std::ptr::null_mut() => *mut Id; Id);
}

fn dispatches_unaligned(setup: &Setup) {
    let (encoder, buffer) = (encoder(setup.commands()), setup.buffer(64, 0));
    send!(encoder, c"dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:",
        buffer.id() => Id, 2 => usize, ONE => Size3; ());
}

fn places_wrongly(setup: &Setup) {
    let heap = new_heap(setup, 1024);
    send!(heap.id(), c"newBufferWithLength:options:", 16 => usize, 2 << 4 => usize; Id);
}

fn shares_unaligned(setup: &Setup) {
    let memory = [0u8; 64];
    send!(setup.device.id(), c"newBufferWithBytesNoCopy:length:options:deallocator:", memory.as_ptr().wrapping_add(1) => *const u8,
        4096 => usize, 0 => usize, Id::NIL => Id; Id);
}

/// A new object of a class.
fn new(class: &CStr) -> Strong {
    let class = crate::runtime::class::find(class).expect("the class");
    Strong::owned(send!(Id(std::ptr::from_ref(class).cast_mut().cast()), c"new"; Id))
}

fn new_heap(setup: &Setup, size: usize) -> Strong {
    let descriptor = new(c"MTLHeapDescriptor");
    send!(descriptor.id(), c"setSize:", size => usize; ());
    send!(descriptor.id(), c"setStorageMode:", 0 => usize; ());
    Strong::owned(send!(setup.device.id(), c"newHeapWithDescriptor:", descriptor.id() => Id; Id))
}

fn binds_a_queue(setup: &Setup) {
    let encoder = encoder(setup.commands());
    send!(encoder, c"setBuffer:offset:atIndex:", setup.queue.id() => Id, 0 => usize, 0 => usize; ());
}

fn asks_for_textures(setup: &Setup) {
    send!(setup.device.id(), c"newTextureWithDescriptor:", Id::NIL => Id; Id);
}

const MISTAKE: &str = "FRAMEWORK_TEST_MISTAKE";

#[test]
#[ignore = "ends the process; another test runs it"]
fn makes_a_mistake() {
    let wanted = std::env::var(MISTAKE).expect("it is set");
    let (_, mistake, _) = MISTAKES.iter().find(|(name, ..)| *name == wanted).expect("it is known");
    pool::with(|| mistake(&Setup::new()));
}

#[test]
fn mistakes_are_reported() {
    let program = std::env::current_exe().expect("this program");
    for (name, _, expected) in &MISTAKES {
        let mut command = Command::new(&program);
        command.args(["metal::tests::makes_a_mistake", "--exact", "--ignored", "--nocapture"]).env(MISTAKE, name);
        let output = command.output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{name}: no '{expected}' in:\n{errors}");
    }
}

/// The function `constants`, whose constants have no values, and the error.
fn without_values(setup: &Setup) -> (Strong, Id) {
    let (library, name, mut error) = (setup.library(), string::new("constants"), Id::NIL);
    let function = send!(library.id(), c"newFunctionWithName:constantValues:error:", name.id() => Id,
        new(c"MTLFunctionConstantValues").id() => Id, &raw mut error => *mut Id; Id);
    (Strong::owned(function), error)
}

#[test]
fn constants_without_values_are_an_error() {
    pool::with(|| {
        let (function, error) = without_values(&Setup::new());
        assert!(function.id().is_nil());
        let text = string::describe(send!(error, c"localizedDescription"; Id));
        assert!(text.ends_with("function constant not set: 'K' (index 0, int)"), "{text}");
    });
}

#[test]
#[ignore = "needs the layer to be off; another test runs it"]
fn takes_zero_for_constants() {
    pool::with(|| {
        let (setup, mut error) = (Setup::new(), Id::NIL);
        let (function, _) = without_values(&setup);
        let pipeline = send!(setup.device.id(), c"newComputePipelineStateWithFunction:error:", function.id() => Id,
            &raw mut error => *mut Id; Id);
        assert!(!pipeline.is_nil(), "{}", string::describe(error));
        let (buffer, commands) = (setup.buffer(64, 0), setup.commands());
        let numbers = send!(buffer.id(), c"contents"; *mut i32);
        // SAFETY: the buffer has 64 bytes.
        unsafe { numbers.cast::<[i32; 2]>().write([7, 7]) };
        let encoder = encoder(commands);
        send!(encoder, c"setComputePipelineState:", pipeline => Id; ());
        send!(encoder, c"setBuffer:offset:atIndex:", buffer.id() => Id, 0 => usize, 0 => usize; ());
        dispatch(encoder, ONE);
        send!(encoder, c"endEncoding"; ());
        send!(commands, c"commit"; ());
        send!(commands, c"waitUntilCompleted"; ());
        // SAFETY: as above. The second one is asked for, and not read.
        assert_eq!(unsafe { numbers.cast::<[i32; 2]>().read() }, [0, 0]);
    });
}

/// As on a Mac, where ggml's `acc` relies on it.
#[test]
fn without_the_layer_constants_without_values_are_zero() {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["metal::tests::takes_zero_for_constants", "--exact", "--ignored"]).env("MTL_DEBUG_LAYER", "0");
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn live(class: &CStr) -> isize {
    // SAFETY: a C string.
    unsafe { metalworks_live_objects(class.as_ptr()) }
}

/// Dispatches, copies, fills and events, and nothing is left.
#[test]
fn work_runs_and_nothing_leaks() {
    pool::with(|| {
        let setup = Setup::new();
        let (pipeline, shared, private) = (setup.pipeline("twice"), setup.buffer(64, 0), setup.buffer(64, 2 << 4));
        assert!(send!(private.id(), c"contents"; *mut f32).is_null());
        let event = Strong::owned(send!(setup.device.id(), c"newSharedEvent"; Id));
        let contents = send!(shared.id(), c"contents"; *mut f32);
        // SAFETY: it has 16 numbers.
        unsafe { (0..16).for_each(|at| contents.add(at).write(at as f32)) };
        pool::with(|| {
            // It waits for the host, and what is committed behind it waits, too.
            let (first, second) = (setup.commands(), setup.commands());
            send!(first, c"encodeWaitForEvent:value:", event.id() => Id, 1 => u64; ());
            let blit = send!(first, c"blitCommandEncoder"; Id);
            send!(blit, c"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", shared.id() => Id, 0 => usize,
                private.id() => Id, 0 => usize, 64 => usize; ());
            send!(blit, c"endEncoding"; ());
            let encoder = encoder(first);
            send!(encoder, c"setComputePipelineState:", pipeline.id() => Id; ());
            send!(encoder, c"setBuffer:offset:atIndex:", private.id() => Id, 0 => usize, 0 => usize; ());
            let (grid, group) = (Size3 { width: 16, height: 1, depth: 1 }, Size3 { width: 8, height: 1, depth: 1 });
            send!(encoder, c"dispatchThreads:threadsPerThreadgroup:", grid => Size3, group => Size3; ());
            send!(encoder, c"endEncoding"; ());
            let blit = send!(second, c"blitCommandEncoder"; Id);
            send!(blit, c"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", private.id() => Id, 0 => usize,
                shared.id() => Id, 0 => usize, 64 => usize; ());
            send!(blit, c"fillBuffer:range:value:", shared.id() => Id, Range { location: 0, length: 4 } => Range, 0xff => u8; ());
            send!(blit, c"endEncoding"; ());
            send!(second, c"encodeSignalEvent:value:", event.id() => Id, 2 => u64; ());
            send!(first, c"commit"; ());
            send!(second, c"commit"; ());
            assert_eq!((send!(first, c"status"; usize), send!(event.id(), c"signaledValue"; u64)), (2, 0));
            send!(event.id(), c"setSignaledValue:", 1 => u64; ());
            send!(second, c"waitUntilCompleted"; ());
            assert_eq!((send!(first, c"status"; usize), send!(second, c"status"; usize)), (4, 4));
            assert_eq!(send!(event.id(), c"waitUntilSignaledValue:timeoutMS:", 2 => u64, 60_000 => u64; u8), 1);
            let times = (send!(first, c"GPUStartTime"; f64), send!(first, c"GPUEndTime"; f64));
            assert!(0.0 < times.0 && times.0 <= times.1, "{times:?}");
        });
        // SAFETY: as above.
        let numbers: Vec<f32> = (0..16).map(|at| unsafe { contents.add(at).read() }).collect();
        assert!(numbers[0].is_nan() && (1..16).all(|at| numbers[at] == 2.0 * at as f32), "{numbers:?}");
        drop((shared, private, event, setup, pipeline));
    });
    for class in [
        c"MTLDebugCommandBuffer",
        c"MTLDebugComputeCommandEncoder",
        c"MTLDebugBlitCommandEncoder",
        c"MTLDebugSharedEvent",
        c"MTLDebugLibrary",
        c"MTLDebugFunction",
        c"MTLDebugComputePipelineState",
    ] {
        // The thread that ran the work may still hold it for a moment.
        let begun = std::time::Instant::now();
        while live(class) != 0 && begun.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        assert_eq!(live(class), 0, "{class:?}");
    }
}

#[test]
fn heaps_place_buffers() {
    pool::with(|| {
        let setup = Setup::new();
        let heap = new_heap(&setup, 1024);
        let new = |length: usize| {
            Strong::owned(send!(heap.id(), c"newBufferWithLength:options:", length => usize, 0 => usize; Id))
        };
        let used = || send!(heap.id(), c"usedSize"; usize);
        let (a, b, c) = (new(300), new(200), new(256));
        assert_eq!(
            (used(), send!(b.id(), c"heapOffset"; usize), send!(c.id(), c"heapOffset"; usize)),
            (1024, 512, 768)
        );
        assert!(new(1).id().is_nil(), "it is full");
        drop(b);
        assert_eq!((used(), send!(heap.id(), c"maxAvailableSizeWithAlignment:", 256 => usize; usize)), (768, 256));
        let again = new(100);
        assert_eq!(send!(again.id(), c"heapOffset"; usize), 512);
        drop((a, c, again));
        assert_eq!(used(), 0);
    });
}

#[test]
#[ignore = "leaks; another test runs it"]
fn leaks_a_buffer() {
    let buffer = Setup::new().buffer(64, 0);
    std::mem::forget(buffer);
}

/// Runs the test that leaks with a value of `METALWORKS_LEAKS`; returns its status and its errors.
fn leaking(value: &str) -> (Option<i32>, String) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(&program);
    command.args(["metal::tests::leaks_a_buffer", "--exact", "--ignored"]).env("METALWORKS_LEAKS", value);
    let output = command.output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn leaks_are_listed_at_the_end() {
    let (status, errors) = leaking("1");
    assert!(status == Some(0) && errors.contains("leak: 1 of MTLDebugBuffer"), "{errors}");
    assert!(!errors.contains("MTLDebugDevice") && !errors.contains("MTLDebugCommandQueue"), "{errors}");
    let (status, errors) = leaking("fail");
    assert!(status == Some(86) && errors.contains("leak: 1 of MTLDebugBuffer"), "{status:?} {errors}");
    let (status, errors) = leaking("fail:NSData,MTLDebugBuffer");
    assert!(status == Some(0) && !errors.contains("leak"), "{status:?} {errors}");
}

#[test]
fn messages_are_listed_at_the_end() {
    let file = std::env::temp_dir().join(format!("framework-messages-{}", std::process::id()));
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(&program);
    command.args(["metal::tests::leaks_a_buffer", "--exact", "--ignored"]).env("METALWORKS_MESSAGES", &file);
    assert!(command.output().expect("it runs").status.success());
    let text = std::fs::read_to_string(&file).expect("the list");
    std::fs::remove_file(&file).expect("it can be removed");
    let sent: Vec<&str> = text.lines().filter(|line| line.contains("MTLDebugDevice")).collect();
    assert_eq!(sent, ["-[MTLDebugDevice newBufferWithLength:options:]", "-[MTLDebugDevice newCommandQueue]"]);
}
