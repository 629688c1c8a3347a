//! The functions of NVIDIA's driver (`libcuda.so.1`) that are used, loaded at run time.
//!
//! The names are those of `cuda.h`, with the versions of CUDA 12.0, which newer drivers keep. Result codes are plain
//! numbers: a newer driver may return codes that no list has.

use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

/// `CUresult`; 0 is success.
pub(super) type Code = c_uint;

/// `CUdeviceptr`.
pub(super) type DevicePointer = c_ulonglong;

/// `CUcontext`, `CUstream` and the other handles.
pub(super) type Raw = *mut c_void;

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
pub(super) struct KernelNodeParams {
    pub(super) function: Raw,
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) shared_bytes: c_uint,
    pub(super) parameters: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
    pub(super) kernel: Raw,
    pub(super) context: Raw,
}

/// `CUgraphEdgeData`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct EdgeData {
    pub(super) from_port: u8,
    pub(super) to_port: u8,
    pub(super) kind: u8,
    pub(super) reserved: [u8; 5],
}

/// The dependent kernel is launched early, and waits for the other itself: `CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC`,
/// `CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC`.
pub(super) const PROGRAMMATIC_EDGE: EdgeData = EdgeData { from_port: 1, to_port: 0, kind: 1, reserved: [0; 5] };

/// `cuGraphAddDependencies_v2`, from CUDA 12.3 on.
pub(super) type AddDependencies = unsafe extern "C" fn(Raw, *const Raw, *const Raw, *const EdgeData, usize) -> Code;

/// Codes that are handled by name.
pub(super) mod code {
    use super::Code;

    pub(in super::super) const OUT_OF_MEMORY: Code = 2;
    pub(in super::super) const NO_DEVICE: Code = 100;
    pub(in super::super) const NOT_READY: Code = 600;
}

/// `CUdevice_attribute`.
pub(super) mod attribute {
    use super::c_int;

    pub(in super::super) const MAX_BLOCK_DIM_X: c_int = 2;
    pub(in super::super) const MAX_BLOCK_DIM_Y: c_int = 3;
    pub(in super::super) const MAX_BLOCK_DIM_Z: c_int = 4;
    pub(in super::super) const MULTIPROCESSOR_COUNT: c_int = 16;
    pub(in super::super) const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    pub(in super::super) const COMPUTE_CAPABILITY_MINOR: c_int = 76;
    pub(in super::super) const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
}

/// `CUfunction_attribute`.
pub(super) mod function_attribute {
    use super::c_int;

    pub(in super::super) const MAX_THREADS_PER_BLOCK: c_int = 0;
    pub(in super::super) const SHARED_SIZE_BYTES: c_int = 1;
    pub(in super::super) const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
}

/// `CUjit_option`.
pub(super) mod jit {
    use super::c_uint;

    pub(in super::super) const INFO_LOG_BUFFER: c_uint = 3;
    pub(in super::super) const INFO_LOG_BUFFER_SIZE_BYTES: c_uint = 4;
    pub(in super::super) const ERROR_LOG_BUFFER: c_uint = 5;
    pub(in super::super) const ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;
}

