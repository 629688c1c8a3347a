//! Shapes and strides as ggml has them, and structures that hold them.

use crate::numbers::Number;
use half::f16;
use metalworks_compute::reflect::Argument;

/// A shape, the fastest dimension first, and the distance in bytes of neighbours along each dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tensor {
    pub(crate) ne: [usize; 4],
    pub(crate) nb: [usize; 4],
}

impl Tensor {
    /// Numbers side by side.
    pub(crate) fn of<T: Number>(ne: [usize; 4]) -> Tensor {
        Tensor::blocks(ne, 1, size_of::<T>())
    }

    /// Blocks of `block` numbers in `bytes` bytes, side by side.
    pub(crate) fn blocks(ne: [usize; 4], block: usize, bytes: usize) -> Tensor {
        let row = ne[0] / block * bytes;
        Tensor { ne, nb: [bytes, row, row * ne[1], row * ne[1] * ne[2]] }
    }

    /// The same with `gaps` bytes between rows, between matrices, and between groups of them.
    pub(crate) fn with_gaps(mut self, gaps: [usize; 3]) -> Tensor {
        let row = self.nb[1] / self.nb[0] * self.nb[0];
        self.nb[1] = row + gaps[0];
        self.nb[2] = self.nb[1] * self.ne[1] + gaps[1];
        self.nb[3] = self.nb[2] * self.ne[2] + gaps[2];
        self
    }

    /// The same numbers with dimensions in another order: dimension `i` becomes dimension `order[i]`.
    pub(crate) fn permuted(self, order: [usize; 4]) -> Tensor {
        let (mut ne, mut nb) = (self.ne, self.nb);
        for (from, to) in order.into_iter().enumerate() {
            ne[to] = self.ne[from];
            nb[to] = self.nb[from];
        }
        Tensor { ne, nb }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.ne.iter().product()
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.ne[1] * self.ne[2] * self.ne[3]
    }

    /// Location of an element.
    pub(crate) fn at(&self, index: [usize; 4]) -> usize {
        (0..4).map(|dimension| index[dimension] * self.nb[dimension]).sum()
    }

    /// All indices, the fastest dimension first.
    pub(crate) fn indices(&self) -> impl Iterator<Item = [usize; 4]> + use<> {
        let ne = self.ne;
        (0..ne.iter().product()).map(move |at| {
            [at % ne[0], at / ne[0] % ne[1], at / (ne[0] * ne[1]) % ne[2], at / (ne[0] * ne[1] * ne[2])]
        })
    }

    /// End of the last element, for numbers of type `T`.
    fn end<T>(&self) -> usize {
        self.at(self.ne.map(|extent| extent - 1)) + size_of::<T>()
    }

    /// The bytes of a buffer with these numbers, NaN between them.
    pub(crate) fn lay_out<T: Number>(&self, numbers: &[T]) -> Vec<u8> {
        assert_eq!(numbers.len(), self.len());
        let mut bytes = vec![0xff; self.end::<T>()];
        for (number, index) in numbers.iter().zip(self.indices()) {
            let at = self.at(index);
            bytes[at..at + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(number));
        }
        bytes
    }

    /// The numbers in a buffer.
    pub(crate) fn collect<T: Number>(&self, bytes: &[u8]) -> Vec<T> {
        let number = |index| bytemuck::pod_read_unaligned(&bytes[self.at(index)..][..size_of::<T>()]);
        self.indices().map(number).collect()
    }
}

/// The value of a field.
enum Value {
    Number(f64),
    Array(Vec<f64>),
}

/// The fields of a structure, by name: the layout comes from reflection.
#[derive(Default)]
pub(crate) struct Fields {
    /// Those that the structure must have.
    own: Vec<(String, Value)>,
    /// Those that it may have.
    shapes: Vec<(String, f64)>,
}

impl Fields {
    pub(crate) fn new() -> Fields {
        Fields::default()
    }

    pub(crate) fn set(mut self, name: &str, value: impl IntoValue) -> Fields {
        self.own.push((name.into(), Value::Number(value.into_value())));
        self
    }

    pub(crate) fn array(mut self, name: &str, values: &[usize]) -> Fields {
        self.own.push((name.into(), Value::Array(values.iter().map(|value| *value as f64).collect())));
        self
    }

    /// The shape and the strides of a tensor, in those of the fields `ne` and `nb` with this prefix that there are.
    pub(crate) fn tensor(mut self, prefix: &str, tensor: &Tensor) -> Fields {
        for dimension in 0..4 {
            self.shapes.push((format!("ne{prefix}{dimension}"), tensor.ne[dimension] as f64));
            self.shapes.push((format!("nb{prefix}{dimension}"), tensor.nb[dimension] as f64));
        }
        self
    }

    /// Encodes the structure; every field must have a value, and every value a field.
    pub(crate) fn encode(&self, argument: &Argument) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; argument.element_size as usize];
        for (name, _) in &self.own {
            if !argument.fields.iter().any(|field| field.name == *name) {
                return Err(format!("{} has no field '{name}'", argument.element_type));
            }
        }
        for field in &argument.fields {
            let own = self.own.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value);
            let shape = self.shapes.iter().find(|(name, _)| *name == field.name).map(|(_, value)| *value);
            let (element, count) = field.ty.split_once(" [").unwrap_or((&field.ty, "1"));
            let values = match (own, shape) {
                (Some(Value::Number(value)), _) => vec![*value],
                (Some(Value::Array(values)), _) => values.clone(),
                (None, Some(value)) => vec![value],
                (None, None) => {
                    return Err(format!("field '{}' of {} is not set", field.name, argument.element_type));
                }
            };
            let encoded: Vec<u8> = values.iter().flat_map(|value| encode(element, *value)).collect();
            if count.trim_end_matches(']') != values.len().to_string() || encoded.len() as u64 != field.size {
                return Err(format!("field '{}' is a '{}'", field.name, field.ty));
            }
            bytes[field.offset as usize..][..encoded.len()].copy_from_slice(&encoded);
        }
        Ok(bytes)
    }
}

fn encode(ty: &str, value: f64) -> Vec<u8> {
    match ty {
        "bool" => vec![u8::from(value != 0.0)],
        "short" => (value as i16).to_le_bytes().to_vec(),
        "int" => (value as i32).to_le_bytes().to_vec(),
        "uint" => (value as u32).to_le_bytes().to_vec(),
        "long" => (value as i64).to_le_bytes().to_vec(),
        "ulong" => (value as u64).to_le_bytes().to_vec(),
        "half" => f16::from_f64(value).to_le_bytes().to_vec(),
        "float" => (value as f32).to_le_bytes().to_vec(),
        _ => panic!("no values of type '{ty}'"),
    }
}

/// Types that a field's value can be given as.
pub(crate) trait IntoValue {
    fn into_value(self) -> f64;
}

impl IntoValue for usize {
    fn into_value(self) -> f64 {
        self as f64
    }
}

impl IntoValue for f64 {
    fn into_value(self) -> f64 {
        self
    }
}

impl IntoValue for bool {
    fn into_value(self) -> f64 {
        f64::from(u8::from(self))
    }
}
