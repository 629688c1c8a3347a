//! Long fills and copies of memory become loops. A code generator for 32 lanes writes one store for each piece of them, and
//! one load: for an array of 4,000 numbers, that is as many instructions, which take LLVM seconds.
//!
//! A fill or copy is a function with a loop, which is inlined: its block needs no new shape.

use crate::ir::{Block, Builder, IntPredicate, Opcode, Rewrite, Type, Value};
use inkwell::module::Module;

/// Pieces from which on a fill is a loop. Shorter ones are stores, of which LLVM makes registers.
const LONG_FILL: u64 = 512;

/// Pieces from which on a copy is a loop.
const LONG_COPY: u64 = 64;

/// Replaces the long fills and copies of a module. True if there are any.
pub(super) fn make_loops(module: &mut Module) -> bool {
    let rewrite = Rewrite::new(module);
    let builder = Builder::new(rewrite.module());
    let blocks = rewrite.module().functions().into_iter().flat_map(|function| function.blocks());
    let calls = blocks.flat_map(|block| block.instructions());
    let moves: Vec<(Value, Move)> = calls.filter_map(|call| Some((call, Move::of(call)?))).collect();
    let found = !moves.is_empty();
    for (call, moved) in moves {
        let (to, from) = (call.operand(0), call.operand(1));
        let function = moved.function(&rewrite, to.ty(), from.ty());
        builder.before(call);
        builder.call(function, &[to, from]);
        rewrite.erase(call);
    }
    found
}

/// The bytes that a memcpy, memmove or memset moves at a time.
pub(crate) fn unit_of(call: Value) -> u64 {
    let length = call.operand(2).as_int().unwrap_or(1) as u64;
    let is_fill = call.callee().and_then(Value::intrinsic_name).is_some_and(|name| name.starts_with("llvm.memset"));
    let align = call.argument_align(0);
    let align = if is_fill { align } else { align.min(call.argument_align(1)) };
    let mut unit = u64::from(align.clamp(1, 4));
    while !length.is_multiple_of(unit) {
        unit /= 2;
    }
    unit
}

/// A long fill or copy.
#[derive(Clone, Copy)]
struct Move {
    /// From another place, not with a byte.
    is_copy: bool,
    is_volatile: bool,
    bytes: u64,
    /// The bytes of a piece.
    unit: u64,
}

impl Move {
    /// The move that a call makes, if it is long.
    fn of(call: Value) -> Option<Move> {
        let callee = if call.is(Opcode::LLVMCall) { call.callee()? } else { return None };
        let name = callee.intrinsic_name()?;
        let is_copy = match name.as_str() {
            _ if name.starts_with("llvm.memset") => false,
            _ if name.starts_with("llvm.memcpy") => true,
            _ => return None,
        };
        let bytes = call.operand(2).as_int().and_then(|bytes| u64::try_from(bytes).ok())?;
        let unit = unit_of(call);
        let least = if is_copy { LONG_COPY } else { LONG_FILL };
        let is_volatile = call.operand(3).as_int() != Some(0);
        (bytes / unit >= least).then_some(Move { is_copy, is_volatile, bytes, unit })
    }

    /// A function that does it, given the place and the byte or the other place.
    fn function<'m>(self, rewrite: &'m Rewrite, to: Type<'m>, from: Type<'m>) -> Value<'m> {
        let Move { is_copy, is_volatile, bytes, unit } = self;
        let module = rewrite.module();
        let context = module.context();
        let (number, piece) = (Type::int(context, 64), Type::int(context, unit as u32 * 8));
        let name = if is_copy { "copy" } else { "fill" };
        let function = module.add_function(name, Type::void(context).function(&[to, from]));
        function.make_internal();
        function.add_attribute("alwaysinline");
        let [entry, body, end] = ["entry", "body", "end"].map(|name| Block::append(function, name));
        let b = Builder::new(module);
        let [to, from] = function.parameters()[..] else { unreachable!("it has two parameters") };
        b.at_end(entry);
        let ones = (0..unit).fold(0i64, |all, at| all | 1 << (8 * at));
        let filling = match (is_copy, unit) {
            (true, _) => None,
            (false, 1) => Some(from),
            (false, _) => Some(b.mul(b.zext(from, piece), piece.constant(ones))),
        };
        b.branch(body);
        b.at_end(body);
        let at = b.phi(number);
        let value = filling.unwrap_or_else(|| {
            let loaded = b.load(piece, b.offset(from, at), unit as u32);
            loaded.set_volatile(is_volatile);
            loaded
        });
        b.store(value, b.offset(to, at), unit as u32).set_volatile(is_volatile);
        let next = b.add(at, number.constant(unit as i64));
        b.add_incoming(at, number.zero(), entry);
        b.add_incoming(at, next, body);
        b.branch_if(b.icmp(IntPredicate::LLVMIntULT, next, number.constant(bytes as i64)), body, end);
        b.at_end(end);
        b.ret();
        function
    }
}
