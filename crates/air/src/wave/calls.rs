//! Calls: barriers, functions between lanes, and LLVM's own functions lane by lane.

use super::byte_products;
use super::groups;
use super::lanes::{first_active, lanes_of};
use super::memory::Access;
use super::parts::{Part, Parts};
use super::types::{MATRIX, components};
use super::widen::Widener;
use super::{Error, Result};
use crate::bytes::Dot;
use crate::calls::FAIL;
use crate::ir::{Type, Value};
use crate::thread::moves::unit_of;

/// LLVM's functions that compute each element of a vector by itself, so that one call on 32 lanes is 32 calls.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "arithmetic.fence",
    "bitreverse",
    "bswap",
    "canonicalize",
    "ceil",
    "copysign",
    "ctlz",
    "ctpop",
    "cttz",
    "expect",
    "fabs",
    "floor",
    "fma",
    "fmuladd",
    "fptosi.sat",
    "fptoui.sat",
    "fshl",
    "fshr",
    "is.fpclass",
    "ldexp",
    "llrint",
    "llround",
    "lrint",
    "lround",
    "maximum",
    "maximumnum",
    "maxnum",
    "minimum",
    "minimumnum",
    "minnum",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sadd.sat",
    "sadd.with.overflow",
    "scmp",
    "smax",
    "smin",
    "smul.with.overflow",
    "sqrt",
    "sshl.sat",
    "ssub.sat",
    "ssub.with.overflow",
    "trunc",
    "uadd.sat",
    "uadd.with.overflow",
    "ucmp",
    "umax",
    "umin",
    "umul.with.overflow",
    "ushl.sat",
    "usub.sat",
    "usub.with.overflow",
];

/// The smallest piece of memory that a call reads or writes through a pointer at once.
pub(super) fn access_unit(call: Value) -> u64 {
    let name = call.callee().map(Value::name).unwrap_or_default();
    match intrinsic_name(call).as_str() {
        "llvm.memcpy" | "llvm.memmove" | "llvm.memset" => unit_of(call),
        _ if name.starts_with("air.atomic.") => {
            components(call.ty()).into_iter().map(super::types::bytes).min().unwrap_or(4)
        }
        _ => 8,
    }
}

/// True for a memcpy, memmove or memset of volatile memory.
fn is_volatile_copy(call: Value) -> bool {
    call.operand(3).as_int() != Some(0)
}

/// The name of an LLVM function without the types that it is overloaded on.
fn intrinsic_name(call: Value) -> String {
    call.callee().and_then(Value::intrinsic_name).unwrap_or_default()
}

