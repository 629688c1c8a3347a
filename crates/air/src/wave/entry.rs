//! The entry of a kernel: its arguments, the positions of its threads, and the loop over simdgroups.

use super::byte_products::{self, ByteProducts};
use super::groups::Permutation;
use super::lanes::{lane_numbers, lanes_of, splat};
use super::parts::{Part, Parts};
use super::shapes::Shape;
use super::streams::StreamHelp;
use super::types::components;
use super::{Error, Result};
use crate::ir::{Block, Builder, IntPredicate, ModuleRef, Opcode, Type, Value};
use crate::metadata::FUNCTION_TABLE;
use crate::reflect::Role;
use abi::{Dispatch, LANES, Lanes, Simdgroup, Site, Threadgroup};
use rustc_hash::FxHashMap;
use std::mem::offset_of;

/// The most bytes that one lane can read or write at once.
pub(super) const SPARE_BYTES: u64 = 128;

/// The parameters of a kernel, and the simdgroups that it is compiled for.
pub(super) struct Arguments<'a, 'm> {
    pub(super) roles: &'a [Role],
    pub(super) lanes: Lanes,
    /// The offset of each threadgroup variable in the threadgroup's memory.
    pub(super) threadgroup_variables: &'a FxHashMap<Value<'m>, u32>,
    pub(super) permutation: Permutation,
    pub(super) stream_help: Option<StreamHelp>,
    pub(super) byte_products: ByteProducts,
    /// True if sums of products of `bfloat` have an instruction.
    pub(super) bfloat_products: bool,
    /// True if products of matrices of bytes go through tiles.
    pub(super) byte_tiles: bool,
    /// The places that checks refer to.
    pub(super) sites: &'a [Site],
    /// True if the runtime checks every access.
    pub(super) every_access: bool,
}

impl<'m> Arguments<'_, 'm> {
    /// The shapes of the kernel's parameters.
    pub(super) fn shapes(&self, kernel: Value<'m>) -> Vec<(Value<'m>, Vec<Shape>)> {
        let shapes = |(position, parameter): (usize, Value<'m>)| {
            let what = self.role(position).map_or("", |role| role.what.as_str());
            let count = components(parameter.ty()).len();
            (parameter, (0..count).map(|component| Shape::of_builtin(what, component, self.lanes)).collect())
        };
        kernel.parameters().into_iter().enumerate().map(shapes).collect()
    }

    fn role(&self, position: usize) -> Option<&Role> {
        self.roles.iter().find(|role| role.position == position)
    }
}

/// The function of one simdgroup, while it is written.
pub(super) struct EntryBuilder<'m> {
    pub(super) body: Value<'m>,
    pub(super) start: Block<'m>,
    pub(super) end: Block<'m>,
    /// The lanes that exist; `None` for all 32.
    pub(super) mask: Option<Value<'m>>,
    pub(super) threadgroup_memory: Value<'m>,
    /// Memory that lanes which are switched off read and write.
    pub(super) spare: Value<'m>,
    pub(super) threadgroup_variables: FxHashMap<Value<'m>, u32>,
    /// True if the runtime checks every access.
    pub(super) every_access: bool,
    pub(super) dispatch: Value<'m>,
    pub(super) threadgroup: Value<'m>,
    pub(super) simdgroup: Value<'m>,
    pub(super) index: Value<'m>,
    first: [Value<'m>; 3],
}

