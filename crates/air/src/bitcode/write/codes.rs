//! Numbers of LLVM's bitcode: blocks, and the records in them. The names are LLVM's (`LLVMBitCodes.h`); they mean the
//! same in LLVM 14 and 22 unless a comment says otherwise.

/// Blocks.
pub(super) mod block {
    pub(in super::super) const INFO: u64 = 0;
    pub(in super::super) const MODULE: u64 = 8;
    pub(in super::super) const PARAMATTR: u64 = 9;
    pub(in super::super) const PARAMATTR_GROUP: u64 = 10;
    pub(in super::super) const CONSTANTS: u64 = 11;
    pub(in super::super) const FUNCTION: u64 = 12;
    pub(in super::super) const IDENTIFICATION: u64 = 13;
    pub(in super::super) const VALUE_SYMTAB: u64 = 14;
    pub(in super::super) const METADATA: u64 = 15;
    pub(in super::super) const METADATA_ATTACHMENT: u64 = 16;
    pub(in super::super) const TYPE_NEW: u64 = 17;
    pub(in super::super) const OPERAND_BUNDLE_TAGS: u64 = 21;
    pub(in super::super) const METADATA_KIND: u64 = 22;
    pub(in super::super) const STRTAB: u64 = 23;
    pub(in super::super) const SYMTAB: u64 = 25;
    pub(in super::super) const SYNC_SCOPE_NAMES: u64 = 26;
}

/// Records of the module itself.
pub(super) mod module {
    pub(in super::super) const VERSION: u64 = 1;
    pub(in super::super) const TRIPLE: u64 = 2;
    pub(in super::super) const DATALAYOUT: u64 = 3;
    pub(in super::super) const ASM: u64 = 4;
    pub(in super::super) const SECTIONNAME: u64 = 5;
    pub(in super::super) const GLOBALVAR: u64 = 7;
    pub(in super::super) const FUNCTION: u64 = 8;
    pub(in super::super) const COMDAT: u64 = 12;
    pub(in super::super) const VSTOFFSET: u64 = 13;
    pub(in super::super) const SOURCE_FILENAME: u64 = 16;
}

/// Types.
pub(super) mod types {
    pub(in super::super) const NUMENTRY: u64 = 1;
    pub(in super::super) const VOID: u64 = 2;
    pub(in super::super) const FLOAT: u64 = 3;
    pub(in super::super) const DOUBLE: u64 = 4;
    pub(in super::super) const LABEL: u64 = 5;
    pub(in super::super) const OPAQUE: u64 = 6;
    pub(in super::super) const INTEGER: u64 = 7;
    pub(in super::super) const POINTER: u64 = 8;
    pub(in super::super) const HALF: u64 = 10;
    pub(in super::super) const ARRAY: u64 = 11;
    pub(in super::super) const VECTOR: u64 = 12;
    pub(in super::super) const METADATA: u64 = 16;
    pub(in super::super) const STRUCT_ANON: u64 = 18;
    pub(in super::super) const STRUCT_NAME: u64 = 19;
    pub(in super::super) const STRUCT_NAMED: u64 = 20;
    pub(in super::super) const FUNCTION: u64 = 21;
    pub(in super::super) const TOKEN: u64 = 22;
    pub(in super::super) const BFLOAT: u64 = 23;
    pub(in super::super) const OPAQUE_POINTER: u64 = 25;
}

/// Constants.
pub(super) mod constant {
    pub(in super::super) const SETTYPE: u64 = 1;
    pub(in super::super) const NULL: u64 = 2;
    pub(in super::super) const UNDEF: u64 = 3;
    pub(in super::super) const INTEGER: u64 = 4;
    pub(in super::super) const WIDE_INTEGER: u64 = 5;
    pub(in super::super) const FLOAT: u64 = 6;
    pub(in super::super) const AGGREGATE: u64 = 7;
    pub(in super::super) const STRING: u64 = 8;
    pub(in super::super) const CSTRING: u64 = 9;
    pub(in super::super) const CE_BINOP: u64 = 10;
    pub(in super::super) const CE_CAST: u64 = 11;
    /// LLVM 14: `[type, (type, value)…]`
    pub(in super::super) const CE_GEP_14: u64 = 12;
    pub(in super::super) const CE_INBOUNDS_GEP_14: u64 = 20;
    pub(in super::super) const DATA: u64 = 22;
    pub(in super::super) const POISON: u64 = 26;
    /// LLVM 22: `[type, flags, range, (type, value)…]`
    pub(in super::super) const CE_GEP_WITH_INRANGE: u64 = 31;
    /// LLVM 22: `[type, flags, (type, value)…]`
    pub(in super::super) const CE_GEP: u64 = 32;
}

