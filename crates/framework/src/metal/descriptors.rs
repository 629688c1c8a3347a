//! Objects that have properties only.

use super::counters::{Attachments, BLIT_SAMPLE_BUFFER_ATTACHMENTS, SAMPLE_BUFFER_ATTACHMENTS};
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::{Class, Fields, Id, Object, Size3, Strong};
use std::ffi::c_void;

/// A copy with the same properties.
macro_rules! copy {
    ($this:expr) => {
        Strong::new(Fields::new($this.lock().clone())).into_id()
    };
}

#[derive(Clone)]
pub(crate) struct CompileOptions {
    pub(crate) macros: Strong,
    pub(crate) fast_math: bool,
    pub(crate) math_mode: isize,
    pub(crate) math_functions: isize,
    pub(crate) version: usize,
    libraries: Strong,
    library_type: isize,
    install_name: Strong,
    preserve_invariance: bool,
    optimization: isize,
    visibility: isize,
    undefined_symbols: bool,
    pub(crate) max_threads: usize,
    logging: bool,
}

/// `MTLMathModeFast`
pub(crate) const MATH_FAST: isize = 2;
/// `MTLMathModeRelaxed`
pub(crate) const MATH_RELAXED: isize = 1;

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            macros: Strong::default(),
            fast_math: true,
            math_mode: MATH_FAST,
            math_functions: 0,
            version: (3 << 16) + 2,
            libraries: Strong::default(),
            library_type: 0,
            install_name: Strong::default(),
            preserve_invariance: false,
            optimization: 0,
            visibility: 0,
            undefined_symbols: false,
            max_threads: 0,
            logging: false,
        }
    }
}

