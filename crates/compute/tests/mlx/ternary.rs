//! `Select`, the only kernel of three inputs, in all layouts.

use crate::array::{DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case};
use crate::layout::Layout;
use crate::random::Random;

/// All selections that begin with `prefix`.
pub(crate) fn cases(prefix: &'static str) -> impl Iterator<Item = Case> {
    harness::names(&format!("{prefix}_Select")).into_iter().filter_map(move |name| {
        let dtype = DType::named(name.strip_prefix(&format!("{prefix}_Select"))?)?;
        let layout = Layout::new(prefix, 3, dtype)?;
        let mut random = Random::new(&name);
        let condition = random.array(DType::Bool, layout.input_length(0), 0.0, 1.0);
        let [yes, no] = [1, 2].map(|input| random.array(dtype, layout.input_length(input), -100.0, 100.0));
        let chosen = |element: usize| {
            let [condition_at, yes_at, no_at] = [0, 1, 2].map(|input| layout.locations[input][element]);
            if condition.values[condition_at] == Scalar::Int(1) { yes.values[yes_at] } else { no.values[no_at] }
        };
        let expected: Vec<Scalar> = (0..layout.length).map(chosen).collect();
        let mut case = Case::new(&name, layout.grid).input(&condition).input(&yes).input(&no);
        case = case.bind(Argument::output(dtype, expected, Tolerance::EXACT));
        for extra in layout.extras {
            case = case.bind(extra);
        }
        Some(case)
    })
}
