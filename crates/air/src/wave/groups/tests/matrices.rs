use super::element::FLOATS;
use super::*;
use crate::wave::groups::{is_matrix_memory, matrix_memory};
use inkwell::context::Context;

type Matrix = [[f64; 8]; 8];

/// The position of a lane's first element on Apple's hardware: MLX's `get_coord`.
fn coordinates(lane: usize) -> (usize, usize) {
    let quad = lane / 4;
    ((quad & 4) + (lane / 2) % 4, (quad & 2) * 2 + (lane % 2) * 2)
}

fn matrix(element: Element, lanes: [&[u64]; 2]) -> Matrix {
    let mut matrix = [[0.0; 8]; 8];
    for (lane, (&first, &second)) in lanes[0].iter().zip(lanes[1]).enumerate() {
        let (row, column) = coordinates(lane);
        matrix[row][column] = element.real(first);
        matrix[row][column + 1] = element.real(second);
    }
    matrix
}

/// A call of a function whose arguments and result are matrices, `inputs` being two vectors for each.
fn call_on_matrices<'m>(b: &Builder<'m>, name: &str, inputs: &[Value<'m>], mask: Value<'m>) -> Vec<Value<'m>> {
    let arguments: Vec<Vec<Value<'m>>> = inputs.chunks(2).map(<[Value<'m>]>::to_vec).collect();
    let result = Type::float(b.context()).vector(64);
    emit(b, &Call { name, arguments: &arguments, mask, result, fast_math: 0 }).expect(name).expect(name)
}

fn suffix(element: Element) -> String {
    format!("v64{}", element.suffix())
}

#[test]
fn products_of_all_element_types() {
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for d in FLOATS {
            for (left, right) in FLOATS.into_iter().flat_map(|left| FLOATS.map(|right| (left, right))) {
                let [ds, ls, rs] = [d, left, right].map(suffix);
                let name = format!("air.simdgroup_matrix_8x8_multiply_accumulate.{ds}.{ls}.{rs}.{ds}");
                let inputs = [left, left, right, right, d, d];
                let accumulate = machine.add(&inputs, &[d, d], |i| call_on_matrices(i.b, &name, &i.values, i.mask));
                let name = format!("air.simdgroup_matrix_8x8_multiply.{ds}.{ls}.{rs}");
                let multiply =
                    machine.add(&inputs, &[d, d], |i| call_on_matrices(i.b, &name, &i.values[..4], i.mask));
                cases.push((d, left, right, accumulate, true));
                cases.push((d, left, right, multiply, false));
            }
        }
        machine.compile();
        let mut random = Random(11);
        for (d, left, right, number, accumulates) in cases {
            let inputs = [left, left, right, right, d, d].map(|element| element.random_lanes(&mut random));
            let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
            let found = machine.call(number, &inputs, u32::MAX);
            let found = matrix(d, [&found[0], &found[1]]);
            let (a, b) = (matrix(left, [inputs[0], inputs[1]]), matrix(right, [inputs[2], inputs[3]]));
            let c = matrix(d, [inputs[4], inputs[5]]);
            for (row, column) in (0..64).map(|index| (index / 8, index % 8)) {
                let product: f64 = (0..8).map(|k| a[row][k] * b[k][column]).sum();
                let expected = product + if accumulates { c[row][column] } else { 0.0 };
                let error = 1e-5 + expected.abs() * d.epsilon();
                assert!(
                    (found[row][column] - expected).abs() <= error,
                    "{left:?} times {right:?} to {d:?}, ({row}, {column}), {features:?}: {} instead of {expected}",
                    found[row][column]
                );
            }
        }
    }
}

#[test]
fn filled_and_diagonal_matrices() {
    let context = Context::create();
    let mut machine = Machine::new(&context, targets()[0]);
    let mut cases = Vec::new();
    for element in FLOATS {
        let one = |operation: &str, suffix: &str| format!("air.simdgroup_matrix_8x8_{operation}.{suffix}");
        let names = [
            (one("init_filled", &format!("v64{0}.{0}", element.suffix())), false),
            (one("init_diag", &format!("v64{0}.{0}", element.suffix())), true),
            (one("init_diag", &suffix(element)), true),
        ];
        for (name, is_diagonal) in names {
            let number =
                machine.add(&[element], &[element, element], |i| call_on_matrices(i.b, &name, &i.values, i.mask));
            cases.push((element, is_diagonal, number));
        }
    }
    machine.compile();
    for (element, is_diagonal, number) in cases {
        let found = machine.call(number, &[&[element.bits_of_real(1.5); 32]], u32::MAX);
        let found = matrix(element, [&found[0], &found[1]]);
        for (row, column) in (0..64).map(|index| (index / 8, index % 8)) {
            assert_eq!(found[row][column], if is_diagonal && row != column { 0.0 } else { 1.5 });
        }
    }
}

/// The forms of the functions, and what is known about the order of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Flag(bool),
    /// Transposed when the lowest bit of the mask is set.
    FlagInMask,
    Strides(bool),
    /// Columns two apart, and rows as far as that takes.
    StridesOfTwo,
}

const COLUMNS: usize = 21;
const ORIGIN: (usize, usize) = (3, 2);