class! {
    COMPILE_OPTIONS = "MTLCompileOptions": NS_OBJECT, default Fields<CompileOptions>, ["NSCopying"]
    properties {
        "preprocessorMacros" "setPreprocessorMacros:" macros: Strong,
        "fastMathEnabled" "setFastMathEnabled:" fast_math: bool,
        "mathMode" "setMathMode:" math_mode: isize,
        "mathFloatingPointFunctions" "setMathFloatingPointFunctions:" math_functions: isize,
        "languageVersion" "setLanguageVersion:" version: usize,
        "libraries" "setLibraries:" libraries: Strong,
        "libraryType" "setLibraryType:" library_type: isize,
        "installName" "setInstallName:" install_name: Strong,
        "preserveInvariance" "setPreserveInvariance:" preserve_invariance: bool,
        "optimizationLevel" "setOptimizationLevel:" optimization: isize,
        "compileSymbolVisibility" "setCompileSymbolVisibility:" visibility: isize,
        "allowReferencingUndefinedSymbols" "setAllowReferencingUndefinedSymbols:" undefined_symbols: bool,
        "maxTotalThreadsPerThreadgroup" "setMaxTotalThreadsPerThreadgroup:" max_threads: usize,
        "enableLogging" "setEnableLogging:" logging: bool,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct FunctionDescriptor {
    pub(crate) name: Strong,
    pub(crate) specialized_name: Strong,
    pub(crate) constants: Strong,
    pub(crate) options: usize,
    archives: Strong,
}

class! {
    FUNCTION_DESCRIPTOR = "MTLFunctionDescriptor": NS_OBJECT, default Fields<FunctionDescriptor>, ["NSCopying"]
    properties {
        "name" "setName:" name: Strong,
        "specializedName" "setSpecializedName:" specialized_name: Strong,
        "constantValues" "setConstantValues:" constants: Strong,
        "options" "setOptions:" options: usize,
        "binaryArchives" "setBinaryArchives:" archives: Strong,
    }
    methods {
        + "functionDescriptor" (_class) -> Id { Strong::new(Fields::<FunctionDescriptor>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct LinkedFunctions {
    pub(crate) functions: Strong,
    binary_functions: Strong,
    groups: Strong,
    private_functions: Strong,
}

class! {
    LINKED_FUNCTIONS = "MTLLinkedFunctions": NS_OBJECT, default Fields<LinkedFunctions>, ["NSCopying"]
    properties {
        "functions" "setFunctions:" functions: Strong,
        "binaryFunctions" "setBinaryFunctions:" binary_functions: Strong,
        "groups" "setGroups:" groups: Strong,
        "privateFunctions" "setPrivateFunctions:" private_functions: Strong,
    }
    methods {
        + "linkedFunctions" (_class) -> Id { Strong::new(Fields::<LinkedFunctions>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone)]
pub(crate) struct ComputePipelineFields {
    pub(crate) label: Strong,
    pub(crate) function: Strong,
    pub(crate) whole_simdgroups: bool,
    pub(crate) max_threads: usize,
    pub(crate) required_threads: Size3,
    pub(crate) archives: Strong,
    pub(crate) linked: Strong,
    pub(crate) stage_input: Strong,
    pub(crate) buffers: Strong,
    pub(crate) indirect: bool,
    pub(crate) insert_libraries: Strong,
    pub(crate) preloaded_libraries: Strong,
    pub(crate) adds_functions: bool,
    pub(crate) call_depth: usize,
    pub(crate) validation: isize,
}

impl Default for ComputePipelineFields {
    fn default() -> ComputePipelineFields {
        ComputePipelineFields {
            label: Strong::default(),
            function: Strong::default(),
            whole_simdgroups: false,
            max_threads: 0,
            required_threads: Size3::default(),
            archives: Strong::default(),
            linked: Strong::default(),
            stage_input: Strong::default(),
            buffers: Strong::new(Fields::<PipelineBuffers>::default()),
            indirect: false,
            insert_libraries: Strong::default(),
            preloaded_libraries: Strong::default(),
            adds_functions: false,
            call_depth: 1,
            validation: 0,
        }
    }
}

class! {
    COMPUTE_PIPELINE_DESCRIPTOR = "MTLComputePipelineDescriptor": NS_OBJECT, default Fields<ComputePipelineFields>,
        ["NSCopying"]
    properties {
        "label" "setLabel:" label: Strong,
        "computeFunction" "setComputeFunction:" function: Strong,
        "threadGroupSizeIsMultipleOfThreadExecutionWidth" "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"
            whole_simdgroups: bool,
        "maxTotalThreadsPerThreadgroup" "setMaxTotalThreadsPerThreadgroup:" max_threads: usize,
        "requiredThreadsPerThreadgroup" "setRequiredThreadsPerThreadgroup:" required_threads: Size3,
        "binaryArchives" "setBinaryArchives:" archives: Strong,
        "linkedFunctions" "setLinkedFunctions:" linked: Strong,
        "stageInputDescriptor" "setStageInputDescriptor:" stage_input: Strong,
        "supportIndirectCommandBuffers" "setSupportIndirectCommandBuffers:" indirect: bool,
        "insertLibraries" "setInsertLibraries:" insert_libraries: Strong,
        "preloadedLibraries" "setPreloadedLibraries:" preloaded_libraries: Strong,
        "supportAddingBinaryFunctions" "setSupportAddingBinaryFunctions:" adds_functions: bool,
        "maxCallStackDepth" "setMaxCallStackDepth:" call_depth: usize,
        "shaderValidation" "setShaderValidation:" validation: isize,
    }
    methods {
        - "buffers" (this) -> Id { this.lock().buffers.clone().autorelease() }
        - "reset" (this) { let _old = std::mem::take(&mut *this.lock()); }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

/// The promises about each buffer.
#[derive(Default)]
pub(crate) struct PipelineBuffers {
    pub(crate) buffers: Vec<Strong>,
}

class! {
    PIPELINE_BUFFER_DESCRIPTOR_ARRAY = "MTLPipelineBufferDescriptorArray": NS_OBJECT, default Fields<PipelineBuffers>, []
    methods {
        - "objectAtIndexedSubscript:" (this, index: usize) -> Id {
            forbid!(HERE, index >= 31, Id::NIL, "bufferIndex({index}) must be < 31.");
            let buffers = &mut this.lock().buffers;
            while buffers.len() <= index {
                buffers.push(Strong::new(Fields::<PipelineBuffer>::default()));
            }
            buffers[index].clone().autorelease()
        }
    }
}

#[derive(Clone, Default)]
pub(crate) struct PipelineBuffer {
    mutability: usize,
}

class! {
    PIPELINE_BUFFER_DESCRIPTOR = "MTLPipelineBufferDescriptor": NS_OBJECT, default Fields<PipelineBuffer>, ["NSCopying"]
    properties {
        "mutability" "setMutability:" mutability: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct FunctionTableFields {
    pub(crate) count: usize,
}

class! {
    VISIBLE_FUNCTION_TABLE_DESCRIPTOR = "MTLVisibleFunctionTableDescriptor": NS_OBJECT, default Fields<FunctionTableFields>,
        ["NSCopying"]
    properties {
        "functionCount" "setFunctionCount:" count: usize,
    }
    methods {
        + "visibleFunctionTableDescriptor" (_class) -> Id {
            Strong::new(Fields::<FunctionTableFields>::default()).autorelease()
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ArchiveFields {
    pub(crate) url: Strong,
}

class! {
    BINARY_ARCHIVE_DESCRIPTOR = "MTLBinaryArchiveDescriptor": NS_OBJECT, default Fields<ArchiveFields>, ["NSCopying"]
    properties {
        "url" "setUrl:" url: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone)]
pub(crate) struct QueueFields {
    pub(crate) most: usize,
    pub(crate) log_state: Strong,
}

impl Default for QueueFields {
    fn default() -> QueueFields {
        QueueFields { most: 64, log_state: Strong::default() }
    }
}

class! {
    COMMAND_QUEUE_DESCRIPTOR = "MTLCommandQueueDescriptor": NS_OBJECT, default Fields<QueueFields>, ["NSCopying"]
    properties {
        "maxCommandBufferCount" "setMaxCommandBufferCount:" most: usize,
        "logState" "setLogState:" log_state: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone)]
pub(crate) struct CommandBufferFields {
    pub(crate) retains: bool,
    pub(crate) error_options: usize,
    pub(crate) log_state: Strong,
}

impl Default for CommandBufferFields {
    fn default() -> CommandBufferFields {
        CommandBufferFields { retains: true, error_options: 0, log_state: Strong::default() }
    }
}

class! {
    COMMAND_BUFFER_DESCRIPTOR = "MTLCommandBufferDescriptor": NS_OBJECT, default Fields<CommandBufferFields>, ["NSCopying"]
    properties {
        "retainedReferences" "setRetainedReferences:" retains: bool,
        "errorOptions" "setErrorOptions:" error_options: usize,
        "logState" "setLogState:" log_state: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ComputePassFields {
    pub(crate) dispatch_type: usize,
    pub(crate) samples: Strong,
}

class! {
    COMPUTE_PASS_DESCRIPTOR = "MTLComputePassDescriptor": NS_OBJECT, default Fields<ComputePassFields>, ["NSCopying"]
    properties {
        "dispatchType" "setDispatchType:" dispatch_type: usize,
    }
    methods {
        - "sampleBufferAttachments" (this) -> Id { attachments(&mut this.lock().samples, &SAMPLE_BUFFER_ATTACHMENTS) }
        + "computePassDescriptor" (_class) -> Id { Strong::new(Fields::<ComputePassFields>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct BlitPassFields {
    pub(crate) samples: Strong,
}

/// The array of a pass for requests of samples, made on first use.
fn attachments(samples: &mut Strong, class: &'static Class) -> Id {
    if samples.id().is_nil() {
        let array = Object::<Fields<Attachments>>::allocate(class);
        *samples = Strong::owned(array.set(Fields::default()));
    }
    samples.clone().autorelease()
}

class! {
    BLIT_PASS_DESCRIPTOR = "MTLBlitPassDescriptor": NS_OBJECT, default Fields<BlitPassFields>, ["NSCopying"]
    methods {
        - "sampleBufferAttachments" (this) -> Id { attachments(&mut this.lock().samples, &BLIT_SAMPLE_BUFFER_ATTACHMENTS) }
        + "blitPassDescriptor" (_class) -> Id { Strong::new(Fields::<BlitPassFields>::default()).autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct HeapFields {
    pub(crate) size: usize,
    pub(crate) storage: usize,
    pub(crate) cache_mode: usize,
    pub(crate) hazards: usize,
    pub(crate) kind: isize,
    sparse_page: isize,
}

/// `MTLStorageModePrivate`
pub(crate) const PRIVATE: usize = 2;

class! {
    HEAP_DESCRIPTOR = "MTLHeapDescriptor": NS_OBJECT, default Fields<HeapFields>, ["NSCopying"]
    properties {
        "size" "setSize:" size: usize,
        "storageMode" "setStorageMode:" storage: usize,
        "cpuCacheMode" "setCpuCacheMode:" cache_mode: usize,
        "hazardTrackingMode" "setHazardTrackingMode:" hazards: usize,
        "type" "setType:" kind: isize,
        "sparsePageSize" "setSparsePageSize:" sparse_page: isize,
    }
    methods {
        - "init" (this) -> Id { this.set(Fields::new(HeapFields { storage: PRIVATE, ..HeapFields::default() })) }
        - "resourceOptions" (this) -> usize {
            let HeapFields { storage, cache_mode, hazards, .. } = *this.lock();
            cache_mode | storage << 4 | hazards << 8
        }
        - "setResourceOptions:" (this, options: usize) {
            let mut fields = this.lock();
            (fields.cache_mode, fields.storage, fields.hazards) = (options & 15, options >> 4 & 15, options >> 8 & 3);
        }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct ResidencyFields {
    pub(crate) label: Strong,
    capacity: usize,
}

class! {
    RESIDENCY_SET_DESCRIPTOR = "MTLResidencySetDescriptor": NS_OBJECT, default Fields<ResidencyFields>, ["NSCopying"]
    properties {
        "label" "setLabel:" label: Strong,
        "initialCapacity" "setInitialCapacity:" capacity: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct CaptureFields {
    object: Strong,
    destination: isize,
    url: Strong,
}

class! {
    CAPTURE_DESCRIPTOR = "MTLCaptureDescriptor": NS_OBJECT, default Fields<CaptureFields>, ["NSCopying"]
    properties {
        "captureObject" "setCaptureObject:" object: Strong,
        "destination" "setDestination:" destination: isize,
        "outputURL" "setOutputURL:" url: Strong,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}

#[derive(Clone, Default)]
pub(crate) struct CounterFields {
    pub(crate) set: Strong,
    pub(crate) label: Strong,
    pub(crate) storage: usize,
    pub(crate) samples: usize,
}

class! {
    COUNTER_SAMPLE_BUFFER_DESCRIPTOR = "MTLCounterSampleBufferDescriptor": NS_OBJECT, default Fields<CounterFields>,
        ["NSCopying"]
    properties {
        "counterSet" "setCounterSet:" set: Strong,
        "label" "setLabel:" label: Strong,
        "storageMode" "setStorageMode:" storage: usize,
        "sampleCount" "setSampleCount:" samples: usize,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
        - "description" (this) -> Id {
            string::new(&format!("<MTLCounterSampleBufferDescriptor: {} samples>", this.lock().samples)).autorelease()
        }
    }
}
