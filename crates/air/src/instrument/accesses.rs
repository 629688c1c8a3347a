//! Accesses to memory that threads share. Each becomes a call of an opaque function that the code generator turns into
//! a checked access.

use super::provenance::Root;
use super::{Instrumentation, LOAD, MATRIX, POINTER, STORE, at, chosen, private};
use crate::ir::{Type, TypeKind, Value};
use abi::{Object, Operation, Site};

/// Private memory.
const THREAD: u32 = 0;

pub(super) fn load<'m>(pass: &mut Instrumentation<'m>, load: Value<'m>) {
    let (pointer, ty) = (load.operand(0), load.ty());
    if private::access(pass, load, pointer, ty, Operation::Read) || !is_plain(ty) {
        return;
    }
    let site = place(pass, load, pointer, Operation::Read, ty);
    // Code that expands bfloat knows loads and casts, and no calls.
    let loaded = integers_of(pass, ty);
    let base = base(pass, pointer);
    pass.b.before(load);
    let function = pass.declare(LOAD, loaded.function(&[pointer.ty(), pointer.ty(), pass.int(32)]));
    let value = pass.b.call(function, &[pointer, base, site]);
    let value = if loaded == ty { value } else { pass.b.bitcast(value, ty) };
    load.replace_all_uses_with(value);
    pass.rewrite.erase(load);
}

pub(super) fn store<'m>(pass: &mut Instrumentation<'m>, store: Value<'m>) {
    let (value, pointer) = (store.operand(0), store.operand(1));
    let ty = value.ty();
    if private::access(pass, store, pointer, ty, Operation::Write) || !is_plain(ty) {
        return;
    }
    let site = place(pass, store, pointer, Operation::Write, ty);
    let stored = integers_of(pass, ty);
    let base = base(pass, pointer);
    pass.b.before(store);
    let value = if stored == ty { value } else { pass.b.bitcast(value, stored) };
    let types = [stored, pointer.ty(), pointer.ty(), pass.int(32)];
    let function = pass.declare(STORE, pass.void().function(&types));
    pass.b.call(function, &[value, pointer, base, site]);
    pass.rewrite.erase(store);
}

/// Checks a call that accesses memory; false for other calls.
pub(super) fn call<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str) -> bool {
    if let Some(rest) = name.strip_prefix("air.atomic.") {
        if rest != "fence" {
            atomic(pass, call, rest);
        }
        return rest != "fence";
    }
    if name.starts_with("air.simdgroup_matrix_8x8_load") || name.starts_with("air.simdgroup_matrix_8x8_store") {
        matrix(pass, call, name);
        return false;
    }
    match call.callee().and_then(Value::intrinsic_name).as_deref() {
        Some("llvm.memcpy" | "llvm.memmove") => {
            copied(pass, call, 0, Operation::Write);
            copied(pass, call, 1, Operation::Read);
            true
        }
        Some("llvm.memset") => {
            copied(pass, call, 0, Operation::Write);
            true
        }
        _ => false,
    }
}

/// An atomic function: its pointer leads to spare memory where the access must not be made.
fn atomic<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str) {
    let pointer = call.operand(0);
    if !pointer.ty().is_pointer() || pointer.ty().address_space() == THREAD {
        return;
    }
    let bytes = match name.rsplit('.').next() {
        Some("i64") => 8,
        Some("i16") => 2,
        Some("i8") => 1,
        _ => 4,
    };
    let is = |function: &str| name.split('.').any(|part| part == function);
    let operation = match () {
        () if is("load") => Operation::AtomicRead,
        // The value before an exchange is often not used.
        () if is("store") || is("xchg") => Operation::AtomicWrite,
        () => Operation::AtomicUpdate,
    };
    replace_pointer(pass, call, 0, POINTER, Access { operation, bytes, alignment: bytes });
}

/// A load or store of a simdgroup matrix.
fn matrix<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str) {
    let is_store = name.contains("_store");
    let operation = if is_store { Operation::Write } else { Operation::Read };
    let index = usize::from(is_store);
    if index >= call.arguments().len() || !call.operand(index).ty().is_pointer() {
        return;
    }
    let matrix = if is_store { call.operand(0).ty() } else { call.ty() };
    if call.operand(index).ty().address_space() == THREAD || !matrix.is_vector() {
        return;
    }
    let bytes = pass.layout.size(matrix.element()) as u32;
    replace_pointer(pass, call, index, MATRIX, Access { operation, bytes, alignment: bytes });
}

