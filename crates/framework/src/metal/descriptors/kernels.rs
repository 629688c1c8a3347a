//! Descriptors of libraries, functions and pipeline states.

use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::{Copied, Fields, Id, Size3, Strong};
use std::ffi::c_void;

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
    required_threads: Size3,
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
            required_threads: Size3::default(),
            logging: false,
        }
    }
}

class! {
    COMPILE_OPTIONS = "MTLCompileOptions": NS_OBJECT, default Fields<CompileOptions>, ["NSCopying"]
    properties {
        "preprocessorMacros" "setPreprocessorMacros:" macros: Copied,
        "fastMathEnabled" "setFastMathEnabled:" fast_math: bool,
        "mathMode" "setMathMode:" math_mode: isize,
        "mathFloatingPointFunctions" "setMathFloatingPointFunctions:" math_functions: isize,
        "languageVersion" "setLanguageVersion:" version: usize,
        "libraries" "setLibraries:" libraries: Copied,
        "libraryType" "setLibraryType:" library_type: isize,
        "installName" "setInstallName:" install_name: Copied,
        "preserveInvariance" "setPreserveInvariance:" preserve_invariance: bool,
        "optimizationLevel" "setOptimizationLevel:" optimization: isize,
        "compileSymbolVisibility" "setCompileSymbolVisibility:" visibility: isize,
        "allowReferencingUndefinedSymbols" "setAllowReferencingUndefinedSymbols:" undefined_symbols: bool,
        "maxTotalThreadsPerThreadgroup" "setMaxTotalThreadsPerThreadgroup:" max_threads: usize,
        "requiredThreadsPerThreadgroup" "setRequiredThreadsPerThreadgroup:" required_threads: Size3,
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
        "name" "setName:" name: Copied,
        "specializedName" "setSpecializedName:" specialized_name: Copied,
        "constantValues" "setConstantValues:" constants: Copied,
        "options" "setOptions:" options: usize,
        "binaryArchives" "setBinaryArchives:" archives: Copied,
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
        "functions" "setFunctions:" functions: Copied,
        "binaryFunctions" "setBinaryFunctions:" binary_functions: Copied,
        "groups" "setGroups:" groups: Copied,
        "privateFunctions" "setPrivateFunctions:" private_functions: Copied,
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
        "label" "setLabel:" label: Copied,
        "computeFunction" "setComputeFunction:" function: Strong,
        "threadGroupSizeIsMultipleOfThreadExecutionWidth" "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"
            whole_simdgroups: bool,
        "maxTotalThreadsPerThreadgroup" "setMaxTotalThreadsPerThreadgroup:" max_threads: usize,
        "requiredThreadsPerThreadgroup" "setRequiredThreadsPerThreadgroup:" required_threads: Size3,
        "binaryArchives" "setBinaryArchives:" archives: Copied,
        "linkedFunctions" "setLinkedFunctions:" linked: Copied,
        "stageInputDescriptor" "setStageInputDescriptor:" stage_input: Copied,
        "supportIndirectCommandBuffers" "setSupportIndirectCommandBuffers:" indirect: bool,
        "insertLibraries" "setInsertLibraries:" insert_libraries: Copied,
        "preloadedLibraries" "setPreloadedLibraries:" preloaded_libraries: Copied,
        "supportAddingBinaryFunctions" "setSupportAddingBinaryFunctions:" adds_functions: bool,
        "maxCallStackDepth" "setMaxCallStackDepth:" call_depth: usize,
        "shaderValidation" "setShaderValidation:" validation: isize,
    }
    methods {
        - "buffers" (this) -> Id { this.lock().buffers.clone().autorelease() }
        - "reset" (this) { let _old = std::mem::take(&mut *this.lock()); }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id {
            let fields = this.lock().clone();
            let buffers = PipelineBuffers::copied(&fields.buffers);
            Strong::new(Fields::new(ComputePipelineFields { buffers, ..fields })).into_id()
        }
    }
}

/// The promises about each buffer.
#[derive(Default)]
pub(crate) struct PipelineBuffers {
    pub(crate) buffers: Vec<Strong>,
}

impl PipelineBuffers {
    fn copied(of: &Strong) -> Strong {
        let of = of.cast::<Fields<PipelineBuffers>>().map(|of| of.lock().buffers.clone()).unwrap_or_default();
        let buffers = of.iter().map(|buffer| copied(buffer.id())).collect();
        Strong::new(Fields::new(PipelineBuffers { buffers }))
    }
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
        - "setObject:atIndexedSubscript:" (this, buffer: Id, index: usize) {
            forbid!(HERE, index >= 31, (), "bufferIndex({index}) must be < 31.");
            let fields = buffer.cast::<Fields<PipelineBuffer>>().map(|fields| fields.lock().clone()).unwrap_or_default();
            let buffers = &mut this.lock().buffers;
            while buffers.len() <= index {
                buffers.push(Strong::new(Fields::<PipelineBuffer>::default()));
            }
            let _old = std::mem::replace(&mut buffers[index], Strong::new(Fields::new(fields)));
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
        "url" "setUrl:" url: Copied,
    }
    methods {
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { copy!(this) }
    }
}