impl<'m> Widener<'_, 'm> {
    pub(super) fn call(&mut self, call: Value<'m>) -> Result<Parts<'m>> {
        let Some(callee) = call.callee() else {
            return Err(Error::Unsupported("a call through a function pointer".into()));
        };
        let name = callee.name();
        match name.as_str() {
            "air.wg.barrier" => {
                self.has_barrier = true;
                self.entry.barrier(&self.b);
                return Ok(Vec::new());
            }
            FAIL => {
                self.entry.fail(&self.b, call.arguments().first().and_then(|number| number.as_int()).unwrap_or(1));
                return Ok(Vec::new());
            }
            name if name.starts_with("metalworks.") && Dot::named(name).is_none() => {
                return self.checked(call, name);
            }
            // The lanes of a simdgroup run in step.
            "air.simdgroup.barrier" => return Ok(Vec::new()),
            _ => {}
        }
        if let Some(dot) = Dot::named(&name) {
            if let Some(parts) = self.tile_sum(call) {
                return Ok(parts);
            }
            let operands: Vec<Parts<'m>> =
                call.arguments().into_iter().map(|argument| self.get(argument)).collect();
            return Ok(self.pointwise_on(call, &operands, |w, values, _| byte_products::emit(&w.b, dot, values)));
        }
        if let Some(parts) = self.between_lanes(call, &name) {
            return parts;
        }
        match intrinsic_name(call).as_str() {
            "" => Err(Error::Unsupported(format!("the function '{name}'"))),
            "llvm.assume"
            | "llvm.lifetime.start"
            | "llvm.lifetime.end"
            | "llvm.prefetch"
            | "llvm.donothing"
            | "llvm.sideeffect"
            | "llvm.experimental.noalias.scope.decl"
            | "llvm.dbg.value"
            | "llvm.dbg.declare"
            | "llvm.invariant.start"
            | "llvm.invariant.end" => {
                Ok(components(call.ty()).into_iter().map(|ty| Part::Uniform(ty.poison())).collect())
            }
            "llvm.memcpy" | "llvm.memmove" => self.copy(call),
            "llvm.memset" => self.fill(call),
            reduction if reduction.starts_with("llvm.vector.reduce.") => self.reduce_components(call, reduction),
            intrinsic => self.lane_by_lane(call, intrinsic),
        }
    }

    fn between_lanes(&mut self, call: Value<'m>, name: &str) -> Option<Result<Parts<'m>>> {
        if !name.starts_with("air.") {
            return None;
        }
        let uniform = groups::result_is_uniform(name);
        if groups::is_matrix_memory(name) {
            return self.matrix_memory(call, name);
        }
        if name.starts_with("air.atomic.") {
            return self.atomic(call, name);
        }
        let arguments: Vec<Parts<'m>> = call.arguments().into_iter().map(|argument| self.get(argument)).collect();
        let b = &self.b;
        let mask = self.mask.unwrap_or_else(|| lanes_of(Type::int(b.context(), 1)).all_ones());
        let lanes: Vec<Vec<Value<'m>>> =
            arguments.iter().map(|parts| parts.iter().map(|part| part.lanes(b)).collect()).collect();
        let call = groups::Call {
            name,
            arguments: &lanes,
            mask,
            result: call.ty(),
            fast_math: call.fast_math().unwrap_or(0),
        };
        let found = if uniform { groups::emit_uniform(b, &call) } else { groups::emit(b, &call) }?;
        let part = |value: Value<'m>| if uniform { Part::Uniform(value) } else { Part::Lanes(value) };
        Some(found.map(|values| values.into_iter().map(part).collect()).map_err(Error::Unsupported))
    }

    /// Loads or stores a simdgroup matrix. By Metal's rules all arguments but the matrix are the same in all lanes; if
    /// the analysis does not show it, those of the first active lane are taken.
    fn matrix_memory(&mut self, call: Value<'m>, name: &str) -> Option<Result<Parts<'m>>> {
        let operands = call.arguments();
        let arguments: Vec<Parts<'m>> = operands.iter().map(|&argument| self.get(argument)).collect();
        let b = &self.b;
        let first = self.mask.map_or_else(|| Type::int(b.context(), 32).zero(), |mask| first_active(b, mask));
        let shared = |part: Part<'m>| part.uniform().unwrap_or_else(|| b.extract(part.lanes(b), first));
        let argument = |(operand, parts): (&Value<'m>, Parts<'m>)| -> Vec<Value<'m>> {
            let is_matrix = operand.ty().is_vector() && operand.ty().length() == MATRIX;
            parts.into_iter().map(|part| if is_matrix { part.lanes(b) } else { shared(part) }).collect()
        };
        let arguments: Vec<Vec<Value<'m>>> = operands.iter().zip(arguments).map(argument).collect();
        let is_store = operands.first().is_some_and(|operand| operand.ty().is_vector());
        if let Some(marker) = operands.get(usize::from(is_store)).and_then(|pointer| self.marker_of(*pointer)) {
            return Some(self.checked_matrix_memory(call, name, marker, &arguments));
        }
        let found = groups::matrix_memory(b, name, &arguments)?;
        Some(found.map(|values| values.into_iter().map(Part::Lanes).collect()).map_err(Error::Unsupported))
    }

    /// As `matrix_memory`, checked.
    fn checked_matrix_memory(
        &mut self,
        call: Value<'m>,
        name: &str,
        marker: Value<'m>,
        arguments: &[Vec<Value<'m>>],
    ) -> Result<Parts<'m>> {
        let addresses = groups::matrix_addresses(&self.b, name, arguments).map_err(Error::Unsupported)?;
        let types = components(call.ty());
        let mut problem = None;
        let emitted = self.checked_matrix(marker, &addresses, &types, |w| {
            match groups::matrix_memory(&w.b, name, arguments) {
                Some(Ok(values)) => values,
                Some(Err(what)) => {
                    problem = Some(what);
                    types.iter().map(|ty| lanes_of(*ty).poison()).collect()
                }
                None => Vec::new(),
            }
        })?;
        match problem {
            Some(what) => Err(Error::Unsupported(what)),
            None => Ok(emitted.into_iter().map(Part::Lanes).collect()),
        }
    }

    /// An atomic function. The expected value of a compare-exchange is in private memory: the function gets a copy, in
    /// which the lanes' values lie one after the other.
    fn atomic(&mut self, call: Value<'m>, name: &str) -> Option<Result<Parts<'m>>> {
        let operands = call.arguments();
        let mut copies = Vec::new();
        let mut arguments = Vec::new();
        for &operand in &operands {
            let Some(&part) = self.get(operand).first() else { continue };
            if operand.ty().is_pointer() && self.is_private(operand, part) {
                let ty = components(call.ty()).first().copied().unwrap_or_else(|| Type::int(self.b.context(), 32));
                let value = self.load_private(self.private.frame_of(operand), part, 0, ty, false).lanes(&self.b);
                let copy = self.b.entry_alloca(value.ty(), 64);
                self.b.store(value, copy, 64);
                copies.push((operand, part, copy, value.ty()));
                let step = super::types::bytes(ty) as i64;
                arguments.push(Part::Ramp { base: copy, stride: step, lanes: None }.lanes(&self.b));
            } else {
                arguments.push(part.uniform().unwrap_or_else(|| part.lanes(&self.b)));
            }
        }
        let mask = self.mask.unwrap_or_else(|| lanes_of(Type::int(self.b.context(), 1)).all_ones());
        let atomic = groups::Atomic { name, arguments: &arguments, mask, is_result_used: !call.users().is_empty() };
        let found = groups::atomic(&self.b, &atomic)?;
        for (operand, part, copy, ty) in copies {
            let value = Part::Lanes(self.b.load(ty, copy, 64));
            self.store_private(self.private.frame_of(operand), part, 0, value, false);
        }
        let anything = || components(call.ty()).into_iter().map(|ty| Part::Lanes(lanes_of(ty).poison())).collect();
        Some(found.map_err(Error::Unsupported).map(|values| match &values[..] {
            [] => anything(),
            _ => values.into_iter().map(Part::Lanes).collect(),
        }))
    }

    /// One of LLVM's functions on numbers.
    fn lane_by_lane(&mut self, call: Value<'m>, name: &str) -> Result<Parts<'m>> {
        if !name.strip_prefix("llvm.").is_some_and(|name| ELEMENTWISE.contains(&name)) {
            return Err(Error::Unsupported(format!("the function '{name}'")));
        }
        let arguments = call.arguments();
        let immediate = match name {
            "llvm.abs" | "llvm.ctlz" | "llvm.cttz" | "llvm.is.fpclass" => Some(1),
            _ => None,
        };
        let mut operands: Vec<Parts<'m>> = arguments.iter().map(|&argument| self.get(argument)).collect();
        let fixed = immediate.map(|index| (index, arguments[index]));
        if let Some(index) = immediate {
            operands.remove(index);
        }
        if components(call.ty()).len() != operands[0].len() {
            return self.with_overflow(call, name, &operands);
        }
        let name = name.to_owned();
        Ok(self.pointwise_on(call, &operands, move |w, values, ty| {
            let mut values = values.to_vec();
            let types = match name.as_str() {
                "llvm.fptosi.sat" | "llvm.fptoui.sat" | "llvm.lrint" | "llvm.llrint" | "llvm.lround"
                | "llvm.llround" | "llvm.ucmp" | "llvm.scmp" => vec![ty, values[0].ty()],
                "llvm.ldexp" => vec![ty, values[1].ty()],
                "llvm.is.fpclass" => vec![values[0].ty()],
                _ => vec![ty],
            };
            if let Some((index, value)) = fixed {
                values.insert(index, value);
            }
            let call = w.b.intrinsic_if_known(&name, &types, &values);
            call.unwrap_or_else(|| w.refuse(&format!("the function '{name}'"), ty))
        }))
    }

    /// A function with two results (`llvm.umul.with.overflow`).
    fn with_overflow(&mut self, call: Value<'m>, name: &str, operands: &[Parts<'m>]) -> Result<Parts<'m>> {
        if !name.ends_with(".with.overflow") || operands.iter().any(|parts| parts.len() != 1) {
            return Err(Error::Unsupported(format!("the function '{name}'")));
        }
        let uniform = self.shapes.of(call).iter().all(|shape| shape.is_uniform());
        let value = |part: Part<'m>| part.base().filter(|_| uniform).unwrap_or_else(|| part.lanes(&self.b));
        let values: Vec<Value<'m>> = operands.iter().map(|parts| value(parts[0])).collect();
        let both = self.b.intrinsic(name, &[values[0].ty()], &values);
        let part = |index| {
            let value = self.b.extract_value(both, index);
            if uniform { Part::Uniform(value) } else { Part::Lanes(value) }
        };
        Ok(vec![part(0), part(1)])
    }

    /// A reduction over the components of each lane's own vector.
    fn reduce_components(&mut self, call: Value<'m>, name: &str) -> Result<Parts<'m>> {
        use crate::ir::Opcode::*;
        let arguments = call.arguments();
        let mut parts: Vec<Part<'m>> = arguments.iter().flat_map(|&argument| self.get(argument)).collect();
        let uniform = self.shapes.of(call)[0].is_uniform();
        let which = &name["llvm.vector.reduce.".len()..];
        let opcode = match which {
            "add" => LLVMAdd,
            "mul" => LLVMMul,
            "and" => LLVMAnd,
            "or" => LLVMOr,
            "xor" => LLVMXor,
            "fadd" => LLVMFAdd,
            "fmul" => LLVMFMul,
            "smax" | "smin" | "umax" | "umin" | "fmax" | "fmin" => LLVMCall,
            _ => return Err(Error::Unsupported(format!("the function '{name}'"))),
        };
        let value = |part: Part<'m>| part.base().filter(|_| uniform).unwrap_or_else(|| part.lanes(&self.b));
        let first = value(parts.remove(0));
        let total = parts.into_iter().map(value).fold(first, |total, next| {
            let total = match opcode {
                LLVMCall => {
                    let function = match which {
                        "fmax" => "llvm.maxnum".to_owned(),
                        "fmin" => "llvm.minnum".to_owned(),
                        _ => format!("llvm.{which}"),
                    };
                    self.b.intrinsic(&function, &[total.ty()], &[total, next])
                }
                opcode => self.b.binary(opcode, total, next),
            };
            if let Some(flags) = call.fast_math() {
                total.set_fast_math(flags);
            }
            total
        });
        Ok(vec![if uniform { Part::Uniform(total) } else { Part::Lanes(total) }])
    }

    /// Memory from one place to another, piece by piece.
    fn copy(&mut self, call: Value<'m>) -> Result<Parts<'m>> {
        let (to, from) = (call.operand(0), call.operand(1));
        let is_volatile = is_volatile_copy(call);
        let (unit, count) = self.pieces(call)?;
        let piece = Type::int(self.b.context(), unit as u32 * 8);
        let values: Vec<Part<'m>> =
            (0..count).map(|i| self.load_piece(from, i * unit, piece, is_volatile)).collect();
        for (i, value) in values.into_iter().enumerate() {
            self.store_piece(to, i as u64 * unit, value, is_volatile);
        }
        Ok(Vec::new())
    }

    /// Memory filled with one byte.
    fn fill(&mut self, call: Value<'m>) -> Result<Parts<'m>> {
        let (to, byte) = (call.operand(0), self.get(call.operand(1))[0]);
        let is_volatile = is_volatile_copy(call);
        let (unit, count) = self.pieces(call)?;
        let piece = Type::int(self.b.context(), unit as u32 * 8);
        let repeat = |value: Value<'m>, ty: Type<'m>| {
            let ones = (0..unit).fold(0i64, |all, i| all | 1 << (8 * i));
            self.b.mul(self.b.zext(value, ty), ty.constant(ones))
        };
        let value = match byte.uniform() {
            Some(byte) => Part::Uniform(repeat(byte, piece)),
            None => Part::Lanes(repeat(byte.lanes(&self.b), lanes_of(piece))),
        };
        for i in 0..count {
            self.store_piece(to, i * unit, value, is_volatile);
        }
        Ok(Vec::new())
    }

    fn pieces(&self, call: Value<'m>) -> Result<(u64, u64)> {
        const MOST: u64 = 1 << 14;
        let length = call.operand(2).as_int().and_then(|length| u64::try_from(length).ok());
        let unit = unit_of(call);
        match length {
            Some(length) if length / unit <= MOST => Ok((unit, length / unit)),
            _ => Err(Error::Unsupported("a copy of memory whose length is not known or too large".into())),
        }
    }

    fn load_piece(&mut self, pointer: Value<'m>, offset: u64, ty: Type<'m>, is_volatile: bool) -> Part<'m> {
        let at = self.get(pointer)[0];
        if self.is_private(pointer, at) {
            return self.load_private(self.private.frame_of(pointer), at, offset, ty, is_volatile);
        }
        Access { is_volatile, ..self.access(at, &[offset], super::types::bytes(ty) as u32) }.load(&[ty])[0]
    }

    fn store_piece(&mut self, pointer: Value<'m>, offset: u64, value: Part<'m>, is_volatile: bool) {
        let at = self.get(pointer)[0];
        if self.is_private(pointer, at) {
            return self.store_private(self.private.frame_of(pointer), at, offset, value, is_volatile);
        }
        let align = super::types::bytes(super::memory::part_type(value)) as u32;
        Access { is_volatile, ..self.access(at, &[offset], align) }.store(&[value]);
    }
}
