//! The loaded code of a kernel, for all its dispatches.

use super::context::{Context, Module};
use super::device::{Device, driver_version};
use super::driver::{Raw, function_attribute, jit};
use super::launch::{EntryKind, Signature};
use crate::backend::{self, Device as _};
use crate::error::{Error, Result};
use abi::{SimtKernel, SimtParameter, Threadgroups};
use std::ffi::{CString, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// Makes the code for threadgroups of any size, when a dispatch needs it.
pub(super) type LaterKernel = Box<dyn Fn() -> Result<Option<SimtKernel>> + Send + Sync>;

/// A kernel for a GPU.
pub(super) struct Pipeline {
    whole: Option<Code>,
    any: OnceLock<Result<Code>>,
    later: Option<(LaterKernel, Arc<Context>)>,
    most_shared: usize,
    static_threadgroup_memory: usize,
    max_total_threads: usize,
}

/// Loaded code.
pub(super) struct Code {
    /// Owns the functions.
    _module: Module,
    addresses: Raw,
    values: Option<Raw>,
    pub(super) signature: Signature,
    /// True if it waits by itself for the kernels that it depends on, and lets later ones start early.
    pub(super) waits: bool,
    /// Buffers that it reads before it waits.
    pub(super) early: Vec<u32>,
    /// Messages of the failures that its threads can report.
    pub(super) failures: Arc<[String]>,
    max_threads: usize,
    /// Its threadgroups have a multiple of so many threads.
    thread_multiple: usize,
    size: usize,
}

// SAFETY: functions belong to their module, which any thread may use.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    fn load(context: &Arc<Context>, kernel: &SimtKernel, most_shared: usize) -> Result<Code> {
        let module = load(context, kernel)?;
        let addresses = function(context, &module, &kernel.name, &kernel.entry)?;
        let values = kernel.bytes_entry.as_deref();
        let values = values.map(|entry| function(context, &module, &kernel.name, entry)).transpose()?;
        let has_arguments =
            kernel.parameters.iter().any(|parameter| matches!(parameter, SimtParameter::Threadgroup { .. }));
        let mut max_threads = usize::MAX;
        for raw in [Some(addresses), values].into_iter().flatten() {
            let function = LoadedFunction { context, raw, kernel: &kernel.name };
            max_threads = max_threads.min(function.attribute(function_attribute::MAX_THREADS_PER_BLOCK)?);
            if has_arguments {
                let own = function.attribute(function_attribute::SHARED_SIZE_BYTES)?;
                function.allow_shared(most_shared.saturating_sub(own))?;
            }
        }
        let max_threads = kernel.max_threads.map_or(max_threads, |own| max_threads.min(own as usize));
        let signature = Signature {
            addresses: kernel.parameters.clone(),
            values: values.map(|_| kernel.bytes_parameters.clone()),
            threadgroup_variables: kernel.static_threadgroup_memory,
        };
        Ok(Code {
            _module: module,
            addresses,
            values,
            signature,
            waits: kernel.waits,
            early: kernel.early.clone(),
            failures: kernel.failures.as_slice().into(),
            max_threads,
            thread_multiple: kernel.thread_multiple as usize,
            size: kernel.ptx.len(),
        })
    }

    /// The function of an entry.
    pub(super) fn function(&self, entry: EntryKind) -> Raw {
        match entry {
            EntryKind::Addresses => self.addresses,
            EntryKind::Values => self.values.unwrap_or(self.addresses),
        }
    }
}

/// Bytes for each of the driver's messages.
const LOG: usize = 16 << 10;

