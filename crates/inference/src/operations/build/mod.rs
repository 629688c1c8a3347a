//! Operations with buffers for them, through the functions that inference calls: a file for each kind.

pub(crate) mod attention;
pub(crate) mod elementwise;
pub(crate) mod position;
pub(crate) mod products;
pub(crate) mod rows;
pub(crate) mod sampling;
pub(crate) mod sequence;

use crate::operations::data::{Maker, Problem, Workload};

type Built = Result<Workload, Problem>;
