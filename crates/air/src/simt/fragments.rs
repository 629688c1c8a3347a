//! Loads of several matrices of half or bfloat from threadgroup memory by one instruction, `ldmatrix`. Each lane names a
//! row of 16 bytes; the instruction leaves the rows in the lanes as fragments, or the columns.
//!
//! Loads belong together if the operands of one product are in the registers that it names one after the other: those
//! of a left operand of 16 × 16, or of two right operands of 16 × 8. They are loaded at the place of the first, so
//! nothing may write the memory in between. Rows must be multiples of 16 bytes apart, from an address that is one.

use super::alignment::is_aligned;
use super::lanes::lane;
use super::tiles::{Tile, Tiles};
use crate::ir::{Block, Builder, Layout, ModuleRef, Opcode, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

const NAME: &str = "air.simdgroup_matrix_8x8_load.";

/// Bytes of a row of a matrix.
const ROW: u32 = 16;

const SHARED: u32 = 3;

/// Matrices that one instruction loads: two or four.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Group<'m> {
    pub(super) loads: Vec<Value<'m>>,
    /// The columns are in the lanes, not the rows.
    is_transposed: bool,
    base: Value<'m>,
    /// The distance between rows.
    stride: i64,
    /// The places of the matrices after `base`.
    offsets: Vec<i64>,
}

/// The groups of a kernel, by the load at whose place they are loaded; and all loads that are in one of them.
pub(super) struct Groups<'m> {
    pub(super) at: FxHashMap<Value<'m>, Group<'m>>,
    pub(super) members: FxHashSet<Value<'m>>,
}

/// A load that may be part of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Load<'m> {
    pub(super) is_transposed: bool,
    pub(super) base: Value<'m>,
    pub(super) offset: i64,
    pub(super) stride: i64,
    block: Block<'m>,
    /// Loads with the same number have no write between them.
    epoch: usize,
}

impl<'m> Load<'m> {
    /// True if one instruction can load both.
    fn fits(&self, other: &Load<'m>) -> bool {
        Load { offset: 0, ..*self } == Load { offset: 0, ..*other }
    }
}

impl<'m> Groups<'m> {
    /// `tiles` are the products of the kernel, `instructions` those on matrices, by block and in their order, `right` the
    /// right operands of products, and `skipped` loads that are not needed.
    pub(super) fn find(
        module: ModuleRef<'m>,
        instructions: &[Value<'m>],
        tiles: &Tiles<'m>,
        right: &FxHashSet<Value<'m>>,
        skipped: &FxHashSet<Value<'m>>,
    ) -> Groups<'m> {
        let mut groups = Groups { at: FxHashMap::default(), members: FxHashSet::default() };
        let mut loads = loads(module, instructions, right);
        loads.retain(|load, _| !skipped.contains(load));
        let mut pairs: Vec<Vec<Value<'m>>> = Vec::new();
        // In the order of the code, so that it is the same each time.
        for tile in instructions.iter().filter_map(|call| tiles.at.get(call)) {
            groups.add(&loads, left(tile));
            let right: Vec<Value<'m>> = tile.columns[0].calls.iter().map(|call| call.operand(1)).collect();
            if right.len() == 2 && !pairs.contains(&right) {
                pairs.push(right);
            }
        }
        let mut rest = pairs.into_iter();
        while let Some(pair) = rest.next() {
            let both = rest.clone().next().map(|next| [pair.clone(), next].concat());
            if both.is_some_and(|both| groups.add(&loads, both)) {
                rest.next();
            } else {
                groups.add(&loads, pair);
            }
        }
        groups
    }

