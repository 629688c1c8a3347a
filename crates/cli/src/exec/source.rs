//! Parses `--arg KEY=VALUE`: the source of an argument's bytes.

use std::fmt;
use std::path::PathBuf;

use abi::ConstantValue;

use crate::scalar::{Element, Scalar};
use crate::suggest::near_matches;

/// Identifies an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// The number in `[[buffer(n)]]` or `[[threadgroup(n)]]`.
    Index(u32),
    /// The name of the parameter.
    Name(String),
}

impl Key {
    pub(crate) fn parse(text: &str) -> Key {
        text.parse().map_or_else(|_| Key::Name(text.to_owned()), Key::Index)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Index(index) => write!(f, "{index}"),
            Key::Name(name) => write!(f, "{name}"),
        }
    }
}

/// One `--arg`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Given {
    pub(crate) key: Key,
    /// The original text, for messages.
    pub(crate) text: String,
    /// Bind the bytes regardless of type.
    pub(crate) as_bytes: bool,
    pub(crate) source: ArgumentSource,
}

/// Source of an argument's bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ArgumentSource {
    /// `@x.npy`, `@params.bin`
    File(PathBuf),
    /// `zeros:f32:32x128` and its relatives.
    Filled { element: Element, shape: Vec<usize>, fill: Fill },
    /// `u32:4096`, `f32:1,2,3`
    Listed { element: Element, values: Vec<ConstantValue> },
    /// `struct:n=4096,scale=0.5`
    Fields(Vec<(String, String)>),
    /// `functions:f,g`: the entries of a visible function table; an empty name is an empty entry.
    Functions(Vec<String>),
}

/// The contents of a generated array.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Fill {
    /// One number everywhere.
    Value(ConstantValue),
    /// 0, 1, 2, …
    Iota,
    /// Floats from -1 to 1, integers of any value.
    Random { seed: u64 },
    /// Declared uninitialized: zeros that nothing may rely on.
    Uninitialized,
}

const FORM: &str = "bind an argument as KEY=VALUE, such as 0=@x.npy, 2=zeros:f32:1024 or 3=u32:4096";

impl Given {
    /// Parses `KEY=VALUE`.
    pub(crate) fn parse(argument: &str) -> Result<Given, String> {
        let (key, text) = argument.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or(FORM)?;
        let (as_bytes, value) = text.strip_prefix("bytes:").map_or((false, text), |value| (true, value));
        let source = ArgumentSource::parse(value)?;
        Ok(Given { key: Key::parse(key), text: text.to_owned(), as_bytes, source })
    }
}

impl ArgumentSource {
    fn parse(text: &str) -> Result<ArgumentSource, String> {
        if let Some(path) = text.strip_prefix('@') {
            return match path {
                "" => Err("the file name after '@' is missing".into()),
                _ => Ok(ArgumentSource::File(path.into())),
            };
        }
        let (word, rest) = text.split_once(':').ok_or(FORM)?;
        match word {
            _ if FILLS.contains(&word) => filled(word, rest),
            "struct" => fields(rest),
            "functions" => Ok(ArgumentSource::Functions(rest.split(',').map(|name| name.trim().into()).collect())),
            _ => listed(word.parse().map_err(|error| with_fill(error, word))?, rest),
        }
    }
}

/// Generated arrays.
const FILLS: [&str; 6] = ["zeros", "ones", "full", "iota", "rand", "uninit"];

/// An error about a type, for a word that may be a misspelled generator.
fn with_fill(error: String, word: &str) -> String {
    match near_matches(word, &FILLS).first() {
        Some(near) => format!("{error}; did you mean '{near}'?"),
        None => error,
    }
}

/// `zeros:TYPE:SHAPE`, `ones:TYPE:SHAPE`, `iota:TYPE:SHAPE`, `uninit:TYPE:SHAPE`, `full:TYPE:SHAPE:VALUE`,
/// `rand:TYPE:SHAPE[:SEED]`
fn filled(word: &str, rest: &str) -> Result<ArgumentSource, String> {
    let form = || {
        let last = match word {
            "full" => ":VALUE",
            "rand" => "[:SEED]",
            _ => "",
        };
        format!(
            "'{word}' is written {word}:TYPE:SHAPE{last}, such as {word}:f32:32x128{}",
            last.replace("VALUE", "0.5")
        )
    };
    let mut parts = rest.split(':');
    let element: Element = parts.next().unwrap_or_default().parse()?;
    let shape = parts.next().ok_or_else(form)?;
    let shape = shape.split('x').map(str::parse).collect::<Result<Vec<usize>, _>>().map_err(|_| form())?;
    let fill = match (word, parts.next()) {
        ("zeros", None) => Fill::Value(element.scalar.value("0")?),
        ("ones", None) => Fill::Value(element.scalar.value("1")?),
        ("full", Some(value)) => Fill::Value(element.scalar.value(value)?),
        ("iota", None) => Fill::Iota,
        ("uninit", None) => Fill::Uninitialized,
        ("rand", seed) => Fill::Random { seed: seed.unwrap_or("0").parse().map_err(|_| form())? },
        _ => return Err(form()),
    };
    match parts.next() {
        None => Ok(ArgumentSource::Filled { element, shape, fill }),
        Some(_) => Err(form()),
    }
}

/// Parses `1,2,3`: numbers, or the components of whole vectors.
fn listed(element: Element, text: &str) -> Result<ArgumentSource, String> {
    let values = text.split(',').map(|part| element.scalar.value(part.trim()));
    let values = values.collect::<Result<Vec<ConstantValue>, String>>()?;
    if values.len() % element.components != 0 {
        let (name, components, given) = (element.scalar.name(), element.components, values.len());
        return Err(format!("{name}{components} has {components} components, but '{text}' has {given}"));
    }
    Ok(ArgumentSource::Listed { element, values })
}