impl<'m> EntryBuilder<'m> {
    /// Begins the function.
    pub(super) fn new(b: &Builder<'m>, arguments: &Arguments<'_, 'm>) -> EntryBuilder<'m> {
        let context = b.context();
        let (pointer, int) = (Type::pointer(context), Type::int(context, 32));
        let ty = Type::void(context).function(&[pointer, pointer, pointer, int, int, int, int]);
        let body = b.module.add_function("simdgroup", ty);
        body.make_internal();
        body.add_attribute("alwaysinline");
        arguments.permutation.choose_for(body);
        arguments.byte_products.choose_for(body);
        if arguments.bfloat_products {
            byte_products::choose_bfloats_for(body);
        }
        let parameters = body.parameters();
        let start = Block::append(body, "entry");
        b.at_end(start);
        let (threadgroup, simdgroup) = (parameters[1], parameters[2]);
        let memory = offset_of!(Threadgroup, memory);
        let mask = (arguments.lanes == Lanes::Any).then(|| {
            let bits = field(b, simdgroup, offset_of!(Simdgroup, active), int);
            b.bitcast(bits, lanes_of(Type::int(context, 1)))
        });
        EntryBuilder {
            body,
            start,
            end: Block::append(body, "end"),
            mask,
            threadgroup_memory: field(b, threadgroup, memory, pointer),
            spare: b.alloca(Type::int(context, 8).array(SPARE_BYTES), 64),
            threadgroup_variables: arguments.threadgroup_variables.clone(),
            every_access: arguments.every_access,
            dispatch: parameters[0],
            threadgroup,
            simdgroup,
            index: parameters[3],
            first: [parameters[4], parameters[5], parameters[6]],
        }
    }

    /// The values of the kernel's parameters.
    pub(super) fn parameters(
        &self,
        b: &Builder<'m>,
        kernel: Value<'m>,
        arguments: &Arguments<'_, 'm>,
    ) -> Result<Vec<(Value<'m>, Parts<'m>)>> {
        let mut values = Vec::new();
        for (position, parameter) in kernel.parameters().into_iter().enumerate() {
            let parts = match arguments.role(position) {
                // Its condition is false: no code reads it.
                None => components(parameter.ty()).into_iter().map(|ty| Part::Uniform(ty.poison())).collect(),
                Some(role) => self.parameter(b, role, parameter.ty())?,
            };
            values.push((parameter, parts));
        }
        Ok(values)
    }

    fn parameter(&self, b: &Builder<'m>, role: &Role, ty: Type<'m>) -> Result<Parts<'m>> {
        let refuse = || Error::Unsupported(format!("an argument of the kind '{}'", role.what));
        if matches!(role.what.as_str(), "air.buffer" | "air.indirect_buffer" | FUNCTION_TABLE) {
            let index = role.index.filter(|&index| index < abi::call::ARGUMENT_SLOTS as u64).ok_or_else(refuse)?;
            return Ok(vec![Part::Uniform(self.binding(b, index as usize, role.address_space == Some(3)))]);
        }
        let what = role.what.strip_prefix("air.").unwrap_or(&role.what);
        let int = Type::int(b.context(), 32);
        let component = |(index, to): (usize, Type<'m>)| {
            let part = self.builtin(b, what, index).ok_or_else(refuse)?;
            let resize = |value: Value<'m>, to: Type<'m>| super::lanes::resize(b, value, to);
            Ok(match part {
                _ if !to.is_int() => return Err(refuse()),
                part if to == int => part,
                Part::Uniform(value) => Part::Uniform(resize(value, to)),
                Part::Ramp { base, stride, .. } => Part::Ramp { base: resize(base, to), stride, lanes: None },
                Part::Lanes(value) => Part::Lanes(resize(value, lanes_of(to))),
            })
        };
        components(ty).into_iter().enumerate().map(component).collect()
    }