/// `CU_STREAM_NON_BLOCKING`: no order with the default stream.
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_BLOCKING_SYNC`: a waiting thread sleeps.
pub(super) const EVENT_BLOCKING_SYNC: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
pub(super) const EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for all contexts. Such memory is mapped for the device, too.
pub(super) const HOST_ALLOC_PORTABLE: c_uint = 1;

/// Declares the functions: name, and types of the arguments.
macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// The driver's functions.
        #[allow(non_snake_case, reason = "the names of cuda.h")]
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> Code,)*
            /// `None` in older drivers.
            pub(super) add_dependencies: Option<AddDependencies>,
            /// Keeps the functions loaded.
            _library: Library,
        }

        impl Api {
            fn of(library: Library) -> std::result::Result<Api, libloading::Error> {
                // SAFETY: the types are those of cuda.h, and the library is kept as long as the functions.
                unsafe {
                    Ok(Api {
                        $($name: *library.get(concat!(stringify!($name), "\0"))?,)*
                        add_dependencies: library.get("cuGraphAddDependencies_v2\0").ok().map(|found| *found),
                        _library: library,
                    })
                }
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(Code, *mut *const c_char);
    cuGetErrorString(Code, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut c_int, c_int);
    cuDeviceGetName(*mut c_char, c_int, c_int);
    cuDeviceGetAttribute(*mut c_int, c_int, c_int);
    cuDeviceTotalMem_v2(*mut usize, c_int);
    cuDevicePrimaryCtxRetain(*mut Raw, c_int);
    cuCtxSetCurrent(Raw);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut DevicePointer, usize);
    cuMemFree_v2(DevicePointer);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoDAsync_v2(DevicePointer, *const c_void, usize, Raw);
    cuMemcpyDtoHAsync_v2(*mut c_void, DevicePointer, usize, Raw);
    cuMemcpyDtoDAsync_v2(DevicePointer, DevicePointer, usize, Raw);
    cuMemsetD8Async(DevicePointer, u8, usize, Raw);
    cuStreamCreate(*mut Raw, c_uint);
    cuStreamDestroy_v2(Raw);
    cuStreamSynchronize(Raw);
    cuStreamWaitEvent(Raw, Raw, c_uint);
    cuEventCreate(*mut Raw, c_uint);
    cuEventDestroy_v2(Raw);
    cuEventRecord(Raw, Raw);
    cuEventQuery(Raw);
    cuEventSynchronize(Raw);
    cuEventElapsedTime(*mut f32, Raw, Raw);
    cuModuleLoadDataEx(*mut Raw, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleUnload(Raw);
    cuModuleGetFunction(*mut Raw, Raw, *const c_char);
    cuFuncGetAttribute(*mut c_int, c_int, Raw);
    cuFuncSetAttribute(Raw, c_int, c_int);
    cuLaunchKernel(
        Raw, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Raw, *mut *mut c_void, *mut *mut c_void
    );
    cuGraphCreate(*mut Raw, c_uint);
    cuGraphDestroy(Raw);
    cuGraphAddKernelNode_v2(*mut Raw, Raw, *const Raw, usize, *const KernelNodeParams);
    cuGraphAddEmptyNode(*mut Raw, Raw, *const Raw, usize);
    cuGraphAddEventRecordNode(*mut Raw, Raw, *const Raw, usize, Raw);
    cuGraphInstantiateWithFlags(*mut Raw, Raw, c_ulonglong);
    cuGraphExecDestroy(Raw);
    cuGraphLaunch(Raw, Raw);
}

/// The oldest driver that has all functions: CUDA 12.0.
const OLDEST: c_int = 12_000;

/// The name of the driver's library.
const LIBRARY: &str = "libcuda.so.1";

impl Api {
    /// The loaded and initialized driver, or the reason why there is none.
    pub(super) fn get() -> std::result::Result<&'static Api, String> {
        static API: OnceLock<std::result::Result<Api, String>> = OnceLock::new();
        API.get_or_init(|| Api::load(LIBRARY)).as_ref().map_err(Clone::clone)
    }

    fn load(name: &str) -> std::result::Result<Api, String> {
        // SAFETY: the initializers of NVIDIA's driver may run in any program.
        let library = unsafe { Library::new(name) }.map_err(|_| {
            format!("NVIDIA's driver is missing ({name}); install it, and check it with nvidia-smi")
        })?;
        // SAFETY: the type is that of cuda.h, which has not changed since the first version.
        let version = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> Code>("cuDriverGetVersion\0") };
        let mut number = 0;
        match version {
            // SAFETY: it writes to the number.
            Ok(version) if unsafe { version(&mut number) } == 0 => {}
            _ => return Err(format!("{name} is not NVIDIA's driver: it has no version")),
        }
        if number < OLDEST {
            return Err(old_driver(number));
        }
        let api = Api::of(library).map_err(|error| format!("NVIDIA's driver lacks a function: {error}"))?;
        // SAFETY: the argument must be 0.
        match unsafe { (api.cuInit)(0) } {
            0 | code::NO_DEVICE => Ok(api),
            code => Err(format!("NVIDIA's driver does not start: {}; nvidia-smi may say more", api.describe(code))),
        }
    }

    /// The version of the driver's API: 12040 for 12.4.
    pub(super) fn version(&self) -> c_int {
        let mut version = 0;
        // SAFETY: it writes to the number.
        unsafe { (self.cuDriverGetVersion)(&mut version) };
        version
    }

    /// The driver's description of a code.
    pub(super) fn describe(&self, code: Code) -> String {
        let text = |get: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
            let mut text = std::ptr::null();
            // SAFETY: it writes a pointer to a constant, or null.
            unsafe {
                get(code, &mut text);
                (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        match (text(self.cuGetErrorName), text(self.cuGetErrorString)) {
            (Some(name), Some(text)) => format!("{text} ({name})"),
            (Some(name), None) => name,
            (None, _) => format!("error {code}"),
        }
    }

    /// Converts a code; `what` is the failed operation.
    pub(super) fn check(&self, code: Code, what: impl FnOnce() -> String) -> Result<()> {
        match code {
            0 => Ok(()),
            code => Err(self.error(code, what())),
        }
    }

    pub(super) fn error(&self, code: Code, what: String) -> Error {
        Error::Driver { what, domain: "CUDA".into(), code: code.into(), description: self.describe(code) }
    }
}

fn old_driver(version: c_int) -> String {
    let name = |version: c_int| format!("{}.{}", version / 1000, version % 1000 / 10);
    format!("NVIDIA's driver is for CUDA {}: install one for {} or newer", name(version), name(OLDEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_driver_is_named() {
        let problem = Api::load("libcuda-of-no-machine.so.1").err().expect("there is none");
        assert!(problem.contains("libcuda-of-no-machine.so.1") && problem.contains("nvidia-smi"), "{problem}");
    }

    #[test]
    fn another_library_is_refused() {
        let problem = Api::load("libc.so.6").err().expect("it is another library");
        assert_eq!(problem, "libc.so.6 is not NVIDIA's driver: it has no version");
    }

    #[test]
    fn old_drivers_are_refused_with_both_versions() {
        assert_eq!(old_driver(11_080), "NVIDIA's driver is for CUDA 11.8: install one for 12.0 or newer");
    }

    /// By the layout of cuda.h on 64-bit machines.
    #[test]
    fn parameters_of_nodes_have_the_drivers_layout() {
        assert_eq!(size_of::<KernelNodeParams>(), 72);
        assert_eq!(std::mem::offset_of!(KernelNodeParams, parameters), 40);
        assert_eq!(std::mem::offset_of!(KernelNodeParams, context), 64);
        assert_eq!((size_of::<EdgeData>(), align_of::<EdgeData>()), (8, 1));
    }
}