    /// Adds the loads of operands, also of those that come from several places; false if none can be a group.
    fn add(&mut self, loads: &FxHashMap<Value<'m>, (usize, Load<'m>)>, operands: Vec<Value<'m>>) -> bool {
        let block = operands[0].is_instruction().then(|| operands[0].block());
        let is_phi = |operand: &Value<'m>| operand.is(Opcode::LLVMPHI) && Some(operand.block()) == block;
        if !operands.iter().all(is_phi) {
            return self.add_loads(loads, operands);
        }
        let from = |origin: Block<'m>| -> Option<Vec<Value<'m>>> {
            let value = |phi: &Value<'m>| {
                phi.incoming().into_iter().find(|(_, block)| *block == origin).map(|(value, _)| value)
            };
            operands.iter().map(value).collect()
        };
        let origins: Vec<Block<'m>> = operands[0].incoming().into_iter().map(|(_, block)| block).collect();
        let added = origins.into_iter().filter_map(from).map(|values| self.add_loads(loads, values));
        // Every origin is added, also after one that could be.
        added.filter(|is_group| *is_group).count() > 0
    }

    /// Adds a group of loads; false if they cannot be one.
    fn add_loads(&mut self, loads: &FxHashMap<Value<'m>, (usize, Load<'m>)>, members: Vec<Value<'m>>) -> bool {
        let found: Vec<(usize, Load<'m>)> =
            members.iter().filter_map(|member| loads.get(member).copied()).collect();
        let distinct: FxHashSet<Value<'m>> = members.iter().copied().collect();
        let is_free = |member: &Value<'m>| !self.members.contains(member);
        let fits = found.len() == members.len() && found.iter().all(|(_, load)| load.fits(&found[0].1));
        if !fits
            || distinct.len() != members.len()
            || !matches!(members.len(), 2 | 4)
            || !members.iter().all(is_free)
        {
            return false;
        }
        let first = members.iter().zip(&found).min_by_key(|(_, (place, _))| *place).map(|(&member, _)| member);
        let Some(first) = first else { return false };
        let Load { is_transposed, base, stride, .. } = found[0].1;
        let offsets = found.iter().map(|(_, load)| load.offset).collect();
        self.members.extend(members.iter().copied());
        self.at.insert(first, Group { loads: members, is_transposed, base, stride, offsets });
        true
    }
}

/// The left operands of a product, in the order of its registers.
pub(super) fn left<'m>(tile: &Tile<'m>) -> Vec<Value<'m>> {
    let steps = tile.columns[0].calls.len();
    let of_step = |step: usize| tile.columns.iter().map(move |column| column.calls[step].operand(0));
    (0..steps).flat_map(of_step).collect()
}

/// All loads that may be in a group, with their places in the code.
pub(super) fn loads<'m>(
    module: ModuleRef<'m>,
    instructions: &[Value<'m>],
    right: &FxHashSet<Value<'m>>,
) -> FxHashMap<Value<'m>, (usize, Load<'m>)> {
    let mut found = FxHashMap::default();
    let mut blocks: Vec<Block<'m>> = instructions.iter().map(|instruction| instruction.block()).collect();
    blocks.dedup();
    let (mut epoch, mut place) = (0, 0);
    for block in blocks {
        epoch += 1;
        for instruction in block.instructions() {
            place += 1;
            if may_write(instruction) {
                epoch += 1;
            } else if let Some(load) = load(module, instruction, right, epoch) {
                found.insert(instruction, (place, load));
            }
        }
    }
    found
}

/// True if an instruction may write threadgroup memory, or wait for others that do.
fn may_write(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMStore => instruction.operand(1).ty().address_space() != 1,
        Opcode::LLVMCall => {
            let name = instruction.callee().map(Value::name).unwrap_or_default();
            let reads = [NAME, "air.simdgroup_matrix_8x8_multiply", "air.simdgroup_matrix_8x8_init"];
            let is_arithmetic =
                ["llvm.fma", "llvm.umin", "llvm.umax", "llvm.smin", "llvm.smax", "llvm.minnum", "llvm.maxnum"];
            !reads.iter().chain(&is_arithmetic).any(|start| name.starts_with(start))
        }
        Opcode::LLVMFence | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        _ => false,
    }
}

