//! The function whose body is being checked.

use crate::check::tables::Request;
use crate::program::{FunctionId, LocalId, Value};
use crate::types::Ty;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::rc::Rc;

/// The function whose body is being checked.
pub(in crate::check) struct FunctionState {
    pub(in crate::check) id: Option<FunctionId>,
    pub(in crate::check) locals: Vec<crate::program::Local>,
    /// What it returns; `None` while `auto` is not deduced.
    pub(in crate::check) result: Option<Ty>,
    pub(in crate::check) this: Option<LocalId>,
    pub(in crate::check) loops: u32,
    pub(in crate::check) switches: u32,
    /// How many instantiations led to this function.
    pub(in crate::check) depth: usize,
    /// The instantiation that it is.
    pub(in crate::check) request: Option<Rc<Request>>,
    /// The result was deduced from a return statement.
    pub(in crate::check) is_deduced: bool,
    pub(in crate::check) is_kernel: bool,
    pub(in crate::check) is_lambda: bool,
    pub(in crate::check) used_locals: HashSet<LocalId>,
    /// The values of constants, for array sizes and template arguments.
    pub(in crate::check) known_locals: HashMap<LocalId, Value>,
}

impl FunctionState {
    /// Not inside a function.
    pub(in crate::check) fn outside() -> FunctionState {
        FunctionState {
            id: None,
            locals: Vec::new(),
            result: None,
            this: None,
            loops: 0,
            switches: 0,
            depth: 0,
            request: None,
            is_deduced: false,
            is_kernel: false,
            is_lambda: false,
            used_locals: HashSet::default(),
            known_locals: HashMap::default(),
        }
    }
}
