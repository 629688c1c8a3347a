//! Arguments for kernels without a reference: any that are in bounds, because both versions get the same.
//!
//! The arguments of a kernel are known from reflection; a family says by name what each is.

pub(crate) mod conv;
pub(crate) mod fft;
pub(crate) mod matrices;
pub(crate) mod quantized;
pub(crate) mod rows;
pub(crate) mod sequences;

use super::{Offer, is_unknown_constant};
use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::mlx_sources::instance;
use crate::random::Random;
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{ConstantValue, Function, FunctionConstantValues};

/// Value that an argument is bound to.
enum Content {
    /// Numbers between −1 and 1, or any bits, of the argument's type.
    Numbers(usize),
    /// The same, and every third is zero.
    Mask(usize),
    /// Values of the argument's type.
    Indices(Vec<i128>),
    Bytes(Vec<u8>),
    /// Elements that the kernel writes.
    Written(usize),
}

impl Content {
    fn int(value: usize) -> Content {
        Content::ints(&[value])
    }

    fn ints(values: &[usize]) -> Content {
        Content::Bytes(values.iter().flat_map(|value| (*value as i32).to_le_bytes()).collect())
    }

    fn longs(values: &[usize]) -> Content {
        Content::Bytes(values.iter().flat_map(|value| (*value as i64).to_le_bytes()).collect())
    }

    fn float(value: f32) -> Content {
        Content::Bytes(value.to_le_bytes().into())
    }
}

/// A name and the arguments of its template.
struct Kernel {
    name: String,
    arguments: Vec<String>,
}

impl Kernel {
    fn number(&self, index: usize) -> usize {
        self.arguments[index].parse().expect("a number")
    }

    fn is_true(&self, index: usize) -> bool {
        self.arguments[index] == "true"
    }
}

/// The functions that begin with `prefix` and are instances of `template`.
fn kernels(prefix: &str, template: &'static str) -> impl Iterator<Item = Kernel> {
    harness::names(prefix).into_iter().filter_map(move |name| {
        let instance = instance(&name)?.template;
        let (found, arguments) = instance.split_once('<')?;
        let arguments = arguments.strip_suffix('>')?.split(", ").map(String::from).collect();
        (found == template).then_some(Kernel { name, arguments })
    })
}

/// Function constants of a family; not every kernel has all of them.
type Constants = Vec<(u32, ConstantValue)>;

/// A case whose arguments `content` tells by name.
fn case(
    name: &str,
    constants: Constants,
    grid: CaseGrid,
    content: impl Fn(&str) -> Option<Content> + 'static,
) -> Offer {
    let function = name.to_string();
    Offer { function: function.clone(), make: Box::new(move || bound(&function, constants, grid, content)) }
}

fn bound(name: &str, constants: Constants, grid: CaseGrid, content: impl Fn(&str) -> Option<Content>) -> Case {
    let mut case = Case::new(name, grid);
    let mut random = Random::new(name);
    let function = specialize(&mut case, constants);
    for argument in &function.reflection().arguments {
        if argument.kind != ArgumentKind::Buffer {
            continue;
        }
        let Some(content) = content(&argument.name) else { continue };
        // A pair of floats is laid out as a complex number.
        let is_pair = argument.element_type == "float2";
        let dtype = if is_pair { Some(DType::Complex64) } else { DType::reflected(&argument.element_type) };
        let dtype = dtype.unwrap_or(DType::Float32);
        let bound = match content {
            Content::Numbers(length) => Argument::Input(numbers(&mut random, dtype, length)),
            Content::Mask(length) => {
                let mut mask = numbers(&mut random, dtype, length);
                mask.values.iter_mut().step_by(3).for_each(|value| *value = dtype.hold(Scalar::Int(0)));
                Argument::Input(mask)
            }
            Content::Indices(values) => Argument::Input(Array::ints(dtype, values)),
            Content::Bytes(bytes) => Argument::Bytes(bytes),
            Content::Written(length) => Argument::sparse(dtype, vec![None; length], Tolerance::EXACT),
        };
        case = case.bind_at(argument.index as usize, bound);
    }
    case
}

/// The function, with those constants that it has. The case gets these.
fn specialize(case: &mut Case, mut constants: Constants) -> Function {
    let name = case.function.clone();
    loop {
        case.constants = FunctionConstantValues::new();
        for (index, value) in &constants {
            case.constants.set(*index, value.clone());
        }
        let error = match harness::library().1.new_function(&name, &case.constants) {
            Ok(function) => return function,
            Err(error) => error.to_string(),
        };
        let unknown = constants.iter().position(|(index, _)| is_unknown_constant(&error, *index));
        let unknown = unknown.unwrap_or_else(|| panic!("{name}: {error}"));
        case.removed_constants.push(constants.remove(unknown));
    }
}

fn numbers(random: &mut Random, dtype: DType, length: usize) -> Array {
    let (least, greatest) = dtype.range_or_zero();
    match dtype.is_integer() {
        true => Array::ints(dtype, (0..length).map(|_| random.int(least, greatest)).collect::<Vec<_>>()),
        false => random.array(dtype, length, -1.0, 1.0),
    }
}
