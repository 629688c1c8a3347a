//! Arbitrary bytes: no panic, and memory bounded by a multiple of the file size.

use metalworks_inference::gguf::Gguf;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::allocations::peak_of;
use crate::sample;

/// Opens a file, accesses all of its contents, and checks the peak of allocated memory.
fn survives(bytes: Vec<u8>) {
    // The constant covers error messages and empty hash tables.
    let limit = 64 * bytes.len() + (64 << 10);
    let (peak, ()) = peak_of(|| {
        let Ok(model) = Gguf::from_bytes(bytes) else { return };
        for tensor in model.weights().tensors() {
            assert_eq!(model.weights().data(tensor).len() as u64, tensor.size());
            let _ = (tensor.format(), tensor.shape());
        }
        for (key, _) in model.metadata().iter() {
            let _ = (model.get::<u8>(key), model.get::<Vec<f32>>(key), model.get::<Vec<&str>>(key));
        }
    });
    assert!(peak <= limit, "allocated {peak} bytes; the limit is {limit}");
}

proptest! {
    // Fixed seed: the same cases in every run, so failures need no persistence.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn survives_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survives(bytes);
    }

    #[test]
    fn survives_random_bytes_after_a_valid_prefix(
        counts in (0u64..4, 0u64..4),
        bytes in prop::collection::vec(prop_oneof![3 => Just(0u8), 2 => 0u8..14, 1 => any::<u8>()], 0..400),
    ) {
        survives(sample::Raw::new(counts.0, counts.1).bytes(&bytes).0);
    }

    #[test]
    fn survives_changed_bytes(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![0u8..16, any::<u8>()]), 1..8),
    ) {
        let mut bytes = sample::bytes();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        survives(bytes);
    }

    #[test]
    fn survives_changed_integers(
        at in any::<prop::sample::Index>(),
        value in prop_oneof![Just(u64::MAX), Just(i64::MAX as u64), Just(1u64 << 60), Just(1 << 32), 0u64..2000, any::<u64>()],
    ) {
        let mut bytes = sample::bytes();
        let at = at.index(bytes.len() - 8);
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        survives(bytes);
    }

    #[test]
    fn survives_moved_removed_and_repeated_ranges(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        len in 0usize..200,
        keep in any::<bool>(),
    ) {
        let bytes = sample::bytes();
        let from = from.index(bytes.len());
        let piece = &bytes[from..bytes.len().min(from + len)];
        let mut rest = [&bytes[..from], if keep { piece } else { &[] }, &bytes[from + piece.len()..]].concat();
        let to = to.index(rest.len().max(1));
        rest.splice(to..to, piece.iter().copied());
        survives(rest);
    }
}

/// Sets every byte of the file to each of a few extreme values.
#[test]
fn survives_extreme_values_of_every_byte() {
    let bytes = sample::bytes();
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            survives(bytes);
        }
    }
}

/// Worst cases for the ratio of memory to file size: as many items as possible, each as small as possible.
#[test]
fn memory_is_bounded_with_many_small_items() {
    for (kind, count) in [(8u32, 100_000u64), (9, 60_000)] {
        let raw = sample::Raw::new(0, 1).text("k").u32(9).u32(kind).u64(count);
        let element: &[u8] = if kind == 8 { &[0; 8] } else { &[0; 12] };
        survives(raw.bytes(&element.repeat(count as usize)).0);
    }
    let raw = sample::Raw::new(50_000, 0);
    survives((0..50_000u64).fold(raw, |raw, n| raw.tensor(&format!("{n:x}"), &[], 24, 0)).0);
    let raw = sample::Raw::new(0, 50_000);
    survives((0..50_000u64).fold(raw, |raw, n| raw.text(&format!("{n:x}")).u32(0).bytes(&[0])).0);
}
