//! The bytes of an argument: read from a file, generated, or parsed from the command line.

use std::path::Path;

use abi::ConstantValue;
use half::{bf16, f16};
use msl::reflect::{Argument, FieldInfo};

use super::error::Error;
use super::source::{ArgumentSource, Fill, Given, is_padded, scalar_in};
use crate::input;
use crate::npy::{self, Dtype, Header};
use crate::scalar::{Element, Scalar, append};

/// Data of an argument.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Data {
    pub(crate) bytes: Bytes,
    /// Array type and shape; `None` if unknown.
    pub(crate) header: Option<Header>,
    /// The given type; `None` for files.
    pub(crate) scalar: Option<Scalar>,
}

/// Zeros are not allocated.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Bytes {
    Zeros(usize),
    Uninitialized(usize),
    Given(Vec<u8>),
}

impl Bytes {
    pub(crate) fn len(&self) -> usize {
        match self {
            Bytes::Zeros(len) | Bytes::Uninitialized(len) => *len,
            Bytes::Given(bytes) => bytes.len(),
        }
    }
}

impl Data {
    /// Loads the data of an argument; at most `limit` bytes.
    pub(crate) fn load(given: &Given, argument: &Argument, limit: usize) -> Result<Data, Error> {
        match &given.source {
            ArgumentSource::File(path) => file(path),
            ArgumentSource::Filled { element, shape, fill } => filled(*element, shape, fill, limit),
            ArgumentSource::Listed { element, values } => Ok(listed(*element, values)),
            ArgumentSource::Fields(fields) => {
                let bytes = structure(argument, fields).map_err(Error::Refused)?;
                Ok(Data { bytes: Bytes::Given(bytes), header: None, scalar: None })
            }
            ArgumentSource::Functions(_) => {
                Err(Error::Refused(format!("it is {}, not a visible function table", argument.ty)))
            }
        }
    }
}

fn file(path: &Path) -> Result<Data, Error> {
    let content = input::bytes(path).map_err(Error::NotTried)?;
    if !npy::is_npy(&content) {
        return match path.extension().is_some_and(|extension| extension == "npy") {
            true => Err(Error::Refused(format!("'{}' is not a .npy file", path.display()))),
            false => Ok(Data { bytes: Bytes::Given(content), header: None, scalar: None }),
        };
    }
    let (header, bytes) =
        npy::read(&content).map_err(|problem| Error::Refused(format!("'{}': {problem}", path.display())))?;
    Ok(Data { bytes: Bytes::Given(bytes.into_owned()), header: Some(header), scalar: None })
}

/// Numbers per element in memory: three components take the space of four.
fn stride(element: Element) -> usize {
    if element.components == 3 { 4 } else { element.components }
}

/// An array of vectors has one more dimension.
fn header(element: Element, mut shape: Vec<usize>) -> Header {
    if element.components > 1 {
        shape.push(stride(element));
    }
    Header { dtype: Dtype::of(element.scalar), shape }
}

fn filled(element: Element, shape: &[usize], fill: &Fill, limit: usize) -> Result<Data, Error> {
    let header = header(element, shape.to_vec());
    let shape = npy::display_shape(&header.shape);
    let len = header.byte_len().filter(|&len| len <= limit).ok_or_else(|| {
        Error::NotTried(format!("an array of shape {shape} is larger than the largest buffer, {limit} bytes"))
    })?;
    let scalar = element.scalar;
    let data = |bytes| Ok(Data { bytes, header: Some(header), scalar: Some(scalar) });
    if let Fill::Value(value) = fill
        && is_zero(value)
    {
        return data(Bytes::Zeros(len));
    }
    if *fill == Fill::Uninitialized {
        return data(Bytes::Uninitialized(len));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::NotTried(format!("cannot allocate {len} bytes")))?;
    let mut random = Random(if let Fill::Random { seed } = fill { *seed } else { 0 });
    for index in 0..len / scalar.size() {
        match fill {
            Fill::Value(value) => append(&mut bytes, value),
            Fill::Iota => append(&mut bytes, &converted(scalar, index as u64)),
            Fill::Random { .. } => append(&mut bytes, &random.value(scalar)),
            Fill::Uninitialized => {}
        }
    }
    data(Bytes::Given(bytes))
}