/// Metadata.
pub(super) mod metadata {
    pub(in super::super) const VALUE: u64 = 2;
    pub(in super::super) const NODE: u64 = 3;
    pub(in super::super) const NAME: u64 = 4;
    pub(in super::super) const DISTINCT_NODE: u64 = 5;
    pub(in super::super) const KIND: u64 = 6;
    pub(in super::super) const LOCATION: u64 = 7;
    pub(in super::super) const NAMED_NODE: u64 = 10;
    pub(in super::super) const ATTACHMENT: u64 = 11;
    pub(in super::super) const FILE: u64 = 16;
    pub(in super::super) const SUBROUTINE_TYPE: u64 = 19;
    pub(in super::super) const COMPILE_UNIT: u64 = 20;
    pub(in super::super) const SUBPROGRAM: u64 = 21;
    pub(in super::super) const LEXICAL_BLOCK: u64 = 22;
    pub(in super::super) const LEXICAL_BLOCK_FILE: u64 = 23;
    pub(in super::super) const NAMESPACE: u64 = 24;
    pub(in super::super) const EXPRESSION: u64 = 29;
    pub(in super::super) const STRINGS: u64 = 35;
    pub(in super::super) const GLOBAL_DECL_ATTACHMENT: u64 = 36;
    pub(in super::super) const INDEX_OFFSET: u64 = 38;
    pub(in super::super) const INDEX: u64 = 39;
}

/// Instructions.
pub(super) mod inst {
    pub(in super::super) const DECLAREBLOCKS: u64 = 1;
    pub(in super::super) const BINOP: u64 = 2;
    pub(in super::super) const CAST: u64 = 3;
    pub(in super::super) const EXTRACTELT: u64 = 6;
    pub(in super::super) const INSERTELT: u64 = 7;
    pub(in super::super) const SHUFFLEVEC: u64 = 8;
    pub(in super::super) const RET: u64 = 10;
    pub(in super::super) const BR: u64 = 11;
    pub(in super::super) const SWITCH: u64 = 12;
    pub(in super::super) const UNREACHABLE: u64 = 15;
    pub(in super::super) const PHI: u64 = 16;
    pub(in super::super) const ALLOCA: u64 = 19;
    pub(in super::super) const LOAD: u64 = 20;
    pub(in super::super) const EXTRACTVAL: u64 = 26;
    pub(in super::super) const INSERTVAL: u64 = 27;
    pub(in super::super) const CMP2: u64 = 28;
    pub(in super::super) const VSELECT: u64 = 29;
    pub(in super::super) const DEBUG_LOC_AGAIN: u64 = 33;
    pub(in super::super) const CALL: u64 = 34;
    pub(in super::super) const DEBUG_LOC: u64 = 35;
    pub(in super::super) const FENCE: u64 = 36;
    pub(in super::super) const LOADATOMIC: u64 = 41;
    pub(in super::super) const GEP: u64 = 43;
    pub(in super::super) const STORE: u64 = 44;
    pub(in super::super) const STOREATOMIC: u64 = 45;
    pub(in super::super) const CMPXCHG: u64 = 46;
    pub(in super::super) const OPERAND_BUNDLE: u64 = 55;
    pub(in super::super) const UNOP: u64 = 56;
    pub(in super::super) const FREEZE: u64 = 58;
    pub(in super::super) const ATOMICRMW: u64 = 59;
}

/// Casts.
pub(super) mod cast {
    pub(in super::super) const BITCAST: u64 = 11;
    pub(in super::super) const ADDRSPACECAST: u64 = 12;
}