impl Form {
    fn arguments<'m>(self, i: &machine::Inputs<'_, 'm>) -> Vec<Vec<Value<'m>>> {
        let long = Type::int(i.b.context(), 64);
        let bit = Type::int(i.b.context(), 1);
        let numbers = |values: &[usize]| values.iter().map(|&value| long.constant(value as i64)).collect();
        let (x, y) = ORIGIN;
        match self {
            Form::Flag(_) | Form::FlagInMask => {
                let transpose = match self {
                    Form::Flag(is_transposed) => bit.constant(is_transposed.into()),
                    _ => i.b.extract(i.mask, long.constant(0)),
                };
                vec![vec![i.memory], numbers(&[COLUMNS]), numbers(&[x, y]), vec![transpose]]
            }
            Form::Strides(false) => {
                vec![vec![i.memory], numbers(&[COLUMNS, 8]), numbers(&[1, COLUMNS]), numbers(&[x, y])]
            }
            Form::Strides(true) => {
                vec![vec![i.memory], numbers(&[COLUMNS, 8]), numbers(&[COLUMNS, 1]), numbers(&[y, x])]
            }
            Form::StridesOfTwo => {
                vec![vec![i.memory], numbers(&[COLUMNS, 8]), numbers(&[2, 2 * COLUMNS]), numbers(&[x, y])]
            }
        }
    }

    /// The offset of an element, in elements.
    fn index(self, mask: u32, row: usize, column: usize) -> usize {
        let (x, y) = ORIGIN;
        let is_transposed = match self {
            Form::Flag(is_transposed) | Form::Strides(is_transposed) => is_transposed,
            Form::FlagInMask => mask & 1 == 1,
            Form::StridesOfTwo => false,
        };
        let (row, column) = if is_transposed { (column, row) } else { (row, column) };
        let step = if self == Form::StridesOfTwo { 2 } else { 1 };
        ((y + row) * COLUMNS + x + column) * step
    }
}

#[test]
fn loads_and_stores_of_tiles() {
    let forms = [
        Form::Flag(false),
        Form::Flag(true),
        Form::FlagInMask,
        Form::Strides(false),
        Form::Strides(true),
        Form::StridesOfTwo,
    ];
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for element in FLOATS {
            for form in forms {
                let name = format!("air.simdgroup_matrix_8x8_load.{}.p1{}", suffix(element), element.suffix());
                assert!(is_matrix_memory(&name));
                let load = machine.add(&[], &[element, element], |i| {
                    matrix_memory(i.b, &name, &form.arguments(i)).unwrap().unwrap()
                });
                let name = format!("air.simdgroup_matrix_8x8_store.{}.p3{}", suffix(element), element.suffix());
                let store = machine.add(&[element, element], &[], |i| {
                    let mut all = vec![i.values.clone()];
                    all.extend(form.arguments(i));
                    matrix_memory(i.b, &name, &all).unwrap().unwrap()
                });
                cases.push((element, form, load, store));
            }
        }
        machine.compile();
        let mut random = Random(12);
        for (element, form, load, store) in cases {
            for mask in [1, 2] {
                let size = element.bytes();
                let mut memory: Vec<u8> = (0..2 * COLUMNS * 11)
                    .flat_map(|_| element.random(&mut random).to_le_bytes()[..size].to_vec())
                    .collect();
                let range = |lane: usize, part: usize| {
                    let (row, column) = coordinates(lane);
                    let start = form.index(mask, row, column + part) * size;
                    start..start + size
                };
                let loaded = machine.call_with_memory(load, &[], &mut memory, mask);
                for (part, lanes) in loaded.iter().enumerate() {
                    for (lane, found) in lanes.iter().enumerate() {
                        let expected = &memory[range(lane, part)];
                        assert_eq!(&found.to_le_bytes()[..size], expected, "{element:?} {form:?} {lane}");
                    }
                }
                let data = [element.random_lanes(&mut random), element.random_lanes(&mut random)];
                let mut expected = memory.clone();
                for (part, lanes) in data.iter().enumerate() {
                    for (lane, bits) in lanes.iter().enumerate() {
                        expected[range(lane, part)].copy_from_slice(&bits.to_le_bytes()[..size]);
                    }
                }
                machine.call_with_memory(store, &[&data[0], &data[1]], &mut memory, mask);
                assert_eq!(memory, expected, "{element:?} {form:?}");
            }
        }
    }
}

#[test]
fn matrices_of_integers_are_refused_in_words() {
    let context = Context::create();
    let module = context.create_module("");
    let b = Builder::new(crate::ir::ModuleRef::of(&module));
    let bit = Type::int(b.context(), 1);
    let refused = |name: &str| {
        let call = Call { name, arguments: &[], mask: lanes_of(bit).constant(1), result: bit, fast_math: 0 };
        emit(&b, &call).expect(name).expect_err(name)
    };
    assert_eq!(
        refused("air.simdgroup_matrix_8x8_multiply.v64i32.v64i32.v64i32"),
        "simdgroup matrices of the type 'v64i32' are not supported"
    );
    assert_eq!(
        refused("air.simdgroup_matrix_8x8_invert.v64f32"),
        "the simdgroup matrix function 'invert' of 'air.simdgroup_matrix_8x8_invert.v64f32' is not supported"
    );
    assert_eq!(refused("air.simd_sum.f32"), "'air.simd_sum.f32' lacks argument 0");
}
