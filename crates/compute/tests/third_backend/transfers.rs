//! Buffers of a device with its own memory.

use crate::fixture::{Fixture, toy};
use crate::setup::{run, usage};
use crate::toy::{Counts, Toy};
use metalworks_compute::StorageMode;
use std::ptr::NonNull;

/// Transfers and their bytes: to the device, and from it.
fn transfers(toy: &Toy) -> [(u64, u64); 2] {
    let Counts { uploads, uploaded_bytes, downloads, downloaded_bytes, .. } = toy.counts();
    [(uploads, uploaded_bytes), (downloads, downloaded_bytes)]
}

#[test]
fn shared_buffers_are_copied_to_and_from_the_device() {
    let toy = toy();
    let buffer = toy.device().new_buffer(100).expect("memory");
    assert!(buffer.contents().is_null());
    assert_eq!(buffer.storage_mode(), StorageMode::Shared);
    assert_eq!(buffer.read::<u8>(), [0; 100]);
    assert_eq!(transfers(&toy), [(0, 0), (1, 100)]);
    buffer.write(96, &[0x0403_0201u32]).expect("it is inside");
    assert_eq!(buffer.read_at::<u8>(94, 6).expect("it is inside"), [0, 0, 1, 2, 3, 4]);
    assert_eq!(transfers(&toy), [(1, 4), (2, 106)]);
    assert!(usage(buffer.write(97, &[0u32])).contains("a write of 4 bytes at offset 97"));
    assert!(usage(buffer.read_only().write(0, &[0u32])).contains("read-only"));
    assert_eq!(transfers(&toy), [(1, 4), (2, 106)]);
    assert_eq!(toy.counts().submissions, 0);
}

#[test]
fn bytes_at_any_place_are_written_alone() {
    let toy = toy();
    // The last word is not whole, and the longest go piece by piece.
    for len in [1, 3, 13, (2 << 20) + 7] {
        let buffer = toy.device().new_buffer(len).expect("memory");
        let mut expected = vec![0u8; len];
        for (start, end) in [(0, len), (1, len), (1.min(len - 1), len - len / 3), (len / 2, len / 2 + 1)] {
            if start >= end {
                continue;
            }
            let bytes: Vec<u8> = (start..end).map(|i| (i * 7 + end) as u8).collect();
            buffer.write(start, &bytes).expect("it is inside");
            expected[start..end].copy_from_slice(&bytes);
            assert!(buffer.read::<u8>() == expected, "{len}: {start}..{end}");
            let mut part = vec![0u8; end - start];
            buffer.read_into(start, &mut part).expect("it is inside");
            assert!(part == bytes, "{len}: {start}..{end}");
        }
    }
}

#[test]
fn private_buffers_refuse_the_host() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let private = fixture.device.new_buffer_with_storage_mode(64, StorageMode::Private).expect("memory");
    assert!(private.contents().is_null());
    assert!(usage(private.read_at::<u32>(0, 1)).contains("private to its device"));
    assert!(usage(private.write(0, &[1u32])).contains("private to its device"));
    assert_eq!(private.read::<u32>(), [0u32; 0]);
    assert_eq!(transfers(&toy), [(0, 0), (0, 0)]);
    // It does not begin with zeros.
    let (commands, seen) = (fixture.queue.new_command_buffer(), fixture.buffer(&[0; 16]));
    commands.copy_buffer(&private, 0..64, &seen, 0).expect("a copy");
    run(&commands);
    assert!(seen.read::<u32>().iter().all(|&number| number != 0));
}

#[test]
fn copies_and_fills_stay_on_the_device() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let private = fixture.device.new_buffer_with_storage_mode(64, StorageMode::Private).expect("memory");
    let (input, output) = (fixture.buffer(&[1, 2, 3, 4]), fixture.buffer(&[0; 16]));
    let before = transfers(&toy);
    let commands = fixture.queue.new_command_buffer();
    commands.fill_buffer(&private, 0..64, 0x11).expect("a fill");
    commands.copy_buffer(&input, 4..16, &private, 8).expect("a copy");
    commands.fill_buffer(&private, 12..16, 0).expect("a fill");
    commands.copy_buffer(&private, 0..64, &output, 0).expect("a copy");
    run(&commands);
    assert_eq!(transfers(&toy), before);
    let expected = [0x1111_1111, 0x1111_1111, 2, 0, 4];
    assert_eq!(output.read_at::<u32>(0, 5).expect("they are inside"), expected);
    assert_eq!(output.read::<u32>()[5..], [0x1111_1111; 11]);
    let Counts { copies, fills, submissions, dispatches, .. } = toy.counts();
    assert_eq!((copies, fills, submissions, dispatches), (2, 2, 1, 0));
}

#[test]
fn files_are_copied_to_the_device() {
    let path = std::env::temp_dir().join(format!("metalworks-third-backend-{}", std::process::id()));
    // More than is copied at a time.
    let bytes: Vec<u8> = (0..5_000_000u32).map(|i| (i % 251) as u8).collect();
    std::fs::write(&path, &bytes).expect("a file");
    let toy = toy();
    let file = toy.device().new_buffer_with_file(&path, 3..).expect("a buffer");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(transfers(&toy)[0].1, 4_999_997);
    assert!(file.contents().is_null() && file.is_read_only());
    assert!(usage(file.write(0, &[0u8])).contains("read-only"));
    assert!(file.read::<u8>() == bytes[3..]);
}

#[test]
fn memory_of_the_callers_is_refused() {
    let mut memory = vec![0u8; 64];
    let bytes = NonNull::from(&mut memory[..]);
    // SAFETY: no other code uses it, and the owner keeps it.
    let refused = unsafe { toy().device().new_buffer_with_bytes_no_copy(bytes, memory) };
    let problem = usage(refused);
    assert!(problem.contains("Toy on CPU") && problem.contains("its own memory"), "{problem}");
}

#[test]
fn addresses_identify_buffers() {
    let toy = toy();
    let [a, b] = [(); 2].map(|()| toy.device().new_buffer(1 << 16).expect("memory"));
    let (first, second) = (a.addresses(0..1 << 16), b.addresses(0..1 << 16));
    assert!(first.end <= second.start || second.end <= first.start);
    assert_eq!(a.read_only().addresses(4..8), first.start + 4..first.start + 8);
}
