//! Copies with type conversion: `v_copyfloat32int8` and its relatives.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case};
use crate::layout::{Layout, Strided, strided_locations};
use crate::random::Random;

/// All copies that begin with `prefix`, to a contiguous output.
pub(crate) fn cases(prefix: &'static str) -> impl Iterator<Item = Case> {
    harness::names(&format!("{prefix}_copy")).into_iter().filter_map(move |name| {
        let (rest, output) = DType::suffix(name.strip_prefix(&format!("{prefix}_copy"))?)?;
        let input = DType::named(rest)?;
        let layout = Layout::new(prefix, 1, output)?;
        let source = source(&name, input, output, layout.input_length(0));
        let expected: Vec<Scalar> =
            layout.locations[0].iter().map(|location| convert(source.values[*location], output)).collect();
        let case =
            Case::new(&name, layout.grid).input(&source).bind(Argument::output(output, expected, Tolerance::EXACT));
        Some(match layout.strided {
            None => layout.extras.into_iter().fold(case, Case::bind),
            Some(strided) => bind_strides(case, &strided),
        })
    })
}

/// Copies to a strided output (`gg`); the dynamic ones begin at an offset.
pub(crate) fn strided_cases(prefix: &'static str) -> impl Iterator<Item = Case> {
    [false, true].into_iter().flat_map(move |is_dynamic| strided_cases_of(prefix, is_dynamic))
}

fn strided_cases_of(prefix: &'static str, is_dynamic: bool) -> impl Iterator<Item = Case> {
    let start = format!("g{prefix}_{}copy", if is_dynamic { "dynamic_" } else { "" });
    harness::names(&start).into_iter().filter_map(move |name| {
        let (_, dtype) = DType::suffix(&name)?;
        let layout = Layout::new(prefix, 2, dtype)?;
        let strided = layout.strided?;
        let (from, to) = if is_dynamic { (5, 9) } else { (0, 0) };
        let mut source = source(&name, dtype, dtype, from + layout.locations[0].iter().max()? + 1);
        let targets = strided_locations(&strided.shape, &strided.strides[1]);
        let mut expected = vec![None; to + targets.iter().max()? + 1];
        for (location, target) in layout.locations[0].iter().zip(&targets) {
            expected[to + target] = Some(source.values[from + location]);
        }
        source.dtype = dtype;
        let mut case =
            Case::new(&name, layout.grid).input(&source).bind(Argument::sparse(dtype, expected, Tolerance::EXACT));
        case = bind_strides(case, &strided).bind_at(4, Argument::longs(&strided.strides[1]));
        if is_dynamic {
            case = case.bind_at(6, Argument::long(from as i64)).bind_at(7, Argument::long(to as i64));
        }
        Some(case)
    })
}

/// Shape, source strides and number of dimensions have fixed indices, and are there only where they are used.
fn bind_strides(mut case: Case, strided: &Strided) -> Case {
    if strided.is_general {
        case = case.bind_at(2, Argument::ints(&strided.shape));
        case = case.bind_at(5, Argument::int(strided.shape.len() as i32));
    }
    case.bind_at(3, Argument::longs(&strided.strides[0]))
}

/// Numbers that the output can hold: beyond that, C++ leaves the result of a conversion open.
fn source(name: &str, input: DType, output: DType, length: usize) -> Array {
    let low = if output.is_integer() && !output.is_signed() && output != DType::Bool { 0.0 } else { -100.0 };
    let mut source = Random::new(name).array(input, length, low, 100.0);
    if input.is_integer() && input != DType::Bool && output.is_integer() {
        // Integers wrap.
        let (least, greatest) = input.range();
        let special = [least, greatest, greatest - 1, 0, 1, 255, 256];
        source
            .values
            .iter_mut()
            .zip(special)
            .for_each(|(value, special)| *value = input.hold(Scalar::Int(special)));
    }
    if input.is_float() && output.is_float() {
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-3, 65504.0, 70000.0];
        source
            .values
            .iter_mut()
            .zip(special)
            .for_each(|(value, special)| *value = input.hold(Scalar::Float(special)));
    }
    if output == DType::Bool {
        for value in source.values.iter_mut().step_by(3) {
            *value = input.hold(Scalar::Int(0));
        }
    }
    source
}

fn convert(value: Scalar, to: DType) -> Scalar {
    match to {
        DType::Bool => Scalar::Int(i128::from(value.truth())),
        _ if to.is_integer() => Scalar::Int(value.int()),
        _ if to.is_float() => Scalar::Float(value.float()),
        _ => {
            let (real, imaginary) = value.complex();
            Scalar::Complex(real, imaginary)
        }
    }
}
