//! Split models.

use std::path::PathBuf;

use metalworks_inference::gguf::{Builder, Gguf};
use metalworks_inference::weights::{FileErrorKind, TensorType};

use crate::sample::{self, Scratch};

/// Returns a part with one tensor of 4 bytes.
fn part(number: u16, count: u16, tensors: i32) -> Vec<u8> {
    let builder =
        Builder::new().key("split.no", number).key("split.count", count).key("split.tensors.count", tensors);
    let builder = if number == 0 { builder.key("general.architecture", "llama") } else { builder };
    let builder = builder.tensor(&format!("part.{number}"), TensorType::F32, &[1]);
    builder.to_bytes(|_, out| out.write_all(&[number as u8; 4])).expect("the size is right")
}

/// Writes these parts of a model of three. Returns the path of the first part.
fn parts(scratch: &Scratch, numbers: &[u16]) -> PathBuf {
    for &number in numbers {
        scratch.file(&format!("m-{:05}-of-00003.gguf", number + 1), &part(number, 3, 3));
    }
    scratch.path().join("m-00001-of-00003.gguf")
}

#[test]
fn opens_all_parts_from_any_part() {
    let scratch = Scratch::new();
    parts(&scratch, &[0, 1, 2]);
    for number in 1..=3 {
        let model =
            Gguf::open(scratch.path().join(format!("m-{number:05}-of-00003.gguf"))).expect("all parts exist");
        assert_eq!(model.architecture(), Ok("llama"));
        assert_eq!(model.path(), Some(scratch.path().join("m-00001-of-00003.gguf").as_path()));
        for (index, tensor) in model.weights().tensors().iter().enumerate() {
            assert_eq!((tensor.name.as_str(), tensor.file), (format!("part.{index}").as_str(), index));
            assert_eq!(model.weights().data(tensor), [index as u8; 4]);
        }
        assert_eq!((model.weights().tensors().len(), model.weights().files().len()), (3, 3));
    }
}

#[track_caller]
fn says(path: PathBuf, part: &str) {
    let error = Gguf::open(path).expect_err("a part is missing or wrong");
    assert_eq!(error.kind(), FileErrorKind::WrongPart, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn error_names_a_missing_part() {
    let scratch = Scratch::new();
    let first = parts(&scratch, &[0, 2]);
    says(first, "m-00002-of-00003.gguf: part 2 of 3 is missing: download it too");
    says(scratch.path().join("m-00003-of-00003.gguf"), "part 2 of 3 is missing");
}

#[test]
fn rejects_parts_of_other_models() {
    let scratch = Scratch::new();
    let first = parts(&scratch, &[0, 1, 2]);
    scratch.file("m-00002-of-00003.gguf", &part(2, 3, 3));
    says(first.clone(), "m-00002-of-00003.gguf: is part 3 of 3, but its name says part 2 of 3");
    scratch.file("m-00002-of-00003.gguf", &part(1, 4, 3));
    says(first.clone(), "is part 2 of 4, but its name says part 2 of 3");
    scratch.file("m-00002-of-00003.gguf", &part(1, 3, 3));
    scratch.file("m-00001-of-00003.gguf", &part(0, 3, 5));
    says(first.clone(), "expected 5 tensors in all parts, found 3");
    scratch.file("m-00001-of-00003.gguf", &part(0, 4, 3));
    says(first, "is one of 4 parts, but its name says one of 3");
}

#[test]
fn rejects_a_part_without_a_part_name() {
    let scratch = Scratch::new();
    for name in ["model.gguf", "m-1-of-3.gguf", "00001-of-00003.gguf"] {
        says(scratch.file(name, &part(0, 3, 3)), "it must end in -00001-of-00003.gguf");
    }
    let error = Gguf::from_bytes(part(0, 3, 3)).expect_err("the other parts cannot be found");
    assert_eq!(error.kind(), FileErrorKind::WrongPart);
    // The only part of a model may have any name.
    Gguf::open(scratch.file("one.gguf", &part(0, 1, 1))).expect("the model has one part");
}

#[test]
fn error_names_a_corrupt_part() {
    let scratch = Scratch::new();
    let first = parts(&scratch, &[0, 1, 2]);
    scratch.file("m-00003-of-00003.gguf", &part(2, 3, 3)[..40]);
    let error = Gguf::open(&first).expect_err("a part is truncated");
    assert_eq!(error.path(), Some(scratch.path().join("m-00003-of-00003.gguf").as_path()));
    scratch.file("m-00003-of-00003.gguf", &sample::bytes());
    let error = Gguf::open(&first).expect_err("the file is not a part");
    assert!(error.to_string().contains("m-00003-of-00003.gguf: there is no key 'split.no'"), "{error}");
}
