//! `--const`: values of function constants, for every subcommand that specializes kernels.

use abi::{ConstantKey, ConstantValue, Constants};
use clap::Args;

use crate::scalar::Element;

#[derive(Args)]
pub(crate) struct ConstantFlags {
    /// Set a function constant
    ///
    /// By index or name: `--const 0=u32:128`, `--const USE_BIAS=bool:true`, `--const 3=float4:0,0,0,1`. The type must
    /// be that of the constant, by Metal's name or a short one (bool, i8 to i64, u8 to u64, f16, bf16, f32). May be
    /// given several times.
    #[arg(long = "const", value_name = "KEY=TYPE:VALUE", value_parser = constant)]
    constants: Vec<(ConstantKey, ConstantValue)>,
}

impl ConstantFlags {
    /// All values; fails if a constant is set twice.
    pub(crate) fn values(&self) -> Result<Constants, String> {
        collect(&self.constants).map_err(|error| format!("--const: {error}"))
    }
}

/// Collects values; fails if a constant is set twice.
pub(crate) fn collect(list: &[(ConstantKey, ConstantValue)]) -> Result<Constants, String> {
    let mut values = Constants::new();
    for (at, (key, value)) in list.iter().enumerate() {
        if list[..at].iter().any(|(earlier, _)| earlier == key) {
            return Err(format!("function constant {} is set twice", display_key(key)));
        }
        match key {
            ConstantKey::Index(index) => values.set(*index, value.clone()),
            ConstantKey::Name(name) => values.set_named(name, value.clone()),
        };
    }
    Ok(values)
}

fn display_key(key: &ConstantKey) -> String {
    match key {
        ConstantKey::Index(index) => index.to_string(),
        ConstantKey::Name(name) => format!("'{name}'"),
    }
}

/// Parses `INDEX_OR_NAME=TYPE:VALUE`.
pub(crate) fn constant(text: &str) -> Result<(ConstantKey, ConstantValue), String> {
    let form = "a function constant is set as INDEX=TYPE:VALUE or NAME=TYPE:VALUE, such as 0=u32:128";
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or(form)?;
    let (element, value) = value.split_once(':').ok_or(form)?;
    let key = match key.parse() {
        Ok(index) => ConstantKey::Index(index),
        Err(_) => ConstantKey::Name(key.to_owned()),
    };
    Ok((key, constant_value(element.parse()?, value)?))
}

fn constant_value(element: Element, text: &str) -> Result<ConstantValue, String> {
    if element.components == 1 {
        return element.scalar.value(text);
    }
    let components = text.split(',').map(|part| element.scalar.value(part.trim()));
    let components = components.collect::<Result<Vec<ConstantValue>, String>>()?;
    if components.len() != element.components {
        let (name, wanted, given) = (element.scalar.name(), element.components, components.len());
        return Err(format!("{name}{wanted} has {wanted} components, but '{text}' has {given}"));
    }
    Ok(ConstantValue::Vector(components))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(texts: &[&str]) -> ConstantFlags {
        ConstantFlags { constants: texts.iter().map(|text| constant(text).expect(text)).collect() }
    }

    #[test]
    fn constants_are_set_by_index_and_by_name() {
        let values = flags(&["0=u32:128", "USE_BIAS=bool:true", "3=short2:-1, 2"]).values().expect("none is twice");
        let mut expected = Constants::new();
        expected.set(0, ConstantValue::Uint(128)).set_named("USE_BIAS", ConstantValue::Bool(true));
        expected.set(3, ConstantValue::Vector(vec![ConstantValue::Short(-1), ConstantValue::Short(2)]));
        assert_eq!(values, expected);
        assert!(flags(&[]).values().expect("nothing is twice").is_empty());
    }

    #[test]
    fn rejects_a_constant_set_twice() {
        let twice = flags(&["0=u32:128", "1=u32:1", "0=u32:256"]).values();
        assert_eq!(twice, Err("--const: function constant 0 is set twice".into()));
        assert_eq!(
            flags(&["K=u32:1", "K=u32:1"]).values(),
            Err("--const: function constant 'K' is set twice".into())
        );
    }

    #[test]
    fn rejects_malformed_constants() {
        for text in ["", "0", "0=", "0=128", "=u32:1", "K:u32:1"] {
            assert!(constant(text).expect_err(text).contains("such as 0=u32:128"), "{text}");
        }
        assert!(constant("0=f64:1").expect_err("no such type").starts_with("no type 'f64'"));
        assert_eq!(constant("0=u8:300"), Err("300 does not fit into uchar".into()));
        assert_eq!(constant("0=float4:1,2,3"), Err("float4 has 4 components, but '1,2,3' has 3".into()));
        assert_eq!(constant("0=u32:1,2"), Err("'1,2' is not a number of type uint".into()));
    }
}
