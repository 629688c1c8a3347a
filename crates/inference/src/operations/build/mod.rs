//! Operations with buffers for them, through the functions that inference calls: a file for each kind.

pub(in crate::operations) mod attention;
pub(in crate::operations) mod elementwise;
pub(in crate::operations) mod position;
pub(in crate::operations) mod products;
pub(in crate::operations) mod rows;
pub(in crate::operations) mod sampling;
pub(in crate::operations) mod sequence;

use crate::operations::data::{Maker, Problem, Workload};

type Built = Result<Workload, Problem>;