    /// The address of a buffer or of a threadgroup argument.
    fn binding(&self, b: &Builder<'m>, index: usize, in_threadgroup: bool) -> Value<'m> {
        let context = b.context();
        if !in_threadgroup {
            let at = offset_of!(Dispatch, buffers) + index * size_of::<*mut u8>();
            return field(b, self.dispatch, at, Type::pointer(context));
        }
        let at = offset_of!(Dispatch, threadgroup_offsets) + index * size_of::<u32>();
        let offset = field(b, self.dispatch, at, Type::int(context, 32));
        b.offset(self.threadgroup_memory, b.zext(offset, Type::int(context, 64)))
    }

    /// Component `index` of a built-in; a component beyond those that it has is 1 for a size and 0 for a position.
    fn builtin(&self, b: &Builder<'m>, what: &str, index: usize) -> Option<Part<'m>> {
        let int = Type::int(b.context(), 32);
        let of_dispatch = |at: usize| field(b, self.dispatch, at + index * 4, int);
        let of_threadgroup = |at: usize| field(b, self.threadgroup, at + index * 4, int);
        let asked = |i: usize| field(b, self.dispatch, offset_of!(Dispatch, threads_per_threadgroup) + i * 4, int);
        let size = |i: usize| field(b, self.threadgroup, offset_of!(Threadgroup, size) + i * 4, int);
        let product = |of: &dyn Fn(usize) -> Value<'m>| b.mul(of(0), b.mul(of(1), of(2)));
        let divided = |value: Value<'m>, by: i64| {
            b.binary(Opcode::LLVMUDiv, b.add(value, int.constant(by - 1)), int.constant(by))
        };
        let lanes_in_order = |base: Value<'m>| Part::Ramp { base, stride: 1, lanes: None };
        let first_thread = || b.mul(self.index, int.constant(LANES as i64));
        let shifted = || b.binary(Opcode::LLVMLShr, lane_numbers(int), lanes_of(int).constant(2));
        Some(match what {
            "thread_position_in_threadgroup" => self.local(b, index)?,
            "thread_position_in_grid" => {
                let origin = b.mul(of_threadgroup(offset_of!(Threadgroup, position)), asked(index));
                match self.local(b, index)? {
                    Part::Uniform(local) => Part::Uniform(b.add(origin, local)),
                    Part::Ramp { base, stride, lanes } => Part::Ramp { base: b.add(origin, base), stride, lanes },
                    Part::Lanes(local) => Part::Lanes(b.add(splat(b, origin), local)),
                }
            }
            "thread_index_in_threadgroup" => lanes_in_order(first_thread()),
            "thread_index_in_simdgroup" => lanes_in_order(int.zero()),
            "thread_index_in_quadgroup" => Part::Lanes(b.and(lane_numbers(int), lanes_of(int).constant(3))),
            "quadgroup_index_in_simdgroup" => Part::Lanes(shifted()),
            "quadgroup_index_in_threadgroup" => {
                let before = b.mul(self.index, int.constant(LANES as i64 / 4));
                Part::Lanes(b.add(splat(b, before), shifted()))
            }
            "simdgroup_index_in_threadgroup" => Part::Uniform(self.index),
            "simdgroups_per_threadgroup" => {
                Part::Uniform(field(b, self.threadgroup, offset_of!(Threadgroup, simdgroups), int))
            }
            "dispatch_simdgroups_per_threadgroup" => Part::Uniform(divided(product(&asked), LANES as i64)),
            "quadgroups_per_threadgroup" => Part::Uniform(divided(product(&size), 4)),
            "dispatch_quadgroups_per_threadgroup" => Part::Uniform(divided(product(&asked), 4)),
            "threads_per_simdgroup" | "thread_execution_width" => Part::Uniform(int.constant(LANES as i64)),
            "threadgroup_position_in_grid" => Part::Uniform(of_threadgroup(offset_of!(Threadgroup, position))),
            "threads_per_threadgroup" => Part::Uniform(of_threadgroup(offset_of!(Threadgroup, size))),
            "dispatch_threads_per_threadgroup" => Part::Uniform(asked(index)),
            "threads_per_grid" | "grid_size" => Part::Uniform(of_dispatch(offset_of!(Dispatch, threads_per_grid))),
            "threadgroups_per_grid" => Part::Uniform(of_dispatch(offset_of!(Dispatch, threadgroups_per_grid))),
            "grid_origin" | "thread_grid_origin" => Part::Uniform(int.zero()),
            _ => return None,
        })
    }

    /// The position in the threadgroup.
    fn local(&self, b: &Builder<'m>, index: usize) -> Option<Part<'m>> {
        let first = *self.first.get(index)?;
        if self.mask.is_none() {
            return Some(if index == 0 {
                Part::Ramp { base: first, stride: 1, lanes: None }
            } else {
                Part::Uniform(first)
            });
        }
        let at = offset_of!(Simdgroup, positions) + index * LANES * 4;
        Some(Part::Lanes(field(b, self.simdgroup, at, lanes_of(Type::int(b.context(), 32)))))
    }

    /// Reports a failure. Some lane has it, for a block runs only where there is one.
    pub(super) fn fail(&self, b: &Builder<'m>, number: i64) {
        let at = Type::int(b.context(), 64).constant(offset_of!(Threadgroup, failure) as i64);
        b.store(Type::int(b.context(), 32).constant(number), b.offset(self.threadgroup, at), 4);
    }

    /// Waits for the other simdgroups.
    pub(super) fn barrier(&self, b: &Builder<'m>) {
        let pointer = Type::pointer(b.context());
        let function = field(b, self.threadgroup, offset_of!(Threadgroup, barrier), pointer);
        b.call_pointer(Type::void(b.context()).function(&[pointer]), function, &[self.simdgroup]);
    }
}

/// Loads a field of one of the caller's structures.
pub(super) fn field<'m>(b: &Builder<'m>, structure: Value<'m>, offset: usize, ty: Type<'m>) -> Value<'m> {
    let offset = Type::int(b.context(), 64).constant(offset as i64);
    b.load_invariant(ty, b.offset(structure, offset), 4)
}