/// True if all its bytes are zero; those of -0.0 are not.
fn is_zero(value: &ConstantValue) -> bool {
    let mut bytes = Vec::new();
    append(&mut bytes, value);
    bytes.iter().all(|&byte| byte == 0)
}

/// Converts an integer to a type, truncated to its low bits.
fn converted(scalar: Scalar, number: u64) -> ConstantValue {
    match scalar {
        Scalar::Bool => ConstantValue::Bool(number & 1 == 1),
        Scalar::Char => ConstantValue::Char(number as i8),
        Scalar::Uchar => ConstantValue::Uchar(number as u8),
        Scalar::Short => ConstantValue::Short(number as i16),
        Scalar::Ushort => ConstantValue::Ushort(number as u16),
        Scalar::Int => ConstantValue::Int(number as i32),
        Scalar::Uint => ConstantValue::Uint(number as u32),
        Scalar::Long => ConstantValue::Long(number as i64),
        Scalar::Ulong => ConstantValue::Ulong(number),
        Scalar::Half => ConstantValue::Half(f16::from_f64(number as f64)),
        Scalar::Bfloat => ConstantValue::Bfloat(bf16::from_f64(number as f64)),
        Scalar::Float => ConstantValue::Float(number as f32),
    }
}

/// The SplitMix64 generator: the same numbers for the same seed, on every machine.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A float from -1 to 1, or an integer of any value.
    fn value(&mut self, scalar: Scalar) -> ConstantValue {
        let bits = self.bits();
        let float = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match scalar {
            Scalar::Half => ConstantValue::Half(f16::from_f64(float)),
            Scalar::Bfloat => ConstantValue::Bfloat(bf16::from_f64(float)),
            Scalar::Float => ConstantValue::Float(float as f32),
            _ => converted(scalar, bits),
        }
    }
}

fn listed(element: Element, values: &[ConstantValue]) -> Data {
    let size = stride(element) * element.scalar.size();
    let mut bytes = Vec::new();
    for (at, components) in values.chunks(element.components).enumerate() {
        components.iter().for_each(|value| append(&mut bytes, value));
        bytes.resize((at + 1) * size, 0);
    }
    let header = header(element, vec![values.len() / element.components]);
    Data { bytes: Bytes::Given(bytes), header: Some(header), scalar: Some(element.scalar) }
}

/// The bytes of a struct, laid out by its reflection; every field must be given.
fn structure(argument: &Argument, given: &[(String, String)]) -> Result<Vec<u8>, String> {
    let element = &argument.element_type;
    if argument.fields.is_empty() {
        return Err(format!("it is a {element}, not a struct"));
    }
    let names = || argument.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = given.iter().find(|(name, _)| argument.fields.iter().all(|field| field.name != *name));
    if let Some((name, _)) = unknown {
        return Err(format!("{element} has no field '{name}': it has {}", names()));
    }
    if let Some((one, other)) = overlapping(&argument.fields) {
        return Err(format!(
            "'{one}' and '{other}' of {element} share bytes, as bit-fields and unions do: bind a file (@params.bin)"
        ));
    }
    let mut bytes = vec![0; usize::try_from(argument.element_size).map_err(|_| "it is too large")?];
    for field in &argument.fields {
        let mut values = given.iter().filter(|(name, _)| *name == field.name);
        let (Some((_, value)), None) = (values.next(), values.next()) else {
            return Err(format!("the field '{}' must be given once: {element} has {}", field.name, names()));
        };
        let numbers =
            field_bytes(field, value).map_err(|problem| format!("the field '{}': {problem}", field.name))?;
        let start = usize::try_from(field.offset).unwrap_or(usize::MAX);
        let place = start.checked_add(numbers.len()).and_then(|end| bytes.get_mut(start..end));
        place.ok_or("its fields are not within it")?.copy_from_slice(&numbers);
    }
    Ok(bytes)
}

