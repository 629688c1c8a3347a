//! Libraries made here, libraries broken on purpose, and Apple's.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn constant(name: &'static str, data_type: u8, index: u16) -> Constant<'static> {
    Constant { name: name.into(), data_type, index, is_active: true }
}

/// Two kernels; the second has function constants.
fn library() -> Library<'static> {
    let mut library = Library::new(Header::default());
    library.add(Function::new("add", FunctionKind::Kernel, b"BC\xc0\xdeone")).unwrap();
    let mut second = Function::new("scale_ü", FunctionKind::Kernel, b"BC\xc0\xdeanother one");
    second.constants = vec![constant("align_N", 53, 201), constant("steps", 29, 7)];
    second.private_tags = vec![(*b"DEBI", Cow::Borrowed(b"\x07\0\0\0a.metal\0"))];
    library.add(second).unwrap();
    library
}

/// Also with reflection buffers, a foreign UUID, and an unknown section.
fn full_library() -> Library<'static> {
    let mut library = library();
    library.header.version = [1, 2, 7];
    library.uuid = Some([7; 16]);
    library.sections = vec![(*b"SLST", Cow::Borrowed(b"scripts"))];
    for (index, function) in library.functions.iter_mut().enumerate() {
        function.reflection = Some(vec![b'x'; 20 + index].into());
    }
    library
}

fn problem(bytes: &[u8]) -> Problem {
    Library::parse(bytes).expect_err("the file is wrong").problem
}

/// The offset of the `nth` occurrence of these bytes.
fn find(file: &[u8], needle: &[u8], nth: usize) -> usize {
    file.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle).nth(nth).expect("it is there").0
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

#[test]
fn libraries_are_read_as_they_were_written() {
    for library in [Library::new(Header::default()), library(), full_library()] {
        let file = library.write().unwrap();
        let read = Library::parse(&file).unwrap();
        assert_eq!(read, library);
        assert_eq!(read.write().unwrap(), file);
    }
}

#[test]
fn parts_are_found_in_the_file() {
    let file = full_library().write().unwrap();
    assert_eq!(stored_uuid(&file).unwrap(), Some([7; 16]));
    let made = library().write().unwrap();
    assert_eq!(stored_uuid(&made).unwrap(), Some(library().make_uuid()));
    let read = Library::parse(&file).unwrap();
    let (size, offset) = read.functions()[1].extent(&file);
    assert_eq!(&file[offset.unwrap()..][..size], read.functions()[1].bitcode().unwrap());
    assert_eq!(Function::new("k", FunctionKind::Kernel, b"BC").extent(&file[..1]).1, None);
}

#[test]
fn functions_are_found_by_name() {
    let mut library = library();
    assert_eq!(library.function("scale_ü").unwrap().constants.len(), 2);
    assert!(library.function("scale").is_none());
    assert!(library.add(Function::new("add", FunctionKind::Kernel, b"BC")).is_err());
    library.add(Function::new("a", FunctionKind::Vertex, b"BC")).unwrap();
    for function in library.functions() {
        assert_eq!(library.function(function.name()), Some(function));
    }
}

#[test]
fn modules_are_wrapped_once() {
    let wrapped = wrap(b"BC\xc0\xde1234");
    assert_eq!(wrapped.len(), 32);
    assert_eq!(unwrap(&wrapped), Some(&b"BC\xc0\xde1234"[..]));
    assert_eq!(wrap(&wrapped), wrapped);
    assert_eq!(unwrap(b"BC\xc0\xde1234"), None);
    assert_eq!(unwrap(&wrapped[..24]), None);
}

#[test]
fn data_types() {
    assert_eq!(data_type("bool"), Some(53));
    assert_eq!(data_type("float3"), Some(5));
    assert_eq!(data_type("float34"), None);
    assert_eq!(data_type("Params"), None);
}

/// As in the libraries of PyTorch's wheel.
#[test]
fn sizes_of_metadata_may_not_count_themselves() {
    let expected = library();
    let mut file = expected.write().expect("it fits");
    let empty = b"\x08\0\0\0ENDT";
    let groups = file.windows(empty.len()).filter(|window| window == empty).count();
    for nth in (0..groups).rev() {
        let at = find(&file, empty, nth);
        file[at] = 4;
    }
    assert!(groups > 0, "the library has functions without metadata");
    assert_eq!(Library::parse(&file).expect("it is valid"), expected);
}

