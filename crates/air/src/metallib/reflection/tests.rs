//! Buffers made here, buffers broken on purpose, and Apple's.

use super::*;
use crate::metallib::{Library, Problem, apple_library};
use crate::reflect::reflection_of_bitcode;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A kernel with each kind of node.
fn reflection() -> FunctionReflection<'static> {
    let buffer = |name: &'static str, index: u32, struct_type: Option<u32>| {
        ReflectionNode::Buffer(ReflectedBuffer {
            index,
            count: 1,
            access: 3,
            address_space: 1,
            struct_type,
            type_size: 8,
            type_align: 4,
            type_name: "Pair".into(),
            name: name.into(),
            ..ReflectedBuffer::default()
        })
    };
    let field = |name: &'static str, offset: u32, length: u32, struct_type: Option<u32>| ReflectedField {
        struct_type,
        offset,
        size: 4,
        length,
        type_name: "float".into(),
        name: name.into(),
    };
    FunctionReflection {
        nodes: vec![
            ReflectionNode::Kernel { name: "scale_ü".into(), arguments: vec![1, 4, 5], max_threads: Some(6) },
            buffer("pairs", 0, Some(2)),
            ReflectionNode::Struct(vec![field("a", 0, 0, Some(3)), field("b", 4, 3, None)]),
            ReflectionNode::Struct(vec![field("__s", 0, 0, None)]),
            buffer("others", 7, Some(2)),
            ReflectionNode::Builtin {
                number: 0xc,
                is_conditional: false,
                type_name: "uint".into(),
                name: "lane".into(),
                is_unused: true,
            },
            ReflectionNode::MaxThreads(256),
            ReflectionNode::Constant { type_name: "bool".into(), name: "wide".into(), index: 3, is_used: true },
        ],
        kernels: vec![0],
        constants: vec![7],
        threadgroup: vec![(128, 4), (3, 1)],
        ..FunctionReflection::default()
    }
}

#[test]
fn buffers_are_read_as_they_were_written() {
    let bytes = reflection().write().unwrap();
    assert_eq!(bytes.len() % 4, 0);
    assert_eq!(FunctionReflection::parse(&bytes).unwrap(), reflection());
    let empty = FunctionReflection::default();
    assert_eq!(FunctionReflection::parse(&empty.write().unwrap()).unwrap(), empty);
}

#[test]
fn equal_strings_are_stored_once() {
    let bytes = reflection().write().unwrap();
    assert_eq!(bytes.windows(5).filter(|window| window == b"float").count(), 1);
}

#[test]
fn unknown_parts_are_reported() {
    let mut bytes = reflection().write().unwrap();
    let kind = bytes.windows(4).position(|window| window == 0x1003u32.to_le_bytes()).unwrap();
    bytes[kind..kind + 4].copy_from_slice(&0x40001u32.to_le_bytes());
    let read = FunctionReflection::parse(&bytes).unwrap();
    assert_eq!(read.unknown, ["node 6 of kind 0x40001"]);
    assert_eq!(read.nodes[6], ReflectionNode::Other { kind: 0x40001 });
    assert_eq!(read.write(), None);
}

#[test]
fn wrong_buffers() {
    let problem = |bytes: &[u8]| FunctionReflection::parse(bytes).unwrap_err().problem;
    assert_eq!(problem(b""), Problem::Identifier);
    assert_eq!(problem(b"\x08\0\0\0AIRS"), Problem::Identifier);
    assert!(matches!(problem(b"\x08\0\0\0AIRR"), Problem::OutOfBounds { .. }));
    let bytes = reflection().write().unwrap();
    for length in 0..bytes.len() - 4 {
        assert!(FunctionReflection::parse(&bytes[..length]).is_err());
    }
    let mut wrong = bytes.clone();
    let name = bytes.windows(5).position(|window| window == b"pairs").unwrap();
    wrong[name] = 0xff;
    assert_eq!(problem(&wrong), Problem::Text);
    let text = FunctionReflection::parse(&wrong).unwrap_err().to_string();
    assert_eq!(text, format!("reflection buffer at {:#x}: a text is not UTF-8", name - 4));
}

/// A vector of many references to one table is no tree of many nodes.
#[test]
fn a_small_buffer_is_no_large_tree() {
    let mut nodes = vec![ReflectionNode::Struct(Vec::new()); 64];
    nodes.push(ReflectionNode::Struct(vec![ReflectedField::default(); 64]));
    let mut bytes = FunctionReflection { nodes, ..FunctionReflection::default() }.write().unwrap();
    assert!(FunctionReflection::parse(&bytes).is_ok());
    // The nodes are the longest vector of the buffer: 65, then offsets of which the last is that of the large struct.
    let vector = bytes.windows(4).position(|window| window == 65u32.to_le_bytes()).unwrap();
    let at = |index: usize| vector + 4 + index * 4;
    let read = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let large = at(64) as u32 + read(&bytes, at(64));
    for index in 0..64 {
        let offset = large - at(index) as u32;
        bytes[at(index)..at(index) + 4].copy_from_slice(&offset.to_le_bytes());
    }
    assert!(matches!(FunctionReflection::parse(&bytes).unwrap_err().problem, Problem::Count(_)));
}

proptest! {
    // The same cases in every run, of which there is nothing to note.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(4096)
    })]

    #[test]
    fn mutations_do_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = reflection().write().unwrap();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(read) = FunctionReflection::parse(&bytes)
            && let Some(written) = read.write()
        {
            let again = FunctionReflection::parse(&written).unwrap();
            prop_assert_eq!(FunctionReflection { unknown: Vec::new(), ..read }, again);
        }
    }
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_buffers_come_back_byte_for_byte() {
    let file = apple_library();
    for function in Library::parse(&file).unwrap().functions() {
        let bytes = function.reflection.as_deref().unwrap();
        let reflection = FunctionReflection::parse(bytes).unwrap();
        assert_eq!(reflection.unknown, [""; 0], "{}", function.name());
        assert!(reflection.write().unwrap() == bytes, "{}", function.name());
    }
}

/// The metadata of a module give the buffer that Apple's compiler wrote for it.
#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_modules_give_apples_buffers() {
    let file = apple_library();
    for function in Library::parse(&file).unwrap().functions() {
        let made = reflection_of_bitcode(function).unwrap().unwrap();
        let apples = function.reflection.as_deref().unwrap();
        if made != apples {
            let parse = |bytes| FunctionReflection::parse(bytes).unwrap();
            assert_eq!(parse(&made), parse(apples), "{}", function.name());
            panic!("{}: equal trees, different bytes", function.name());
        }
    }
}