/// Two fields that share a byte.
fn overlapping(fields: &[FieldInfo]) -> Option<(&str, &str)> {
    let end = |field: &FieldInfo| field.offset.saturating_add(field.size);
    let pairs = fields.iter().enumerate().flat_map(|(i, one)| fields[..i].iter().map(move |other| (other, one)));
    let mut shared = pairs.filter(|(one, other)| one.offset < end(other) && other.offset < end(one));
    shared.next().map(|(one, other)| (one.name.as_str(), other.name.as_str()))
}

/// The bytes of a field: a number, or the numbers of a vector or array separated by `:`.
fn field_bytes(field: &FieldInfo, text: &str) -> Result<Vec<u8>, String> {
    let ty = &field.ty;
    let scalar = scalar_in(ty).ok_or_else(|| format!("a {ty} cannot be given here: bind a file (@params.bin)"))?;
    let count = if is_padded(ty) { 3 } else { field.size / scalar.size() as u64 };
    let values =
        text.split(':').map(|value| scalar.value(value)).collect::<Result<Vec<ConstantValue>, String>>()?;
    if values.len() as u64 != count {
        return Err(format!("{ty} has {count} numbers, as in 1:2:3, but '{text}' has {}", values.len()));
    }
    let mut bytes = Vec::new();
    values.iter().for_each(|value| append(&mut bytes, value));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use msl::reflect::{Access, ArgumentKind};

    const LIMIT: usize = 1 << 20;

    fn params() -> Argument {
        let field = |name: &str, ty: &str, offset, size| FieldInfo {
            name: name.into(),
            ty: ty.into(),
            offset,
            size,
            id: None,
        };
        Argument {
            name: "params".into(),
            kind: ArgumentKind::Buffer,
            index: 0,
            ty: "constant Params &".into(),
            address_space: "constant".into(),
            access: Access::Read,
            element_type: "Params".into(),
            element_size: 16,
            element_align: 8,
            is_reference: true,
            array_length: None,
            fields: vec![field("n", "uchar", 0, 1), field("scale", "float", 4, 4), field("stride", "long", 8, 8)],
            function_constant: None,
            is_used: true,
        }
    }

    fn load(text: &str) -> Result<Data, Error> {
        Data::load(&Given::parse(&format!("0={text}")).expect(text), &params(), LIMIT)
    }

    fn bytes(text: &str) -> Vec<u8> {
        match load(text).expect(text).bytes {
            Bytes::Given(bytes) => bytes,
            Bytes::Zeros(len) | Bytes::Uninitialized(len) => vec![0; len],
        }
    }

    fn floats(text: &str) -> Vec<f32> {
        bytes(text).chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
    }

    #[test]
    fn zeros_are_not_allocated() {
        assert_eq!(load("zeros:f32:8").expect("zeros").bytes, Bytes::Zeros(32));
        assert_eq!(load("uninit:f32:8").expect("uninitialized").bytes, Bytes::Uninitialized(32));
        assert_eq!(load("full:i16:8:0").expect("zeros").bytes, Bytes::Zeros(16));
        assert_eq!(floats("full:f32:2:-0")[0].to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn arrays_have_a_shape() {
        let shape = |text| load(text).expect(text).header.expect("it is an array").shape;
        assert_eq!(shape("zeros:f32:32x128"), [32, 128]);
        assert_eq!(shape("zeros:float2:8"), [8, 2]);
        assert_eq!(shape("u32:7"), [1]);
        assert_eq!(shape("float4:1,2,3,4,5,6,7,8"), [2, 4]);
    }

    #[test]
    fn fills_arrays() {
        assert_eq!(floats("ones:f32:2"), [1.0, 1.0]);
        assert_eq!(floats("iota:f32:2x2"), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(bytes("iota:u8:300")[254..258], [254, 255, 0, 1]);
        assert_eq!(bytes("full:half:1:1"), [0, 0x3c]);
        assert!(bytes("rand:bool:64").iter().all(|&byte| byte < 2));
    }

    #[test]
    fn random_numbers_depend_only_on_the_seed() {
        let numbers = floats("rand:f32:1000:1");
        assert_eq!(numbers, floats("rand:f32:1000:1"));
        assert_ne!(numbers, floats("rand:f32:1000:2"));
        assert!(numbers.iter().all(|number| (-1.0..=1.0).contains(number)));
        let mean = numbers.iter().sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }

    #[test]
    fn three_components_take_the_space_of_four() {
        assert_eq!(floats("float3:1,2,3,4,5,6"), [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
        assert_eq!(bytes("zeros:half3:2").len(), 16);
    }

    #[test]
    fn too_large_arrays_are_rejected_before_allocation() {
        for shape in ["1000000", "4294967296x4294967296", "18446744073709551615"] {
            let Err(Error::NotTried(problem)) = load(&format!("rand:f32:{shape}")) else {
                panic!("{shape} is too large")
            };
            assert!(problem.contains("largest buffer, 1048576 bytes"), "{problem}");
        }
    }

    #[test]
    fn structs_follow_their_layout() {
        let expected = [7, 0, 0, 0, 0, 0, 0x80, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(bytes("struct:scale=1,n=7,stride=-1"), expected);
        let refused = |text: &str| match load(text) {
            Err(Error::Refused(problem)) => problem,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(refused("struct:k=1"), "Params has no field 'k': it has n, scale, stride");
        assert!(refused("struct:n=1,n=2").starts_with("the field 'n' must be given once"));
        assert!(refused("struct:n=1,scale=1").starts_with("the field 'stride' must be given once"));
        assert_eq!(refused("struct:n=256,scale=1,stride=1"), "the field 'n': 256 does not fit into uchar");
        let mut argument = params();
        argument.fields[1].ty = "Inner".into();
        let given = Given::parse("0=struct:n=1,scale=1,stride=1").expect("it is a struct");
        let Err(Error::Refused(problem)) = Data::load(&given, &argument, LIMIT) else { panic!("it is a struct") };
        assert_eq!(problem, "the field 'scale': a Inner cannot be given here: bind a file (@params.bin)");
        argument.fields.clear();
        assert_eq!(
            Data::load(&given, &argument, LIMIT),
            Err(Error::Refused("it is a Params, not a struct".into()))
        );
    }

    #[test]
    fn fields_may_be_vectors_and_arrays() {
        let field = |ty: &str, size| FieldInfo { name: "f".into(), ty: ty.into(), offset: 0, size, id: None };
        assert_eq!(field_bytes(&field("uchar [3]", 3), "1:2:3"), Ok(vec![1, 2, 3]));
        assert_eq!(field_bytes(&field("short2", 4), "-1:2"), Ok(vec![255, 255, 2, 0]));
        assert_eq!(field_bytes(&field("uchar3", 4), "1:2:3"), Ok(vec![1, 2, 3]));
        let problem = field_bytes(&field("int [3]", 12), "1:2").expect_err("one is missing");
        assert_eq!(problem, "int [3] has 3 numbers, as in 1:2:3, but '1:2' has 2");
    }

    #[test]
    fn rejects_fields_that_share_bytes() {
        let mut argument = params();
        argument.fields[2].offset = 5;
        let given = Given::parse("0=struct:n=1,scale=1,stride=1").expect("it is a struct");
        let problem =
            "'scale' and 'stride' of Params share bytes, as bit-fields and unions do: bind a file (@params.bin)";
        assert_eq!(Data::load(&given, &argument, LIMIT), Err(Error::Refused(problem.into())));
    }

    #[test]
    fn rejects_an_inconsistent_layout() {
        let mut argument = params();
        argument.fields[2].offset = u64::MAX - 3;
        let given = Given::parse("0=struct:n=1,scale=1,stride=1").expect("it is a struct");
        assert_eq!(
            Data::load(&given, &argument, LIMIT),
            Err(Error::Refused("its fields are not within it".into()))
        );
    }
}
