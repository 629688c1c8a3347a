//! Metal as other programs use it: through its bindings, without the back end. On a Mac, and over the framework for Linux.
#![cfg(metal)]

use block2::RcBlock;
use dispatch2::{DispatchData, DispatchQueue};
use objc2::rc::{Retained, Weak, autoreleasepool};
use objc2::runtime::{NSObject, NSObjectProtocol, ProtocolObject};
use objc2::{AnyThread, DefinedClass, Message, define_class, msg_send};
use objc2_foundation::{NSArray, NSDictionary, NSError, NSString, NSURL};
use objc2_metal::{
    MTLBarrierScope, MTLBlitCommandEncoder, MTLBuffer, MTLCommandBuffer, MTLCommandBufferStatus, MTLCommandEncoder,
    MTLCommandQueue, MTLCompileOptions, MTLComputeCommandEncoder, MTLComputePipelineState, MTLCopyAllDevices,
    MTLCreateSystemDefaultDevice, MTLDataType, MTLDevice, MTLDispatchType, MTLFunction, MTLFunctionConstantValues,
    MTLFunctionType, MTLLibrary, MTLPipelineOption, MTLResource, MTLResourceOptions, MTLSize, MTLStorageMode,
};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::mpsc;

type Device = ProtocolObject<dyn MTLDevice>;
type Buffer = ProtocolObject<dyn MTLBuffer>;
type Pipeline = ProtocolObject<dyn MTLComputePipelineState>;

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant uint STEP [[function_constant(3)]];
    struct Params { uint n; float4 scale; };
    kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2.0f; }
    kernel void add(device float *x [[buffer(0)]], constant Params &p [[buffer(1)]],
                    threadgroup float *tile [[threadgroup(0)]],
                    uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
        tile[t] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x[i] = tile[t] + STEP * p.scale.y * p.n;
    }";

fn device() -> Retained<Device> {
    MTLCreateSystemDefaultDevice().expect("there is a device")
}

fn library(device: &Device) -> Retained<ProtocolObject<dyn MTLLibrary>> {
    let library = device.newLibraryWithSource_options_error(&NSString::from_str(SOURCE), None);
    library.unwrap_or_else(|error| panic!("{error}"))
}

fn twice(device: &Device) -> Retained<Pipeline> {
    let function = library(device).newFunctionWithName(&NSString::from_str("twice")).expect("it is there");
    device.newComputePipelineStateWithFunction_error(&function).unwrap_or_else(|error| panic!("{error}"))
}

fn buffer(device: &Device, numbers: &[f32]) -> Retained<Buffer> {
    let bytes = NonNull::from(numbers).cast();
    // SAFETY: the bytes are copied.
    let buffer = unsafe {
        device.newBufferWithBytes_length_options(bytes, size_of_val(numbers), MTLResourceOptions::StorageModeShared)
    };
    buffer.expect("memory")
}

fn numbers(buffer: &Buffer) -> Vec<f32> {
    let contents = buffer.contents().cast::<f32>();
    // SAFETY: the buffer is shared, and no command buffer uses it.
    unsafe { std::slice::from_raw_parts(contents.as_ptr(), buffer.length() / 4) }.to_vec()
}

fn linear(width: usize) -> MTLSize {
    MTLSize { width, height: 1, depth: 1 }
}

fn encode_twice(commands: &ProtocolObject<dyn MTLCommandBuffer>, pipeline: &Pipeline, buffer: &Buffer) {
    let encoder = commands.computeCommandEncoder().expect("an encoder");
    encoder.setComputePipelineState(pipeline);
    // SAFETY: the kernel has this argument.
    unsafe { encoder.setBuffer_offset_atIndex(Some(buffer), 0, 0) };
    encoder.dispatchThreads_threadsPerThreadgroup(linear(buffer.length() / 4), linear(32));
    encoder.endEncoding();
}