/// The function that the runtime calls: it runs `count` simdgroups, one after the other.
pub(super) fn write_loop<'m>(module: ModuleRef<'m>, symbol: &str, body: Value<'m>, lanes: Lanes) -> Value<'m> {
    let b = Builder::new(module);
    let context = b.context();
    let (pointer, int, wide) = (Type::pointer(context), Type::int(context, 32), Type::int(context, 64));
    let function = module.add_function(symbol, Type::void(context).function(&[pointer, pointer, pointer, int]));
    let parameters = function.parameters();
    let [dispatch, threadgroup, simdgroup, count] = parameters[..] else { unreachable!("four are declared") };
    let blocks = ["entry", "simdgroups", "end"].map(|name| Block::append(function, name));
    b.at_end(blocks[0]);
    let of_simdgroup = |at: usize| field(&b, simdgroup, at, int);
    let of_threadgroup = |at: usize| field(&b, threadgroup, at, int);
    let start_index = of_simdgroup(offset_of!(Simdgroup, index));
    let start = [0, 1, 2].map(|i| of_simdgroup(offset_of!(Simdgroup, first) + i * 4));
    let size = [0, 1].map(|i| of_threadgroup(offset_of!(Threadgroup, size) + i * 4));
    b.branch(blocks[1]);

    b.at_end(blocks[1]);
    let done = b.phi(int);
    let [x, y, z] = [0; 3].map(|_| b.phi(int));
    let current = match lanes {
        Lanes::Row => simdgroup,
        Lanes::Any => {
            let bytes = b.mul(b.zext(done, wide), wide.constant(size_of::<Simdgroup>() as i64));
            b.offset(simdgroup, bytes)
        }
    };
    b.call(body, &[dispatch, threadgroup, current, b.add(start_index, done), x, y, z]);
    let next = b.add(done, int.constant(1));
    // The next simdgroup lies 32 further along x, or at the start of the next row or plane.
    let is = |value: Value<'m>, end: Value<'m>| b.icmp(IntPredicate::LLVMIntUGE, value, end);
    let next_x = b.add(x, int.constant(LANES as i64));
    let row_ends = is(next_x, size[0]);
    let next_y = b.add(y, b.zext(row_ends, int));
    let plane_ends = is(next_y, size[1]);
    let next_z = b.add(z, b.zext(plane_ends, int));
    let nexts = [b.select(row_ends, int.zero(), next_x), b.select(plane_ends, int.zero(), next_y), next_z];
    b.branch_if(is(next, count), blocks[2], blocks[1]);
    b.add_incoming(done, int.zero(), blocks[0]);
    b.add_incoming(done, next, blocks[1]);
    for ((phi, first), next) in [x, y, z].into_iter().zip(start).zip(nexts) {
        b.add_incoming(phi, first, blocks[0]);
        b.add_incoming(phi, next, blocks[1]);
    }
    b.at_end(blocks[2]);
    b.ret();
    function
}