/// `n=4096,scale=0.5`
fn fields(text: &str) -> Result<ArgumentSource, String> {
    let field = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let fields = text.split(',').map(field).collect::<Option<Vec<_>>>();
    fields.map(ArgumentSource::Fields).ok_or_else(|| "write a struct as struct:FIELD=VALUE,FIELD=VALUE".into())
}

/// The scalar type of an argument's element: `uint` in `uint`, `uint4`, `atomic_uint`, `packed_uint3`, `uint [8]`;
/// `None` for a struct.
pub(crate) fn scalar_in(element_type: &str) -> Option<Scalar> {
    let name = element_type.split('[').next().unwrap_or_default().trim_end();
    let name = ["atomic_", "packed_"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let name = name.trim_end_matches(|c: char| c == 'x' || c.is_ascii_digit());
    Scalar::named(name)
}

/// True for vectors of three, which take the space of four.
pub(crate) fn is_padded(ty: &str) -> bool {
    scalar_in(ty).is_some_and(|scalar| ty.strip_prefix(scalar.name()) == Some("3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> ArgumentSource {
        Given::parse(&format!("0={text}")).expect(text).source
    }

    fn error(text: &str) -> String {
        Given::parse(text).expect_err(text)
    }

    #[test]
    fn arguments_have_an_index_or_a_name() {
        let given = Given::parse("3=@a=b.npy").expect("a name of a file may be anything");
        assert_eq!((given.key, given.source), (Key::Index(3), ArgumentSource::File("a=b.npy".into())));
        assert!(!given.as_bytes);
        let given = Given::parse("weights=bytes:@x.npy").expect("bytes");
        assert_eq!((given.key, given.as_bytes), (Key::Name("weights".into()), true));
        assert_eq!((given.text.as_str(), given.source), ("bytes:@x.npy", ArgumentSource::File("x.npy".into())));
    }

    #[test]
    fn arrays_are_filled() {
        let float = Element { scalar: Scalar::Float, components: 1 };
        let filled = |shape: &[usize], fill| ArgumentSource::Filled { element: float, shape: shape.to_vec(), fill };
        assert_eq!(source("zeros:f32:1024"), filled(&[1024], Fill::Value(ConstantValue::Float(0.0))));
        assert_eq!(source("ones:float:32x128"), filled(&[32, 128], Fill::Value(ConstantValue::Float(1.0))));
        assert_eq!(source("full:f32:2:-0.5"), filled(&[2], Fill::Value(ConstantValue::Float(-0.5))));
        assert_eq!(source("iota:f32:8"), filled(&[8], Fill::Iota));
        assert_eq!(source("uninit:f32:8"), filled(&[8], Fill::Uninitialized));
        assert_eq!(source("rand:f32:8"), filled(&[8], Fill::Random { seed: 0 }));
        assert_eq!(source("rand:f32:8:7"), filled(&[8], Fill::Random { seed: 7 }));
    }

    #[test]
    fn numbers_are_listed() {
        let uint = Element { scalar: Scalar::Uint, components: 1 };
        let values = vec![ConstantValue::Uint(4096)];
        assert_eq!(source("u32:4096"), ArgumentSource::Listed { element: uint, values });
        let ArgumentSource::Listed { element, values } = source("float2:1,2, 3,4") else { panic!("it is a list") };
        assert_eq!((element.components, values.len()), (2, 4));
        assert_eq!(error("0=float4:1,2"), "float4 has 4 components, but '1,2' has 2");
        assert_eq!(error("0=u32:-1"), "-1 does not fit into uint");
    }

    #[test]
    fn structs_are_lists_of_fields() {
        let fields = vec![("n".to_owned(), "4096".to_owned()), ("scale".to_owned(), "0.5".to_owned())];
        assert_eq!(source("struct:n=4096, scale=0.5"), ArgumentSource::Fields(fields));
        assert!(error("0=struct:4096").contains("struct:FIELD=VALUE"));
    }

    #[test]
    fn malformed_values_are_answered_with_the_right_form() {
        for text in ["", "0", "=@x", "0=", "0=4096", "0=x.npy"] {
            assert_eq!(error(text), FORM, "{text}");
        }
        assert_eq!(error("0=@"), "the file name after '@' is missing");
        assert!(error("0=zeros:f64:8").starts_with("no type 'f64'"));
        for text in [
            "zeros:f32",
            "zeros:f32:",
            "zeros:f32:8x",
            "zeros:f32:-1",
            "zeros:f32:8:1",
            "full:f32:8",
            "iota:f32:1:2:3",
            "uninit:f32:8:0",
        ] {
            assert!(error(&format!("0={text}")).contains(":TYPE:SHAPE"), "{text}");
        }
        assert!(error("0=rand:f32:8:x").contains("rand:TYPE:SHAPE[:SEED]"));
        assert!(error("0=zeros:f32:99999999999999999999").contains("zeros:TYPE:SHAPE"));
    }

    #[test]
    fn elements_have_a_scalar_type() {
        for (element, scalar) in [
            ("float", Scalar::Float),
            ("half4", Scalar::Half),
            ("bfloat", Scalar::Bfloat),
            ("packed_uchar3", Scalar::Uchar),
            ("atomic_uint", Scalar::Uint),
            ("float4x4", Scalar::Float),
            ("int [8]", Scalar::Int),
            ("short2[4][2]", Scalar::Short),
            ("bool", Scalar::Bool),
        ] {
            assert_eq!(scalar_in(element), Some(scalar), "{element}");
        }
        for element in ["block_q4_0", "Params", "void", "", "device float *", "texture2d<float>"] {
            assert_eq!(scalar_in(element), None, "{element}");
        }
    }
}