#[test]
fn every_truncation_is_an_error() {
    let file = full_library().write().unwrap();
    for length in 0..file.len() {
        assert!(Library::parse(&file[..length]).is_err());
        // The same with a header that admits it.
        if let Some(field) = file[..length].get(0x10..0x18) {
            assert_eq!(field.len(), 8);
            let mut shorter = file[..length].to_vec();
            put(&mut shorter, 0x10, &(length as u64).to_le_bytes());
            assert!(Library::parse(&shorter).is_err());
        }
    }
}

#[test]
fn wrong_headers() {
    let file = library().write().unwrap();
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        put(&mut file, at, bytes);
        problem(&file)
    };
    assert_eq!(with(0, b"MTLA"), Problem::Magic);
    assert_eq!(problem(b""), Problem::Magic);
    assert_eq!(with(6, &[3]), Problem::Version([1, 3, 6]));
    assert!(matches!(with(0x10, &[0]), Problem::FileSize { .. }));
    for section in [0x18, 0x28, 0x38, 0x48] {
        assert!(matches!(with(section, &u64::MAX.to_le_bytes()), Problem::OutOfBounds { .. }));
        assert!(matches!(with(section + 8, &u64::MAX.to_le_bytes()), Problem::OutOfBounds { .. }));
    }
    assert!(matches!(with(0x48, &[0x58, 0, 0, 0, 0, 0, 0, 0]), Problem::Overlap { .. }));
    assert_eq!(with(0x58, &[0xff; 4]), Problem::Count(0xffff_ffff));
}

#[test]
fn wrong_entries() {
    let file = library().write().unwrap();
    let with = |needle: &[u8], nth: usize, skip: usize, bytes: &[u8]| {
        let mut file = file.clone();
        let at = find(&file, needle, nth) + skip;
        put(&mut file, at, bytes);
        problem(&file)
    };
    for tag in ["NAME", "TYPE", "HASH", "OFFT", "VERS", "MDSZ"] {
        assert_eq!(with(tag.as_bytes(), 1, 0, b"XXXX"), Problem::MissingTag(tag));
    }
    assert_eq!(with(b"MDSZ", 0, 0, b"RFLT"), Problem::MissingTag("MDSZ"));
    assert_eq!(with(b"VERS", 0, 0, b"MDSZ"), Problem::DuplicateTag("MDSZ".into()));
    assert!(matches!(with(b"TYPE", 0, 0, b"HASH"), Problem::Length { found: 1, expected: 32, .. }));
    assert_eq!(with(b"add\0", 0, 3, b"x"), Problem::Name);
    assert_eq!(with(b"add\0", 0, 0, b"\xff"), Problem::Name);
    assert!(matches!(with(b"MDSZ", 0, 6, &[0xff; 8]), Problem::OutOfBounds { .. }));
    assert!(matches!(with(b"OFFT", 1, 6 + 16, &[16]), Problem::Wrapper | Problem::OutOfBounds { .. }));
    assert!(matches!(with(b"OFFT", 1, 6, &[0]), Problem::Overlap { .. }));
    assert!(matches!(with(b"OFFT", 1, 6, &[0xff; 8]), Problem::OutOfBounds { .. }));
    assert!(matches!(with(b"CNST", 0, 6, &[0xff; 2]), Problem::Name | Problem::Truncated { .. }));
    assert!(matches!(with(b"CNST", 0, 6, &[1, 0]), Problem::Excess(_)));
}

#[test]
fn shared_bitcode_is_an_error() {
    let mut file = library().write().unwrap();
    let (first, second) = (find(&file, b"OFFT", 0), find(&file, b"OFFT", 1));
    let (from, to) = (first + 22..first + 30, second + 22);
    file.copy_within(from, to);
    let (first, second) = (find(&file, b"MDSZ", 0), find(&file, b"MDSZ", 1));
    file.copy_within(first + 6..first + 14, second + 6);
    assert_eq!(problem(&file), Problem::Overlap { with: "bitcode, entry 0".into() });
}

