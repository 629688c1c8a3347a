//! MTLFunctionConstantValues.

use super::library::ListedConstant;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::string;
use crate::runtime::{Fields, Id, Range, Strong};
use air::metallib::data_type_name;
use compute::{ConstantKey, ConstantValue, FunctionConstantValues};
use half::{bf16, f16};
use std::ffi::c_void;

/// Values of function constants.
#[derive(Clone, Default)]
pub(crate) struct ConstantValues {
    values: Vec<(ConstantKey, ConstantValue)>,
}

impl ConstantValues {
    /// The values of an object; none for nil.
    pub(crate) fn of(values: Id) -> Vec<ConstantValues> {
        values.cast::<Fields<ConstantValues>>().map(|values| values.lock().clone()).into_iter().collect()
    }

    /// Adds the values of constants that a function has.
    pub(crate) fn add_to(&self, to: &mut FunctionConstantValues, constants: &[ListedConstant]) {
        for (key, value) in &self.values {
            let is_meant = |constant: &&ListedConstant| match key {
                ConstantKey::Index(index) => constant.index == *index as usize,
                ConstantKey::Name(name) => constant.name == *name,
            };
            if let Some(constant) = constants.iter().find(is_meant)
                && let Ok(index) = u32::try_from(constant.index)
            {
                to.set(index, value.clone());
            }
        }
    }

    fn set(&mut self, key: ConstantKey, value: ConstantValue) {
        self.values.retain(|(own, _)| *own != key);
        self.values.push((key, value));
    }
}

/// Size and value of a scalar in memory.
fn scalar(name: &str, at: *const u8) -> Option<(usize, ConstantValue)> {
    // SAFETY: the program passes a value of the type that it names; it need not be aligned.
    unsafe {
        Some(match name {
            "bool" => (1, ConstantValue::Bool(at.read() != 0)),
            "char" => (1, ConstantValue::Char(at.cast::<i8>().read())),
            "uchar" => (1, ConstantValue::Uchar(at.read())),
            "short" => (2, ConstantValue::Short(at.cast::<i16>().read_unaligned())),
            "ushort" => (2, ConstantValue::Ushort(at.cast::<u16>().read_unaligned())),
            "int" => (4, ConstantValue::Int(at.cast::<i32>().read_unaligned())),
            "uint" => (4, ConstantValue::Uint(at.cast::<u32>().read_unaligned())),
            "long" => (8, ConstantValue::Long(at.cast::<i64>().read_unaligned())),
            "ulong" => (8, ConstantValue::Ulong(at.cast::<u64>().read_unaligned())),
            "half" => (2, ConstantValue::Half(f16::from_bits(at.cast::<u16>().read_unaligned()))),
            "bfloat" => (2, ConstantValue::Bfloat(bf16::from_bits(at.cast::<u16>().read_unaligned()))),
            "float" => (4, ConstantValue::Float(at.cast::<f32>().read_unaligned())),
            _ => return None,
        })
    }
}

/// A value in memory, and the size of its type.
fn value(data_type: usize, at: *const c_void) -> Option<(usize, ConstantValue)> {
    let name = data_type_name(u8::try_from(data_type).ok()?);
    let element = name.trim_end_matches(['2', '3', '4']);
    let (size, first) = scalar(element, at.cast())?;
    let lanes: usize = match &name[element.len()..] {
        "" => return Some((size, first)),
        lanes => lanes.parse().ok()?,
    };
    let lane = |lane: usize| scalar(element, at.cast::<u8>().wrapping_add(lane * size)).map(|(_, value)| value);
    // A vector of three is as large as one of four.
    Some((size * lanes.next_power_of_two(), ConstantValue::Vector((0..lanes).map(lane).collect::<Option<_>>()?)))
}

/// Zero of a type.
pub(crate) fn zero(data_type: usize) -> Option<ConstantValue> {
    sized_zero(data_type).map(|(_, value)| value)
}

/// The size of a type.
pub(crate) fn size(data_type: usize) -> Option<usize> {
    sized_zero(data_type).map(|(size, _)| size)
}

fn sized_zero(data_type: usize) -> Option<(usize, ConstantValue)> {
    // As large as four of the largest type.
    let zeros = [0u64; 4];
    value(data_type, zeros.as_ptr().cast())
}

fn index(number: usize) -> Option<ConstantKey> {
    u16::try_from(number).ok().map(|number| ConstantKey::Index(number.into()))
}

class! {
    FUNCTION_CONSTANT_VALUES = "MTLFunctionConstantValues": NS_OBJECT, default Fields<ConstantValues>, ["NSCopying"]
    methods {
        - "setConstantValue:type:atIndex:" (this, at: *const c_void, data_type: usize, number: usize) {
            let found = value(data_type, at);
            forbid!(HERE, found.is_none(), (), "type({data_type}) is not the type of a function constant.");
            forbid!(HERE, index(number).is_none(), (), "index({number}) must be < 65536.");
            if let (Some((_, value)), Some(key)) = (found, index(number)) { this.lock().set(key, value) }
        }
        - "setConstantValues:type:withRange:" (this, start: *const c_void, data_type: usize, range: Range) {
            let mut at = start;
            for number in range.location..range.location.saturating_add(range.length) {
                let found = value(data_type, at);
                forbid!(HERE, found.is_none(), (), "type({data_type}) is not the type of a function constant.");
                forbid!(HERE, index(number).is_none(), (), "index({number}) must be < 65536.");
                if let (Some((size, value)), Some(key)) = (found, index(number)) {
                    this.lock().set(key, value);
                    at = at.wrapping_byte_add(size);
                }
            }
        }
        - "setConstantValue:type:withName:" (this, at: *const c_void, data_type: usize, name: Id) {
            let found = value(data_type, at);
            forbid!(HERE, found.is_none(), (), "type({data_type}) is not the type of a function constant.");
            if let Some((_, value)) = found { this.lock().set(ConstantKey::Name(string::describe(name)), value) }
        }
        - "reset" (this) { this.lock().values.clear() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { Strong::new(Fields::new(this.lock().clone())).into_id() }
    }
}
