//! Simdgroup matrices of 8×8 elements, which AIR writes as `<64 x T>`. Each lane holds two elements side by side, a
//! `<2 x T>` (bfloat as its bits), in one of two orders:
//!
//! * [`Order::Fragment`], that of the GPU's matrix instructions: row `lane / 4`, columns `2 · (lane % 4)` and the next;
//! * [`Order::Metal`], that of `thread_elements()`: row `4·b4 + 2·b2 + b1`, columns `4·b3 + 2·b0` and the next, where
//!   b is the lane's number in bits.
//!
//! Both keep pairs of elements together, so that one becomes the other by a shuffle. Loads, stores and products have
//! and make fragments; code that looks at elements, and private memory, have Metal's order. A matrix gets its other
//! order where it is defined, when something needs it: all lanes are there, even if a use is in a branch.

use super::fragments::{Group, Groups};
use super::lanes::{Active, from_lane, lane};
use super::tiles::{Tile, Tiles};
use super::warpgroups::{self, Products};
use super::{Error, Result, Units, product, rights};
use crate::ir::{Block, Builder, Opcode, Rewrite, Type, Value};
use crate::thread::graph::Graph;
use crate::thread::shapes::shuffle_pattern;
use crate::thread::types::MATRIX;
use rustc_hash::{FxHashMap, FxHashSet};

/// The order of the elements in the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Order {
    Fragment,
    Metal,
}

/// True for the type of a matrix.
pub(super) fn is_matrix(ty: Type) -> bool {
    ty.is_vector() && ty.length() == MATRIX
}

/// The type of a lane's two elements.
fn pair(ty: Type) -> Type {
    match ty.element() {
        element if element.is_bfloat() => Type::int(ty.context(), 16).vector(2),
        element => element.vector(2),
    }
}

/// Rewrites all matrices of the kernel `name`, with the instructions for their products that the GPU has. True if there are
/// products of warpgroups.
pub(super) fn rewrite<'m>(rewrite: &'m Rewrite<'m>, name: &str, units: Units) -> Result<bool> {
    let module = rewrite.module();
    let kernel = crate::thread::kernel(module, name)?;
    let graph = Graph::new(kernel).ok_or_else(|| Error::Internal("a cycle with two entries".into()))?;
    let instructions: Vec<Value<'m>> = graph.blocks.iter().flat_map(|block| block.instructions()).collect();
    let concerns = |value: &Value<'m>| {
        is_matrix(value.ty()) || value.operands().into_iter().any(|operand| is_matrix(operand.ty()))
    };
    let instructions: Vec<Value<'m>> = instructions.into_iter().filter(concerns).collect();
    if instructions.is_empty() {
        return Ok(false);
    }
    let has_products = units != Units::None;
    let in_metal_order = in_metal_order(&instructions);
    let tiles = if has_products { Tiles::find(&instructions) } else { Tiles::none() };
    let right = rights::find(&instructions, &tiles);
    let of_warpgroups = match units {
        Units::Warpgroups => Products::find(module, &instructions, &tiles),
        Units::None | Units::Simdgroups => Products::none(),
    };
    let has_warpgroups = !of_warpgroups.at.is_empty();
    let groups = Groups::find(module, &instructions, &tiles, &right, &of_warpgroups.loads);
    let mut pass = Matrices {
        b: Builder::new(module),
        conversions: Builder::new(module),
        has_products,
        of_warpgroups,
        tiles,
        groups,
        right,
        rights: FxHashMap::default(),
        transposed: FxHashMap::default(),
        in_metal_order,
        known: FxHashMap::default(),
    };
    for &instruction in &instructions {
        pass.instruction(instruction)?;
    }
    if has_warpgroups {
        warpgroups::announce_stores(&pass.b, &graph.blocks);
    }
    for &phi in instructions.iter().filter(|value| value.is(Opcode::LLVMPHI)) {
        pass.complete(phi);
    }
    for &old in instructions.iter().rev() {
        if old.has_use() {
            old.replace_all_uses_with(old.ty().poison());
        }
        rewrite.erase(old);
    }
    Ok(has_warpgroups)
}