#[test]
fn reflection_is_for_all_functions_or_none() {
    let mut library = full_library();
    library.header.version = [1, 2, 6];
    assert_eq!(library.unify_reflection(|_| None), None);
    assert_eq!(library.header.version, [1, 2, 7]);
    assert!(library.functions().iter().all(|function| function.reflection.is_some()));
    library.functions[1].reflection = None;
    assert_eq!(library.clone().unify_reflection(|_| Some(vec![1])), None);
    assert_eq!(library.unify_reflection(|_| None), Some("scale_ü"));
    assert_eq!(library.header.version, [1, 2, 6]);
    assert!(library.functions().iter().all(|function| function.reflection.is_none()));
    assert_eq!(library.unify_reflection(|_| None), None);
    assert_eq!(Library::parse(&library.write().unwrap()).unwrap(), library);
}

#[test]
fn names_occur_once() {
    let mut library = library();
    library.functions[1].name = "add".into();
    let file = library.write().unwrap();
    let error = Library::parse(&file).unwrap_err();
    assert_eq!(error.offset, Some(find(&file, b"add\0", 1) as u64));
    assert_eq!(error.problem, Problem::DuplicateName("add".into()));
    assert!(error.to_string().starts_with("function list, entry 1 at 0x"));
}

#[test]
fn bitcode_is_what_was_hashed() {
    let mut file = library().write().unwrap();
    let at = find(&file, b"another", 0);
    file[at] ^= 1;
    let read = Library::parse(&file).unwrap();
    assert!(read.function("add").unwrap().bitcode().is_ok());
    let error = read.function("scale_ü").unwrap().bitcode().unwrap_err();
    assert_eq!(error.problem, Problem::Hash);
    assert_eq!(error.to_string(), "bitcode of 'scale_ü': its SHA-256 is not the one in the function list");
}

#[test]
fn libraries_that_the_format_cannot_hold_are_refused() {
    let mut long = Library::new(Header::default());
    long.add(Function::new("x".repeat(70_000), FunctionKind::Kernel, b"BC")).unwrap();
    assert!(matches!(long.write(), Err(WriteError::TooLong { .. })));
    let mut zero = Library::new(Header::default());
    zero.add(Function::new("a\0b", FunctionKind::Kernel, b"BC")).unwrap();
    assert_eq!(zero.write(), Err(WriteError::Name("a\0b".into())));
    let mut partial = full_library();
    partial.functions[0].reflection = None;
    assert_eq!(partial.write(), Err(WriteError::PartialReflection));
}

proptest! {
    // The same cases in every run, of which there is nothing to note.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(4096)
    })]

    /// Whatever is changed: an error, or a library that is written and read again.
    #[test]
    fn mutations_do_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = full_library().write().unwrap();
        for (index, byte) in changes {
            let at = index.index(file.len());
            file[at] = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
            let length = file.len() as u64;
            if file.len() >= 0x18 {
                put(&mut file, 0x10, &length.to_le_bytes());
            }
        }
        if let Ok(library) = Library::parse(&file) {
            for function in library.functions() {
                let _ = function.bitcode();
                prop_assert_eq!(library.function(function.name()), Some(function));
            }
            let written = library.write().unwrap();
            prop_assert_eq!(Library::parse(&written).unwrap(), library);
        }
    }

    /// Nothing but the magic number.
    #[test]
    fn noise_does_not_panic(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Library::parse(&[b"MTLB\x01\x80\x02\0", &noise[..]].concat());
    }
}

/// The folder where `scripts/corpus.sh` puts shaders and libraries of others; `METALWORKS_CORPUS` overrides it.
pub(crate) fn corpus() -> std::path::PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from);
    variable("METALWORKS_CORPUS")
        .or_else(|| Some(variable("METALWORKS_CACHE")?.join("corpus")))
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("metalworks/corpus")))
        .or_else(|| Some(variable("HOME")?.join(".cache/metalworks/corpus")))
        .expect("METALWORKS_CORPUS or HOME is set")
}

/// Apple's library of MLX.
pub(crate) fn apple_library() -> Vec<u8> {
    let path = corpus().join("mlx/mlx.metallib");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_library_comes_back_byte_for_byte() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    assert_eq!(library.functions().len(), 17_248);
    assert!(library.function("rmsfloat32").unwrap().bitcode().is_ok());
    assert_eq!(library.header, Header { version: [1, 2, 7], ..Header::default() });
    assert!(library.write().unwrap() == file);
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_hashes_are_those_of_the_bitcode() {
    let file = apple_library();
    for function in Library::parse(&file).unwrap().functions() {
        let bitcode = function.bitcode().unwrap();
        let inner = unwrap(bitcode).unwrap();
        assert_eq!(wrap(inner), bitcode, "{}", function.name());
    }
}
