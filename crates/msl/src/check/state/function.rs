//! The function whose body is being checked.

use crate::check::tables::{EntityId, Request};
use crate::program::{FunctionId, Local, LocalId, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smol_str::SmolStr;
use std::rc::Rc;

/// Facts about a function that are known before its body is checked.
#[derive(Default)]
pub(in crate::check) struct FunctionStart {
    pub(in crate::check) id: Option<FunctionId>,
    pub(in crate::check) entity: Option<EntityId>,
    /// Parameters, `this` first.
    pub(in crate::check) locals: Vec<Local>,
    /// Result type; `None` while `auto` is not deduced.
    pub(in crate::check) result: Option<Ty>,
    pub(in crate::check) this: Option<LocalId>,
    /// Number of instantiations that led to this function.
    pub(in crate::check) depth: usize,
    /// The instantiation that this function is.
    pub(in crate::check) request: Option<Rc<Request>>,
    pub(in crate::check) is_kernel: bool,
    pub(in crate::check) is_lambda: bool,
}

pub(in crate::check) struct FunctionState {
    start: FunctionStart,
    /// The result was deduced from a return statement.
    is_deduced: bool,
    loops: u32,
    switches: u32,
    used_locals: HashSet<LocalId>,
    /// Values of constants, for array sizes and template arguments.
    known_locals: HashMap<LocalId, Value>,
}

impl FunctionState {
    pub(in crate::check) fn new(start: FunctionStart) -> FunctionState {
        FunctionState {
            start,
            is_deduced: false,
            loops: 0,
            switches: 0,
            used_locals: HashSet::default(),
            known_locals: HashMap::default(),
        }
    }

    /// Not inside a function.
    pub(in crate::check) fn outside() -> FunctionState {
        FunctionState::new(FunctionStart::default())
    }

    pub(in crate::check) fn id(&self) -> Option<FunctionId> {
        self.start.id
    }

    pub(in crate::check) fn entity(&self) -> Option<EntityId> {
        self.start.entity
    }

    pub(in crate::check) fn depth(&self) -> usize {
        self.start.depth
    }

    pub(in crate::check) fn request(&self) -> Option<Rc<Request>> {
        self.start.request.clone()
    }

    pub(in crate::check) fn is_kernel(&self) -> bool {
        self.start.is_kernel
    }

    pub(in crate::check) fn is_lambda(&self) -> bool {
        self.start.is_lambda
    }

    // --- this --------------------------------------------------------------------------------------------------

    pub(in crate::check) fn this(&self) -> Option<LocalId> {
        self.start.this
    }

    /// Sets `this`; returns the old one.
    pub(in crate::check) fn replace_this(&mut self, this: Option<LocalId>) -> Option<LocalId> {
        std::mem::replace(&mut self.start.this, this)
    }

    // --- result ------------------------------------------------------------------------------------------------

    /// Result type; `None` while `auto` is not deduced.
    pub(in crate::check) fn result(&self) -> Option<Ty> {
        self.start.result
    }

    pub(in crate::check) fn set_result(&mut self, result: Ty) {
        self.start.result = Some(result);
    }

    /// True if return statements give the result its type.
    pub(in crate::check) fn deduces_result(&self) -> bool {
        self.start.result.is_none() || self.is_deduced
    }

    /// Marks the result as deduced; returns the type so far.
    pub(in crate::check) fn deduce_result(&mut self) -> Option<Ty> {
        self.is_deduced = true;
        self.start.result
    }

    // --- variables ---------------------------------------------------------------------------------------------

    pub(in crate::check) fn locals(&self) -> &[Local] {
        &self.start.locals
    }

    pub(in crate::check) fn into_locals(self) -> Vec<Local> {
        self.start.locals
    }

    pub(in crate::check) fn local(&self, id: LocalId) -> &Local {
        &self.start.locals[id.0 as usize]
    }

    pub(in crate::check) fn find_local(&self, id: LocalId) -> Option<&Local> {
        self.start.locals.get(id.0 as usize)
    }

    pub(in crate::check) fn local_mut(&mut self, id: LocalId) -> &mut Local {
        &mut self.start.locals[id.0 as usize]
    }

    pub(in crate::check) fn add_local(
        &mut self,
        name: SmolStr,
        ty: QualTy,
        space: AddressSpace,
        span: Span,
    ) -> LocalId {
        self.start.locals.push(Local { name, ty, space, min_align: 1, span });
        LocalId(self.start.locals.len() as u32 - 1)
    }

    pub(in crate::check) fn mark_used(&mut self, id: LocalId) {
        self.used_locals.insert(id);
    }

    /// Named variables after the first `params` that nothing uses.
    pub(in crate::check) fn unused_locals(&self, params: usize) -> impl Iterator<Item = &Local> {
        let is_named = |local: &Local| local.name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let locals = self.start.locals.iter().enumerate().skip(params);
        locals
            .filter(move |(index, local)| is_named(local) && !self.used_locals.contains(&LocalId(*index as u32)))
            .map(|(_, local)| local)
    }

    /// Keeps the value of a constant.
    pub(in crate::check) fn remember(&mut self, id: LocalId, value: Value) {
        self.known_locals.insert(id, value);
    }

    pub(in crate::check) fn known(&self, id: LocalId) -> Option<&Value> {
        self.known_locals.get(&id)
    }

    pub(in crate::check) fn known_locals(&self) -> &HashMap<LocalId, Value> {
        &self.known_locals
    }

    // --- loops and switches ------------------------------------------------------------------------------------

    pub(in crate::check) fn is_in_loop(&self) -> bool {
        self.loops > 0
    }

    pub(in crate::check) fn is_in_switch(&self) -> bool {
        self.switches > 0
    }

    pub(in crate::check) fn enter_loop(&mut self) {
        self.loops += 1;
    }

    pub(in crate::check) fn leave_loop(&mut self) {
        self.loops -= 1;
    }

    /// Hides the switches around a loop from its body; [`FunctionState::show_switches`] takes the returned number.
    pub(in crate::check) fn hide_switches(&mut self) -> u32 {
        std::mem::replace(&mut self.switches, 0)
    }

    pub(in crate::check) fn show_switches(&mut self, switches: u32) {
        self.switches = switches;
    }

    pub(in crate::check) fn enter_switch(&mut self) {
        self.switches += 1;
    }

    pub(in crate::check) fn leave_switch(&mut self) {
        self.switches -= 1;
    }
}
