//! Long fills of memory become loops. A code generator for 32 lanes writes one store for each piece of it: for an array of
//! 4,000 numbers, that is as many stores, which take LLVM seconds.
//!
//! A fill is a function with a loop, which is inlined: its block needs no new shape.

use crate::ir::{Block, Builder, IntPredicate, Opcode, Rewrite, Type, Value};
use inkwell::module::Module;

/// Pieces from which on a fill is a loop. Shorter ones are stores, of which LLVM makes registers.
const LONG: u64 = 512;

/// Replaces the long fills of a module. True if there are any.
pub(super) fn make_loops(module: &mut Module) -> bool {
    let rewrite = Rewrite::new(module);
    let builder = Builder::new(rewrite.module());
    let blocks = rewrite.module().functions().into_iter().flat_map(|function| function.blocks());
    let calls: Vec<Value> = blocks.flat_map(|block| block.instructions()).filter(|value| is_fill(*value)).collect();
    let mut found = false;
    for call in calls {
        let (to, byte, length) = (call.operand(0), call.operand(1), call.operand(2));
        let bytes = length.as_int().and_then(|length| u64::try_from(length).ok());
        let (Some(bytes), Some(0)) = (bytes, call.operand(3).as_int()) else { continue };
        let unit =
            [4, 2].into_iter().find(|unit| bytes.is_multiple_of(*unit) && call.argument_align(0) >= *unit as u32);
        let unit = unit.unwrap_or(1);
        if bytes / unit < LONG {
            continue;
        }
        let function = fill(&rewrite, to.ty(), byte.ty(), (bytes, unit));
        builder.before(call);
        builder.call(function, &[to, byte]);
        rewrite.erase(call);
        found = true;
    }
    found
}

fn is_fill(value: Value) -> bool {
    let callee = if value.is(Opcode::LLVMCall) { value.callee() } else { None };
    let name = callee.and_then(Value::intrinsic_name);
    name.is_some_and(|name| name.starts_with("llvm.memset"))
}

/// A function that fills this many bytes, in pieces of `unit` bytes.
fn fill<'m>(rewrite: &'m Rewrite, pointer: Type<'m>, byte: Type<'m>, (bytes, unit): (u64, u64)) -> Value<'m> {
    let module = rewrite.module();
    let context = module.context();
    let (number, piece) = (Type::int(context, 64), Type::int(context, unit as u32 * 8));
    let function = module.add_function("fill", Type::void(context).function(&[pointer, byte]));
    function.make_internal();
    function.add_attribute("alwaysinline");
    let [entry, body, end] = ["entry", "body", "end"].map(|name| Block::append(function, name));
    let b = Builder::new(module);
    let [to, byte] = function.parameters()[..] else { unreachable!("it has two parameters") };
    b.at_end(entry);
    let ones = (0..unit).fold(0i64, |all, at| all | 1 << (8 * at));
    let value = if unit == 1 { byte } else { b.mul(b.zext(byte, piece), piece.constant(ones)) };
    b.branch(body);
    b.at_end(body);
    let at = b.phi(number);
    b.store(value, b.offset(to, at), unit as u32);
    let next = b.add(at, number.constant(unit as i64));
    b.add_incoming(at, number.zero(), entry);
    b.add_incoming(at, next, body);
    b.branch_if(b.icmp(IntPredicate::LLVMIntULT, next, number.constant(bytes as i64)), body, end);
    b.at_end(end);
    b.ret();
    function
}
