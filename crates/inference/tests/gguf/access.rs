//! Typed access to metadata.

use metalworks_inference::gguf::{Array, Gguf, Strings};
use metalworks_inference::weights::FileErrorKind;

use crate::sample;

fn model() -> Gguf {
    Gguf::from_bytes(sample::bytes()).expect("the sample is valid")
}

#[track_caller]
fn says<T: std::fmt::Debug>(
    result: Result<T, metalworks_inference::weights::FileError>,
    kind: FileErrorKind,
    message: &str,
) {
    let error = result.expect_err("the value has another type");
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn converts_integers_that_fit_and_rejects_others() {
    let model = model();
    assert_eq!(model.get::<usize>("t.u8"), Ok(200));
    assert_eq!(model.get::<u8>("t.u8"), Ok(200));
    assert_eq!(model.get::<i64>("t.i8"), Ok(-100));
    assert_eq!(model.get::<u64>("t.u64"), Ok(u64::MAX));
    assert_eq!(model.get::<i64>("t.i64"), Ok(i64::MIN));
    let wrong = FileErrorKind::WrongValue;
    says(model.get::<i8>("t.u8"), wrong, "key 't.u8': expected i8, found u8: 200 does not fit");
    says(model.get::<u32>("t.i8"), wrong, "key 't.i8': expected u32, found i8: -100 does not fit");
    says(
        model.get::<u32>("t.u64"),
        wrong,
        "key 't.u64': expected u32, found u64: 18446744073709551615 does not fit",
    );
}

#[test]
fn errors_name_expected_and_found_type() {
    let model = model();
    let wrong = FileErrorKind::WrongValue;
    says(model.get::<u32>("t.f32"), wrong, "key 't.f32': expected u32, found f32");
    says(model.get::<f32>("t.u32"), wrong, "key 't.u32': expected f32, found u32");
    says(model.get::<&str>("t.bool"), wrong, "key 't.bool': expected string, found bool");
    says(model.get::<bool>("a.u8"), wrong, "key 'a.u8': expected bool, found array of 3 u8");
    says(
        model.get::<Vec<u32>>("a.string"),
        wrong,
        "key 'a.string': expected array of u32, found array of 3 string",
    );
    says(model.get_optional::<u32>("t.f32"), wrong, "key 't.f32': expected u32, found f32");
    assert_eq!(model.get::<f32>("t.f64"), Ok(-0.1));
    assert_eq!(model.get::<f64>("t.f32"), Ok(1.5));
    assert_eq!(model.get::<String>("general.name"), Ok("Probe £".to_owned()));
    assert_eq!(model.architecture(), Ok("llama"));
}

#[test]
fn converts_arrays_element_by_element() {
    let model = model();
    let wrong = FileErrorKind::WrongValue;
    assert_eq!(model.get::<Vec<i64>>("a.u8"), Ok(vec![1, 2, 3]));
    assert_eq!(model.get::<Vec<f64>>("a.f32"), Ok(vec![0.5, f64::INFINITY]));
    assert_eq!(model.get::<Vec<u64>>("a.none"), Ok(vec![]));
    assert_eq!(model.get::<Vec<&str>>("a.string"), Ok(vec!["<s>", "", "ĠÄ"]));
    assert_eq!(model.get::<&Strings>("a.bytes").map(|texts| texts.get(0)), Ok(Some(&b"\xff\xfe"[..])));
    says(
        model.get::<Vec<u16>>("a.i16"),
        wrong,
        "key 'a.i16': expected array of u16, found array of 2 i16: element 0: -1 does not fit",
    );
    says(
        model.get::<Vec<&str>>("a.bytes"),
        wrong,
        "key 'a.bytes': expected array of string, found array of 2 string: element 0 is not UTF-8",
    );
    let nested = model.get::<&Array>("a.array").expect("the key exists");
    assert_eq!((nested.len(), nested.get(0)), (3, Some(vec![1i32, -2].into())));
}

#[test]
fn error_of_a_missing_key_suggests_a_similar_one() {
    let model = model();
    assert_eq!(model.get_optional::<u32>("x"), Ok(None));
    let missing = FileErrorKind::MissingKey;
    says(model.get::<u32>("x"), missing, "there is no key 'x' (u32) in the metadata");
    says(
        model.get::<u32>("qwen2.u32"),
        missing,
        "there is no key 'qwen2.u32' (u32) in the metadata; there is 't.u32'",
    );
}