#[test]
fn a_kernel_runs_and_its_handler_is_called() {
    autoreleasepool(|_| {
        let device = device();
        assert!(MTLCopyAllDevices().to_vec().iter().any(|other| other.registryID() == device.registryID()));
        assert!(!device.name().is_empty() && device.maxThreadsPerThreadgroup().width >= 512);
        let (queue, pipeline) = (device.newCommandQueue().expect("a queue"), twice(&device));
        assert_eq!(pipeline.threadExecutionWidth(), 32);
        let buffer = buffer(&device, &[1.0, 2.0, 3.0, 4.5]);
        buffer.setLabel(Some(&NSString::from_str("numbers")));
        assert_eq!(buffer.label().expect("it was set").to_string(), "numbers");
        let commands = queue.commandBuffer().expect("a command buffer");
        assert_eq!(commands.status(), MTLCommandBufferStatus::NotEnqueued);
        encode_twice(&commands, &pipeline, &buffer);
        let (sender, done) = mpsc::channel();
        let handler = RcBlock::new(move |commands: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
            // SAFETY: Metal passes the command buffer.
            let commands = unsafe { commands.as_ref() };
            let times = (commands.GPUStartTime(), commands.GPUEndTime());
            sender.send((commands.status(), commands.error().is_none(), times)).expect("somebody listens");
        });
        // SAFETY: the block is valid, and its contents are `Send`.
        unsafe { commands.addCompletedHandler(RcBlock::as_ptr(&handler)) };
        drop(handler);
        commands.commit();
        commands.waitUntilCompleted();
        let (status, is_fine, (start, end)) = done.recv().expect("it is called");
        assert_eq!((status, is_fine), (MTLCommandBufferStatus::Completed, true));
        assert!(0.0 < start && start <= end, "{start} {end}");
        assert_eq!(numbers(&buffer), [2.0, 4.0, 6.0, 9.0]);
        drop(commands);
        assert!(done.recv().is_err(), "the block is released");
    });
}

