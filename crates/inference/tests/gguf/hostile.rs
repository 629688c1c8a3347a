//! Files with one error each: the message says what, where, and what to do.

use metalworks_inference::gguf::{Gguf, ValueType};
use metalworks_inference::weights::FileErrorKind::{self, Damaged, NotAModel, Unsupported};

use crate::sample::{self, Raw};

#[track_caller]
fn says(raw: Raw, kind: FileErrorKind, message: &str) {
    let error = raw.error();
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn identifies_files_of_other_formats() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "empty"),
        (b"GG", "first 4 bytes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"PK\x03\x04zip", "PyTorch"),
        (b"lmgg\x01", "before GGUF"),
        (b"tjgg\x01", "before GGUF"),
        (b"\x40\x00\x00\x00\x00\x00\x00\x00{\"__metadata__\"", "safetensors"),
        (b"<!DOCTYPE html>", "web page"),
        (b"FUGG\x03\x00\x00\x00", "does not begin with 'GGUF'"),
    ];
    for (bytes, part) in cases {
        let error = Raw(bytes.to_vec()).error();
        assert_eq!((error.kind(), error.offset()), (NotAModel, Some(0)));
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn rejects_other_versions_and_big_endian_files() {
    let version = |version: u32| Raw(b"GGUF".to_vec()).u32(version).u64(0).u64(0);
    for (number, part) in
        [(1, "convert the model again"), (4, "GGUF version 4; versions 2 and 3"), (3 << 24, "--bigendian")]
    {
        let error = version(number).error();
        assert_eq!((error.kind(), error.offset()), (Unsupported, Some(4)));
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(version(0).error().kind(), Damaged);
}

#[test]
fn rejects_counts_and_lengths_beyond_the_file() {
    let end = ": the file is truncated or corrupt; download it again";
    let room = |what: &str, count: u64, room: u64| {
        format!("{what} is {count}, but the rest of the file has room for at most {room}{end}")
    };
    says(Raw::new(u64::MAX, 0), Damaged, &format!("at byte 8: {}", room("the number of tensors", u64::MAX, 0)));
    says(Raw::new(0, 1 << 40), Damaged, &format!("at byte 16: {}", room("the number of keys", 1 << 40, 0)));
    let key = || Raw::new(0, 1).text("k");
    says(
        key().u32(ValueType::String as u32).u64(1 << 60),
        Damaged,
        &format!("at byte 45: key 'k': the value needs {} bytes, but the file ends after 0{end}", 1u64 << 60),
    );
    says(
        key().u32(ValueType::Array as u32).u32(ValueType::U64 as u32).u64(1 << 61).u64(7),
        Damaged,
        &format!("at byte 41: key 'k': {}", room("the number of elements", 1 << 61, 1)),
    );
    says(
        Raw::new(0, 1).u64(u64::MAX).bytes(&[0; 40]),
        Damaged,
        &format!("at byte 32: key 0: the key needs {} bytes, but the file ends after 40{end}", u64::MAX),
    );
}

#[test]
fn rejects_invalid_keys_and_values() {
    let corrupt = ": the file is corrupt; download it again";
    let kind = format!("at byte 33: key 'k': unknown value type 13{corrupt}");
    says(Raw::new(0, 1).text("k").u32(13).u64(0), Damaged, &kind);
    let truth = format!("at byte 37: key 'k': expected a bool, 0 or 1, found 2{corrupt}");
    says(Raw::new(0, 1).text("k").u32(7).bytes(&[2]), Damaged, &truth);
    let twice = Raw::new(0, 2).text("k").u32(0).bytes(&[1]).text("k").u32(0).bytes(&[1]);
    says(twice, Damaged, &format!("at byte 38: duplicate key 'k'{corrupt}"));
    let not_utf8 = Raw::new(0, 1).u64(1).bytes(b"\xff").u32(0).bytes(&[1]);
    says(not_utf8, Damaged, "at byte 24: key 0: the key is not UTF-8");
    let value = Raw::new(0, 1).text("k").u32(8).u64(2).bytes(b"a\xff");
    says(value, Damaged, "at byte 37: key 'k': the string is not UTF-8");
    let long = Raw::new(0, 1).text(&"k".repeat(65_536)).u32(0).bytes(&[1]);
    says(long, Damaged, "at byte 24: key 0: the key has 65536 bytes: more than 65535");
}

#[test]
fn rejects_deeply_nested_arrays() {
    let nested = |depth: usize| {
        let raw = Raw::new(0, 1).text("k").u32(ValueType::Array as u32);
        let raw = (1..depth).fold(raw, |raw, _| raw.u32(ValueType::Array as u32).u64(1));
        raw.u32(ValueType::U8 as u32).u64(0)
    };
    Gguf::from_bytes(nested(8).0).expect("8 levels are allowed");
    assert!(nested(9).error().to_string().contains("key 'k': arrays are nested more than 8 deep"));
    assert!(nested(1_000_000).error().to_string().contains("nested more than 8 deep"));
}

#[test]
fn rejects_invalid_alignments() {
    for (value, part) in [(0u32, "0 is not a power of two"), (48, "48 is not a power of two")] {
        let error = Raw::new(0, 1).text("general.alignment").u32(4).u32(value).error();
        assert!(error.kind() == Damaged && error.to_string().contains(part), "{error}");
    }
    let error = Raw::new(0, 1).text("general.alignment").u32(8).text("32").error();
    assert_eq!(error.to_string(), "key 'general.alignment': expected u32, found string");
}

#[test]
fn rejects_invalid_tensors() {
    let tensor = |dimensions: &[u64], kind: u32, offset: u64| {
        Raw::new(1, 0).tensor("x", dimensions, kind, offset).bytes(&[0; 64])
    };
    let cases = [
        (tensor(&[1; 5], 0, 0), "tensor 'x': has 5 dimensions, more than 4"),
        (tensor(&[1], 0, 8), "tensor 'x': begins at 8, which is not a multiple of the alignment 32"),
        (
            tensor(&[33], 2, 0),
            "tensor 'x': its rows of 33 elements are not a multiple of the 32 elements in a Q4_0 block",
        ),
        (tensor(&[1 << 32, 1 << 32], 24, 0), "tensor 'x': the size of [4294967296, 4294967296] elements overflows"),
        (tensor(&[1 << 62], 0, 0), "tensor 'x': the size of [4611686018427387904] elements overflows"),
        (tensor(&[8], 0, u64::MAX - 31), "tensor 'x': the size of [8] elements overflows"),
        (tensor(&[1 << 50], 24, 0), "tensor 'x' ends 1125899906842567 bytes after the end of the file"),
        (
            tensor(&[8], 0, u64::MAX - 63),
            "bytes after the end of the file: the file is truncated or corrupt; download it again",
        ),
    ];
    for (raw, part) in cases {
        let error = raw.error();
        assert!(error.kind() == Damaged && error.offset() == Some(24), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = tensor(&[1], 42, 0).error();
    assert!(error.kind() == Unsupported && error.to_string().contains("unknown tensor type 42"), "{error}");
}

#[test]
fn rejects_duplicate_names_and_overlapping_ranges() {
    let two = |names: [&str; 2], offset: u64| {
        let raw = Raw::new(2, 0).tensor(names[0], &[16], 0, 0).tensor(names[1], &[16], 0, offset);
        let padding = raw.0.len().next_multiple_of(32) - raw.0.len();
        raw.bytes(&vec![0; padding + 128])
    };
    Gguf::from_bytes(two(["x", "y"], 64).0).expect("names and ranges are disjoint");
    says(two(["x", "x"], 64), Damaged, "tensor 'x' is there twice");
    assert!(two(["x", "y"], 32).error().to_string().contains("tensors 'x' and 'y' overlap"));
    assert!(two(["x", "y"], 0).error().to_string().contains("tensors 'x' and 'y' overlap"));
}

#[test]
fn shortens_and_escapes_names_in_messages() {
    let error = Raw::new(0, 1).text(&format!("\u{1b}[2J{}", "k".repeat(60_000))).u32(99).u64(0).error().to_string();
    assert!(error.len() < 250 && !error.contains('\u{1b}'), "{error}");
}

#[test]
fn rejects_every_prefix_of_a_file() {
    let bytes = sample::bytes();
    // Padding and an empty tensor follow the tensor "one".
    let model = Gguf::from_bytes(bytes.clone()).expect("the sample is valid");
    let end = model.weights().tensor("one").expect("the tensor exists").range.end as usize;
    for len in 0..end {
        let error = Gguf::from_bytes(bytes[..len].to_vec()).expect_err("the file is truncated");
        assert!(error.kind() == Damaged || len < 4, "{len}: {error}");
        assert!(error.to_string().contains("download it again"), "{len}: {error}");
    }
}

#[test]
fn rejects_missing_files_folders_and_empty_files() {
    let scratch = sample::Scratch::new();
    let missing = scratch.path().join("missing.gguf");
    let error = Gguf::open(&missing).expect_err("the file does not exist");
    assert_eq!(error.to_string(), format!("{}: there is no such file", missing.display()));
    let error = Gguf::open(scratch.path()).expect_err("it is a folder");
    assert_eq!((error.kind(), error.path()), (NotAModel, Some(scratch.path())));
    let empty = scratch.file("empty.gguf", b"");
    assert_eq!(Gguf::open(&empty).expect_err("it is empty").kind(), NotAModel);
}