/// One side of a copy.
fn copied<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, index: usize, operation: Operation) {
    let pointer = call.operand(index);
    let Some(bytes) = call.operand(2).as_int().and_then(|bytes| u32::try_from(bytes).ok()) else { return };
    if pointer.ty().address_space() == THREAD || bytes == 0 || bytes as usize > abi::call::SCRATCH {
        return;
    }
    let align = call.argument_align(index as u32);
    replace_pointer(pass, call, index, POINTER, Access { operation, bytes, alignment: 1 });
    if call.argument_align(index as u32) < align {
        call.set_argument_align(index as u32, align);
    }
}

struct Access {
    operation: Operation,
    bytes: u32,
    alignment: u32,
}

fn replace_pointer<'m>(
    pass: &mut Instrumentation<'m>,
    call: Value<'m>,
    index: usize,
    name: &'static str,
    access: Access,
) {
    let pointer = call.operand(index);
    let object = object(pass, pointer);
    let Access { operation, bytes, alignment } = access;
    let is_to_const = is_to_const(pass, operation, pointer);
    let site = Site { operation, object, bytes, alignment, is_to_const, ..at(call) };
    let site = pass.site(site);
    let base = base(pass, pointer);
    pass.b.before(call);
    let ty = pointer.ty();
    let function = pass.declare(name, ty.function(&[ty, ty, pass.int(32)]));
    let checked = pass.b.call(function, &[pointer, base, site]);
    call.set_operand(index, checked);
}

fn place<'m>(
    pass: &mut Instrumentation<'m>,
    instruction: Value<'m>,
    pointer: Value<'m>,
    operation: Operation,
    ty: Type<'m>,
) -> Value<'m> {
    let element = pass.layout.size(ty.scalar());
    // A vector of three elements is aligned like four, and has three.
    let bytes = if ty.is_vector() { element * ty.length() as u64 } else { element };
    let object = object(pass, pointer);
    // Packed vectors and members of packed structures are accessed with less alignment than their type has.
    let natural = u32::try_from(bytes.next_power_of_two()).unwrap_or(1);
    let alignment = natural.min(instruction.alignment().max(1));
    let (operation, bytes) =
        (if is_atomic(instruction) { atomic_kind(operation) } else { operation }, bytes as u32);
    let is_to_const = is_to_const(pass, operation, pointer);
    let site = Site { operation, object, bytes, alignment, is_to_const, ..at(instruction) };
    pass.site(site)
}

/// True for a write to an argument that the kernel declares `const`.
fn is_to_const<'m>(pass: &Instrumentation<'m>, operation: Operation, pointer: Value<'m>) -> bool {
    !operation.is_read() && pass.provenance.is_constant(pointer)
}

fn is_atomic(instruction: Value) -> bool {
    // Threads that talk through volatile memory do so on purpose.
    instruction.is_access() && (instruction.is_atomic() || instruction.is_volatile())
}

fn atomic_kind(operation: Operation) -> Operation {
    if operation == Operation::Read { Operation::AtomicRead } else { Operation::AtomicWrite }
}

fn object<'m>(pass: &Instrumentation<'m>, pointer: Value<'m>) -> Object {
    if let Some(root) = pass.provenance.root(pointer) {
        return root.object;
    }
    let roots = pass.provenance.shared_roots(pointer);
    if roots.is_empty() {
        Object::Unknown
    } else {
        Object::OneOf(roots.into_iter().map(|root| root.object).collect())
    }
}

/// The start of the object that a pointer points into; the pointer itself if it is not known.
fn base<'m>(pass: &mut Instrumentation<'m>, pointer: Value<'m>) -> Value<'m> {
    match pass.provenance.root(pointer) {
        Some(Root { base, .. }) if base.ty() == pointer.ty() => base,
        None if !pass.provenance.shared_roots(pointer).is_empty() => chosen::base(pass, pointer),
        _ => pointer,
    }
}

/// True for numbers, pointers and vectors of them.
fn is_plain(ty: Type) -> bool {
    !ty.is_array() && !ty.is_struct() && ty.is_sized()
}

/// The type in whose place an access has one of the same size without bfloat.
fn integers_of<'m>(pass: &Instrumentation<'m>, ty: Type<'m>) -> Type<'m> {
    if ty.scalar().kind() != TypeKind::LLVMBFloatTypeKind {
        return ty;
    }
    if ty.is_vector() { pass.int(16).vector(ty.length()) } else { pass.int(16) }
}

/// True for an access to memory that only one thread has.
pub(super) fn is_private<'m>(pass: &Instrumentation<'m>, pointer: Value<'m>) -> bool {
    let is_constant =
        || matches!(pass.provenance.root(pointer), Some(Root { object: Object::Constant { .. }, .. }));
    pointer.ty().address_space() == THREAD && !is_constant()
}