#[test]
fn constants_bytes_and_threadgroup_memory_reach_a_kernel() {
    autoreleasepool(|_| {
        let (device, name) = (device(), NSString::from_str("add"));
        let library = library(&device);
        let general = library.newFunctionWithName(&name).expect("it is there");
        assert_eq!(general.functionType(), MTLFunctionType::Kernel);
        let constants = general.functionConstantsDictionary();
        let constant = constants.objectForKey(&NSString::from_str("STEP")).expect("it is listed");
        assert_eq!((constant.index(), constant.r#type()), (3, MTLDataType::UInt));
        let values = MTLFunctionConstantValues::new();
        let mut step = 10u32;
        // SAFETY: a number of the type.
        unsafe { values.setConstantValue_type_atIndex(NonNull::from(&mut step).cast(), MTLDataType::UInt, 3) };
        let function = library.newFunctionWithName_constantValues_error(&name, &values).expect("it is specialized");
        let mut reflection = None;
        let options = MTLPipelineOption::BindingInfo | MTLPipelineOption::BufferTypeInfo;
        // SAFETY: the place for the reflection is valid.
        let made = unsafe {
            device.newComputePipelineStateWithFunction_options_reflection_error(
                &function,
                options,
                Some(&mut reflection),
            )
        };
        let pipeline = made.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reflection.expect("it was asked for").bindings().count(), 3);
        let buffer = buffer(&device, &[1.0; 100]);
        let commands = device.newCommandQueue().and_then(|queue| queue.commandBuffer()).expect("a command buffer");
        let dispatch_type = MTLDispatchType::Concurrent;
        let encoder = commands.computeCommandEncoderWithDispatchType(dispatch_type).expect("an encoder");
        encoder.setComputePipelineState(&pipeline);
        let params: [f32; 8] = [f32::from_bits(3), 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0];
        // SAFETY: the kernel has these arguments.
        unsafe {
            encoder.setBuffer_offset_atIndex(Some(&buffer), 0, 0);
            encoder.setBytes_length_atIndex(NonNull::from(&params).cast(), size_of_val(&params), 1);
            encoder.setThreadgroupMemoryLength_atIndex(128, 0);
        }
        for _ in 0..2 {
            encoder.dispatchThreads_threadsPerThreadgroup(linear(100), linear(32));
            encoder.memoryBarrierWithScope(MTLBarrierScope::Buffers);
        }
        encoder.endEncoding();
        commands.commit();
        commands.waitUntilCompleted();
        assert_eq!(numbers(&buffer), [31.0; 100]);
    });
}

#[test]
fn errors_say_what_is_wrong() {
    autoreleasepool(|_| {
        let device = device();
        let options = MTLCompileOptions::new();
        let names = [&*NSString::from_str("NAME")];
        let values = [Retained::into_super(NSString::from_str("unknown_name"))];
        let macros: Retained<NSDictionary<NSString, NSObject>> =
            NSDictionary::from_retained_objects(&names, &values);
        // SAFETY: the values are strings.
        unsafe { options.setPreprocessorMacros(Some(&macros)) };
        let source = NSString::from_str("kernel void k(device int *x [[buffer(0)]]) { *x = NAME; }");
        let error = device.newLibraryWithSource_options_error(&source, Some(&options)).expect_err("a mistake");
        assert!(error.localizedDescription().to_string().contains("unknown_name"), "{error}");
        assert_eq!(error.domain().to_string(), "MTLLibraryErrorDomain");
        let error =
            device.newLibraryWithData_error(&DispatchData::from_bytes(b"no library")).expect_err("no library");
        assert!(!error.localizedDescription().is_empty());
        let url = NSURL::fileURLWithPath(&NSString::from_str("/no/such/file.metallib"));
        assert!(device.newLibraryWithURL_error(&url).is_err());
        assert!(library(&device).newFunctionWithName(&NSString::from_str("none")).is_none());
        let own = NSError::new(7, &NSString::from_str("Domain"));
        assert_eq!((own.code(), own.domain().to_string()), (7, "Domain".into()));
    });
}

#[test]
fn private_memory_is_copied_and_filled() {
    autoreleasepool(|_| {
        let device = device();
        let (queue, pipeline) = (device.newCommandQueue().expect("a queue"), twice(&device));
        let shared = buffer(&device, &[1.5; 64]);
        let private =
            device.newBufferWithLength_options(256, MTLResourceOptions::StorageModePrivate).expect("memory");
        assert_eq!((private.storageMode(), private.length()), (MTLStorageMode::Private, 256));
        let commands = queue.commandBuffer().expect("a command buffer");
        let copy = |from: &Buffer, to: &Buffer| {
            let encoder = commands.blitCommandEncoder().expect("an encoder");
            // SAFETY: the ranges are inside.
            unsafe {
                encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(from, 0, to, 0, 128);
            }
            encoder.endEncoding();
        };
        copy(&shared, &private);
        encode_twice(&commands, &pipeline, &private);
        copy(&private, &shared);
        commands.commit();
        commands.waitUntilCompleted();
        let numbers = numbers(&shared);
        assert_eq!((&numbers[..32], &numbers[32..]), (&[3.0; 32][..], &[1.5; 32][..]));
    });
}

struct Counted {
    count: Cell<usize>,
    dropped: mpsc::Sender<usize>,
}

define_class!(
    #[unsafe(super(NSObject))]
    #[name = "MetalworksTestCounter"]
    #[ivars = Counted]
    struct Counter;

    unsafe impl NSObjectProtocol for Counter {}

    impl Counter {
        #[unsafe(method(add:))]
        fn add(&self, number: usize) -> usize {
            let count = self.ivars().count.get() + number;
            self.ivars().count.set(count);
            count
        }
    }
);

impl Drop for Counted {
    fn drop(&mut self) {
        self.dropped.send(self.count.get()).expect("somebody listens");
    }
}

#[test]
fn programs_define_classes() {
    let (dropped, receiver) = mpsc::channel();
    autoreleasepool(|_| {
        let counter = Counter::alloc().set_ivars(Counted { count: Cell::new(40), dropped });
        // SAFETY: the initializer of the superclass.
        let counter: Retained<Counter> = unsafe { msg_send![super(counter), init] };
        let weak = Weak::from_retained(&counter);
        // SAFETY: the method takes and returns a number.
        let count: usize = unsafe { msg_send![&counter, add: 2usize] };
        assert_eq!(count, 42);
        let array = NSArray::from_slice(&[&*counter, &*counter.retain()]);
        drop(counter);
        assert_eq!(array.iter().filter(|item| item.respondsToSelector(objc2::sel!(add:))).count(), 2);
        assert!(weak.load().is_some());
        drop(array);
        assert!(weak.load().is_none());
    });
    assert_eq!(receiver.recv(), Ok(42));
}

#[test]
fn dispatch_queues_run_blocks() {
    let (sender, receiver) = mpsc::channel();
    let queue = DispatchQueue::new("metalworks.test", None);
    for number in 0..10 {
        let sender = sender.clone();
        queue.exec_async(move || sender.send(number).expect("somebody listens"));
    }
    drop(sender);
    assert_eq!(receiver.iter().collect::<Vec<i32>>(), (0..10).collect::<Vec<i32>>());
}
