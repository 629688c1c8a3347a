//! The variables of a cycle that parameters and results pass through.
//!
//! Functions share them by type: a parameter is copied when its function starts, and a result when its caller goes on.
//! Variables of their own would have to be kept by every state for the function that may be called next, so that the code
//! would grow with the product of functions and calls.

use crate::ir::{Type, Value};

pub(super) struct Passing<'m> {
    /// The types of the variables for results.
    pub(super) results: Vec<Type<'m>>,
    /// The types of the variables for parameters.
    pub(super) parameters: Vec<Type<'m>>,
}

impl<'m> Passing<'m> {
    pub(super) fn new(cycle: &[Value<'m>]) -> Passing<'m> {
        let mut passing = Passing { results: Vec::new(), parameters: Vec::new() };
        for function in cycle {
            let ty = function.function_type();
            let result = ty.result_type();
            if !result.is_void() && !passing.results.contains(&result) {
                passing.results.push(result);
            }
            let mut taken = vec![false; passing.parameters.len()];
            for parameter in ty.parameter_types() {
                if passing.take(parameter, &mut taken).is_none() {
                    passing.parameters.push(parameter);
                    taken.push(true);
                }
            }
        }
        passing
    }

    /// The first variable of a type that is not taken.
    fn take(&self, ty: Type<'m>, taken: &mut [bool]) -> Option<usize> {
        let position = (0..taken.len()).find(|&position| !taken[position] && self.parameters[position] == ty)?;
        taken[position] = true;
        Some(position)
    }

    /// The variables in which the parameters of a function arrive.
    pub(super) fn arrives(&self, function: Value<'m>) -> Vec<usize> {
        let mut taken = vec![false; self.parameters.len()];
        let types = function.function_type().parameter_types();
        types.into_iter().map(|ty| self.take(ty, &mut taken).expect("a variable")).collect()
    }

    /// The variable for the result of a function, if it has one.
    pub(super) fn result(&self, function: Value<'m>) -> Option<usize> {
        let ty = function.function_type().result_type();
        self.results.iter().position(|&other| other == ty)
    }
}