/// Compiles PTX with the driver, which keeps the result in its own cache.
fn load(context: &Arc<Context>, kernel: &SimtKernel) -> Result<Module> {
    let api = context.current()?;
    let ptx = CString::new(kernel.ptx.as_str())
        .map_err(|_| Error::Library(format!("kernel '{}': PTX with a zero byte", kernel.name)))?;
    let (mut errors, mut notes) = (vec![0u8; LOG], vec![0u8; LOG]);
    let mut options = [
        jit::ERROR_LOG_BUFFER,
        jit::ERROR_LOG_BUFFER_SIZE_BYTES,
        jit::INFO_LOG_BUFFER,
        jit::INFO_LOG_BUFFER_SIZE_BYTES,
    ];
    // Sizes are passed as pointers.
    let size = std::ptr::without_provenance_mut::<c_void>(LOG);
    let mut values = [errors.as_mut_ptr().cast::<c_void>(), size, notes.as_mut_ptr().cast::<c_void>(), size];
    let mut raw = null_mut();
    // SAFETY: the text ends with a 0, and the logs live during the call and have the given sizes.
    let code = unsafe {
        (api.cuModuleLoadDataEx)(
            &mut raw,
            ptx.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    context.check(code, || {
        let said = said(&errors);
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        format!("kernel '{}' cannot be loaded by the driver, for {}{said}", kernel.name, driver_version(api))
    })?;
    // SAFETY: the module was just loaded.
    Ok(unsafe { Module::from_raw(context.clone(), raw) })
}

/// The text of a log, in one line.
fn said(log: &[u8]) -> String {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn function(context: &Arc<Context>, module: &Module, kernel: &str, entry: &str) -> Result<Raw> {
    let api = context.current()?;
    let no_entry = || format!("kernel '{kernel}' has no entry '{entry}'");
    let name = CString::new(entry).map_err(|_| Error::Library(no_entry()))?;
    let mut raw = null_mut();
    // SAFETY: the name ends with a 0.
    context.check(unsafe { (api.cuModuleGetFunction)(&mut raw, module.raw(), name.as_ptr()) }, no_entry)?;
    Ok(raw)
}

struct LoadedFunction<'a> {
    context: &'a Context,
    raw: Raw,
    kernel: &'a str,
}

impl LoadedFunction<'_> {
    fn attribute(&self, attribute: c_int) -> Result<usize> {
        let (api, mut value) = (self.context.current()?, 0);
        // SAFETY: the function's module is loaded.
        let code = unsafe { (api.cuFuncGetAttribute)(&mut value, attribute, self.raw) };
        self.context.check(code, || format!("kernel '{}': the attribute {attribute} is unknown", self.kernel))?;
        Ok(usize::try_from(value).unwrap_or(0))
    }

    /// Allows dynamic shared memory beyond the usual 48 KiB.
    fn allow_shared(&self, bytes: usize) -> Result<()> {
        let api = self.context.current()?;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function's module is loaded.
        let code =
            unsafe { (api.cuFuncSetAttribute)(self.raw, function_attribute::MAX_DYNAMIC_SHARED_SIZE_BYTES, value) };
        self.context.check(code, || format!("kernel '{}': no {bytes} bytes of threadgroup memory", self.kernel))
    }
}

impl Pipeline {
    /// Loads the variants of one kernel, at least one. `later` makes the code for threadgroups of any size.
    pub(super) fn new(device: &Device, kernels: &[SimtKernel], later: Option<LaterKernel>) -> Result<Pipeline> {
        let Some(first) = kernels.first() else {
            return Err(Error::Library("a compiled kernel without code".into()));
        };
        let most_shared = device.properties().limits.max_threadgroup_memory_length;
        let context = &device.open()?.context;
        let load = |threadgroups: Threadgroups| {
            let kernel = kernels.iter().find(|kernel| kernel.threadgroups == threadgroups);
            kernel.map(|kernel| Code::load(context, kernel, most_shared)).transpose()
        };
        let (whole, any) = (load(Threadgroups::Whole)?, load(Threadgroups::Any)?);
        let most = [&whole, &any].into_iter().flatten().map(|code| code.max_threads).min();
        Ok(Pipeline {
            whole,
            any: any.map_or_else(OnceLock::new, |code| OnceLock::from(Ok(code))),
            later: later.map(|later| (later, context.clone())),
            most_shared,
            static_threadgroup_memory: first.static_threadgroup_memory as usize,
            max_total_threads: most.unwrap_or(0),
        })
    }

    /// The code for some threadgroups, of so many threads.
    pub(super) fn code(&self, threadgroups: Threadgroups, threads: usize) -> Result<&Code> {
        match (threadgroups, &self.whole) {
            (Threadgroups::Whole, Some(code)) if threads.is_multiple_of(code.thread_multiple) => Ok(code),
            // Code for any threadgroups is right for whole ones.
            _ => self.any.get_or_init(|| self.make_any()).as_ref().map_err(Clone::clone),
        }
    }

    fn make_any(&self) -> Result<Code> {
        let missing = || Error::Library("the kernel was not compiled for threadgroups of any size".into());
        let (later, context) = self.later.as_ref().ok_or_else(missing)?;
        Code::load(context, &later()?.ok_or_else(missing)?, self.most_shared)
    }
}

impl backend::Pipeline for Pipeline {
    fn thread_execution_width(&self) -> usize {
        abi::LANES
    }

    fn max_total_threads(&self) -> usize {
        self.max_total_threads
    }

    fn static_threadgroup_memory(&self) -> usize {
        self.static_threadgroup_memory
    }

    fn code_size(&self) -> usize {
        let any = self.any.get().and_then(|code| code.as_ref().ok());
        [self.whole.as_ref(), any].into_iter().flatten().map(|code| code.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn logs_become_one_line() {
        assert_eq!(said(b"ptxas error :\n  line 3; bad\0junk"), "ptxas error : line 3; bad");
        assert_eq!(said(&[0; 4]), "");
    }
}