fn load<'m>(
    module: ModuleRef<'m>,
    call: Value<'m>,
    right: &FxHashSet<Value<'m>>,
    epoch: usize,
) -> Option<Load<'m>> {
    let name = if call.is(Opcode::LLVMCall) { call.callee().map(Value::name) } else { None }?;
    if !matches!(name.strip_prefix(NAME)?, "v64f16.p3f16" | "v64bf16.p3bf16") {
        return None;
    }
    let [pointer, elements_per_row, origin, transpose] = call.arguments()[..] else { return None };
    let stride = elements_per_row.as_int()?.checked_mul(2).filter(|stride| stride % i64::from(ROW) == 0)?;
    let is_origin_zero =
        [0, 1].iter().all(|&index| origin.constant_element(index).and_then(Value::as_int) == Some(0));
    if !is_origin_zero || pointer.ty().address_space() != SHARED || !is_aligned(module, pointer, ROW) {
        return None;
    }
    let (base, offset) = without_constants(Layout::of(module), pointer);
    let is_transposed = (transpose.as_int()? != 0) != right.contains(&call);
    Some(Load { is_transposed, base, offset, stride, block: call.block(), epoch })
}

/// A pointer as another one and a number of bytes.
fn without_constants<'m>(layout: Layout<'m>, pointer: Value<'m>) -> (Value<'m>, i64) {
    let (mut base, mut total) = (pointer, 0i64);
    while base.is_instruction() || base.is_constant_expression() {
        if base.opcode() != Opcode::LLVMGetElementPtr {
            break;
        }
        let Some(offset) = constant_offset(layout, base).and_then(|offset| total.checked_add(offset)) else {
            break;
        };
        (base, total) = (base.operand(0), offset);
    }
    (base, total)
}

/// The bytes that an address computation adds, if they are known.
fn constant_offset<'m>(layout: Layout<'m>, address: Value<'m>) -> Option<i64> {
    let mut stepped = address.source_element_type();
    let mut total = 0i64;
    for (position, index) in address.operands().into_iter().skip(1).enumerate() {
        let index = index.as_int()?;
        let step = if position == 0 {
            i64::try_from(layout.size(stepped)).ok()?.checked_mul(index)?
        } else if stepped.is_struct() {
            let member = usize::try_from(index).ok()?;
            let offset = layout.offset(stepped, member);
            stepped = stepped.members()[member];
            i64::try_from(offset).ok()?
        } else {
            stepped = stepped.element();
            i64::try_from(layout.size(stepped)).ok()?.checked_mul(index)?
        };
        total = total.checked_add(step)?;
    }
    Some(total)
}

impl<'m> Group<'m> {
    /// Loads all matrices: a register of 32 bits for each, with two elements of a row, or of a column.
    pub(super) fn emit(&self, b: &Builder<'m>) -> Vec<Value<'m>> {
        let long = Type::int(b.context(), 64);
        let lane = lane(b);
        let int = lane.ty();
        let part = |shift: i64, mask: i64| {
            b.and(b.binary(Opcode::LLVMLShr, lane, int.constant(shift)), int.constant(mask))
        };
        // Eight lanes for each matrix. The first offset is left out: it is a part of the instruction.
        let offset = |index: usize| self.offsets[index] - self.offsets[0];
        let mut own = b.mul(part(0, 7), int.constant(self.stride));
        own = b.add(own, b.mul(part(3, 1), int.constant(offset(1))));
        if self.offsets.len() == 4 {
            own = b.add(own, b.mul(part(4, 1), int.constant(offset(2))));
            // Zero where the matrices are the corners of a larger one.
            let both = b.and(part(3, 1), part(4, 1));
            own = b.add(own, b.mul(both, int.constant(offset(3) - offset(1) - offset(2))));
        }
        let row = b.offset(self.base, b.sext(own, long));
        let address = b.offset(row, long.constant(self.offsets[0]));
        let name = match (self.offsets.len(), self.is_transposed) {
            (4, false) => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
            (4, true) => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16",
            (_, false) => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16",
            (_, true) => "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
        };
        let registers = b.intrinsic(name, &[address.ty()], &[address]);
        (0..self.offsets.len()).map(|index| b.extract_value(registers, index as u32)).collect()
    }
}