/// The matrices that are made in Metal's order: those with an element set by code, those from memory, and those that
/// may be one of these.
fn in_metal_order<'m>(instructions: &[Value<'m>]) -> FxHashSet<Value<'m>> {
    let mut found: FxHashSet<Value<'m>> = FxHashSet::default();
    loop {
        let before = found.len();
        for &value in instructions {
            let is_metal = match value.opcode() {
                Opcode::LLVMInsertElement | Opcode::LLVMShuffleVector | Opcode::LLVMLoad => true,
                Opcode::LLVMPHI => value.incoming().iter().any(|(incoming, _)| found.contains(incoming)),
                Opcode::LLVMSelect | Opcode::LLVMFreeze | Opcode::LLVMBitCast => {
                    value.operands().iter().any(|operand| found.contains(operand))
                }
                _ => false,
            };
            if is_metal && is_matrix(value.ty()) {
                found.insert(value);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

struct Matrices<'m> {
    b: Builder<'m>,
    /// For code in other places.
    conversions: Builder<'m>,
    has_products: bool,
    of_warpgroups: Products<'m>,
    tiles: Tiles<'m>,
    groups: Groups<'m>,
    /// Matrices that are right operands of products alone, and their registers.
    right: FxHashSet<Value<'m>>,
    rights: FxHashMap<Value<'m>, Vec<Value<'m>>>,
    /// Right operands of products, transposed, by their block.
    transposed: FxHashMap<(Value<'m>, Block<'m>), Vec<Value<'m>>>,
    in_metal_order: FxHashSet<Value<'m>>,
    known: FxHashMap<(Value<'m>, Order), Value<'m>>,
}

impl<'m> Matrices<'m> {
    fn order(&self, value: Value<'m>) -> Order {
        if self.in_metal_order.contains(&value) { Order::Metal } else { Order::Fragment }
    }

    fn instruction(&mut self, old: Value<'m>) -> Result<()> {
        self.b.before(old);
        if self.of_warpgroups.loads.contains(&old) {
            return Ok(());
        }
        if self.of_warpgroups.members.contains(&old) {
            if let Some(product) = self.of_warpgroups.at.get(&old).cloned() {
                self.warpgroup_product(&product);
            }
            return Ok(());
        }
        if self.tiles.members.contains(&old) {
            if let Some(tile) = self.tiles.at.get(&old).cloned() {
                self.tile(&tile);
            }
            return Ok(());
        }
        if self.groups.members.contains(&old) {
            if let Some(group) = self.groups.at.get(&old).cloned() {
                self.load_group(&group);
            }
            return Ok(());
        }
        if self.right.contains(&old) {
            return self.right(old);
        }
        let order = self.order(old);
        let new = match old.opcode() {
            Opcode::LLVMPHI => self.b.phi(pair(old.ty())),
            Opcode::LLVMSelect => {
                let (yes, no) = (self.get(old.operand(1), order), self.get(old.operand(2), order));
                self.b.select(old.operand(0), yes, no)
            }
            Opcode::LLVMFreeze => {
                let value = self.get(old.operand(0), order);
                self.b.freeze(value)
            }
            // The elements stay where they are: those of 8×8 integers of the same size.
            Opcode::LLVMBitCast if is_matrix(old.ty()) && is_matrix(old.operand(0).ty()) => {
                let value = self.get(old.operand(0), order);
                self.b.bitcast(value, pair(old.ty()))
            }
            Opcode::LLVMLoad => {
                let load = self.b.load(pair(old.ty()), old.operand(0), old.alignment());
                load.set_volatile(old.is_volatile());
                load
            }
            Opcode::LLVMStore => {
                let value = self.get(old.operand(0), Order::Metal);
                let store = self.b.store(value, old.operand(1), old.alignment());
                store.set_volatile(old.is_volatile());
                return Ok(());
            }
            Opcode::LLVMInsertElement => {
                let matrix = self.get(old.operand(0), Order::Metal);
                let element = self.b.bitcast(old.operand(1), matrix.ty().element());
                self.b.insert(matrix, element, old.operand(2))
            }
            Opcode::LLVMExtractElement => {
                let matrix = self.get(old.operand(0), Order::Metal);
                let element = self.b.extract(matrix, old.operand(1));
                old.replace_all_uses_with(self.b.bitcast(element, old.ty()));
                return Ok(());
            }
            Opcode::LLVMShuffleVector => {
                let new = self.shuffle(old);
                if !is_matrix(old.ty()) {
                    old.replace_all_uses_with(new);
                    return Ok(());
                }
                new
            }
            Opcode::LLVMCall => match self.call(old)? {
                Some(new) => new,
                None => return Ok(()),
            },
            _ => return Err(Error::Unsupported(format!("this use of a simdgroup matrix ({})", old.text().trim()))),
        };
        self.known.insert((old, order), new);
        Ok(())
    }

    /// Elements from matrices or short vectors to one of these.
    fn shuffle(&mut self, old: Value<'m>) -> Value<'m> {
        let place = |index: usize| Type::int(old.ty().context(), 32).constant(index as i64);
        let operands = [0, 1].map(|side| match old.operand(side) {
            operand if is_matrix(operand.ty()) => self.get(operand, Order::Metal),
            operand => operand,
        });
        let ty = if is_matrix(old.ty()) { pair(old.ty()) } else { old.ty() };
        let picks = shuffle_pattern(old).into_iter().enumerate();
        picks.filter_map(|(to, pick)| Some((to, pick?))).fold(ty.poison(), |result, (to, (side, from))| {
            let element = self.b.extract(operands[side], place(from));
            self.b.insert(result, self.b.bitcast(element, ty.element()), place(to))
        })
    }

    fn call(&mut self, old: Value<'m>) -> Result<Option<Value<'m>>> {
        let name = old.callee().map(Value::name).unwrap_or_default();
        let argument = |value: Value<'m>| match is_matrix(value.ty()) {
            true => self.get(value, Order::Fragment),
            false => value,
        };
        let arguments: Vec<Value<'m>> = old.arguments().into_iter().map(argument).collect();
        let call = product::Call {
            name: &name,
            arguments: &arguments,
            flags: old.fast_math().unwrap_or(0),
            has_products: self.has_products,
        };
        product::emit(&self.b, &call).map_err(Error::Unsupported)
    }

    /// A matrix that is a right operand of products alone.
    fn right(&mut self, old: Value<'m>) -> Result<()> {
        let registers = if old.is(Opcode::LLVMPHI) {
            let count = product::right_registers(pair(old.ty()));
            (0..count).map(|_| self.b.phi(Type::int(old.ty().context(), 32))).collect()
        } else {
            let name = old.callee().map(Value::name).unwrap_or_default();
            match product::load_right(&self.b, &name, &old.arguments()) {
                Some(registers) => registers,
                None => {
                    let fragment = self.call(old)?.unwrap_or_else(|| pair(old.ty()).poison());
                    product::transposed(&self.b, fragment)
                }
            }
        };
        self.rights.insert(old, registers);
        Ok(())
    }

    /// Several matrices by one instruction.
    fn load_group(&mut self, group: &Group<'m>) {
        for (&load, register) in group.loads.iter().zip(group.emit(&self.b)) {
            if self.right.contains(&load) {
                self.rights.insert(load, vec![register]);
            } else {
                let fragment = self.b.bitcast(register, pair(load.ty()));
                self.known.insert((load, Order::Fragment), fragment);
            }
        }
    }

    /// Several products in one instruction.
    fn tile(&mut self, tile: &Tile<'m>) {
        let block = self.b.block();
        let first = &tile.columns[0];
        let rights: Vec<Value<'m>> = first.calls.iter().map(|call| call.operand(1)).collect();
        let rights = rights.into_iter().map(|right| {
            if let Some(registers) = self.rights.get(&right) {
                return registers.clone();
            }
            let fragment = self.get(right, Order::Fragment);
            let transposed = self.transposed.entry((right, block));
            transposed.or_insert_with(|| product::transposed(&self.b, fragment)).clone()
        });
        let rights: Vec<Vec<Value<'m>>> = rights.collect();
        let mut columns = Vec::new();
        for column in &tile.columns {
            let lefts = column.calls.iter().map(|call| self.get(call.operand(0), Order::Fragment));
            let lefts: Vec<Value<'m>> = lefts.collect();
            let sum = self.get(column.calls[0].operand(2), Order::Fragment);
            columns.push((lefts, sum));
        }
        let sums = product::tile(&self.b, &rights, &columns);
        for (column, sum) in tile.columns.iter().zip(sums) {
            self.known.insert((column.last(), Order::Fragment), sum);
        }
    }

    /// A product of warpgroups, and the wait for it.
    fn warpgroup_product(&mut self, product: &warpgroups::Product<'m>) {
        let int = Type::int(self.b.context(), 32);
        let left = product.left.iter().map(|&left| self.get(left, Order::Fragment)).collect::<Vec<_>>();
        let left: Vec<Value<'m>> = left.into_iter().map(|left| self.b.bitcast(left, int)).collect();
        let sums = product.columns().map(|column| self.get(column.calls[0].operand(2), Order::Fragment));
        let sums: Vec<Value<'m>> = sums.collect();
        let results = warpgroups::emit(&self.b, product, &left, &sums);
        for (column, result) in product.columns().zip(results) {
            self.known.insert((column.last(), Order::Fragment), result);
        }
        if let Some((results, until)) = &product.wait {
            warpgroups::commit(&self.b);
            let sums: Vec<Value<'m>> = results.iter().map(|&result| self.get(result, Order::Fragment)).collect();
            self.b.before(*until);
            for (&result, sum) in results.iter().zip(warpgroups::wait(&self.b, &sums)) {
                self.known.insert((result, Order::Fragment), sum);
            }
        }
    }

    /// Gives a new phi its values.
    fn complete(&mut self, old: Value<'m>) {
        if let Some(phis) = self.rights.get(&old) {
            for (value, block) in old.incoming() {
                for (&phi, &register) in phis.iter().zip(self.rights.get(&value).into_iter().flatten()) {
                    self.b.add_incoming(phi, register, block);
                }
            }
            return;
        }
        let order = self.order(old);
        let Some(&new) = self.known.get(&(old, order)) else { return };
        for (value, block) in old.incoming() {
            let value = self.get(value, order);
            self.b.add_incoming(new, value, block);
        }
    }

    /// A matrix in an order.
    fn get(&mut self, old: Value<'m>, order: Order) -> Value<'m> {
        if let Some(&known) = self.known.get(&(old, order)) {
            return known;
        }
        if old.is_constant() {
            return self.constant(old);
        }
        let other = match order {
            Order::Fragment => Order::Metal,
            Order::Metal => Order::Fragment,
        };
        // Blocks come after those that dominate them, so that it is there.
        let Some(&defined) = self.known.get(&(old, other)) else { return pair(old.ty()).poison() };
        let converted = self.converted(defined, order);
        self.known.insert((old, order), converted);
        converted
    }

    /// All lanes have the same two elements.
    fn constant(&self, old: Value<'m>) -> Value<'m> {
        let ty = pair(old.ty());
        if old.is_undef() {
            return ty.poison();
        }
        let element = |index| {
            let element = old.constant_element(index).unwrap_or_else(|| old.ty().element().poison());
            self.b.bitcast(element, ty.element())
        };
        Value::constant_vector(&[element(0), element(1)])
    }

    /// Changes the order of a matrix, right after its definition.
    fn converted(&self, defined: Value<'m>, to: Order) -> Value<'m> {
        if !defined.is_instruction() {
            return defined;
        }
        let b = &self.conversions;
        let mut following =
            defined.block().instructions().into_iter().skip_while(|other| *other != defined).skip(1);
        let next = following.find(|other| !other.is(Opcode::LLVMPHI));
        match next {
            Some(next) => b.before(next),
            None => b.at_end(defined.block()),
        }
        let from = source_lane(b, to);
        from_lane(b, Active::full(b), defined, from)
    }
}

/// The lane that has the elements which this lane gets.
fn source_lane<'m>(b: &Builder<'m>, to: Order) -> Value<'m> {
    let lane = lane(b);
    let ty = lane.ty();
    // Bit by bit: the one at the first place goes to the second.
    let bits: [(i64, i64); 5] = match to {
        Order::Metal => [(4, 4), (2, 3), (1, 2), (3, 1), (0, 0)],
        Order::Fragment => [(4, 4), (1, 3), (3, 2), (2, 1), (0, 0)],
    };
    bits.into_iter().fold(ty.zero(), |all, (from, to)| {
        let bit = b.and(b.binary(Opcode::LLVMLShr, lane, ty.constant(from)), ty.constant(1));
        b.or(all, b.binary(Opcode::LLVMShl, bit, ty.constant(to)))
    })
}
