//! Buffers of all kinds.

use crate::setup::{Setup, add, on_every_device, run, usage};
use metalworks_compute::{Buffer, DeviceKind, Size, StorageMode};
use std::ptr::NonNull;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

/// y = 3 x for `count` numbers, with a buffer and an offset for each.
fn scale(setup: &Setup, x: (&Buffer, usize), y: (&Buffer, usize), count: usize) {
    let pipeline = setup.pipeline("scale");
    let commands = setup.encode(|encoder| {
        encoder.set_compute_pipeline_state(&pipeline)?;
        encoder.set_buffer(0, x.0, x.1)?;
        encoder.set_buffer(1, y.0, y.1)?;
        encoder.set_bytes(2, &3u32.to_ne_bytes())?;
        encoder.dispatch_threads(Size::linear(count), Size::linear(32))
    });
    run(&commands);
}

#[test]
fn the_host_and_the_device_share_contents() {
    on_every_device(|setup| {
        // Not a multiple of a page, and one; more than a page.
        for count in [1, 4096, 5000] {
            let (x, y) = (setup.buffer(&vec![0; count]), setup.device.new_buffer(4 * count).expect("memory"));
            for round in 1..4 {
                x.write(4 * (count - 1), &[round]).expect("it is inside");
                scale(setup, (&x, 0), (&y, 0), count);
                assert_eq!(y.read::<u32>()[count - 1], 3 * round);
            }
            assert_eq!(y.read::<u32>()[..count - 1], vec![0; count - 1]);
        }
    });
}

#[test]
fn binds_offsets_and_ranges() {
    on_every_device(|setup| {
        let numbers: Vec<u32> = (0..10_000).collect();
        let (x, y) = (setup.buffer(&numbers), setup.buffer(&[0; 100]));
        scale(setup, (&x, 4 * 9000), (&y, 40), 32);
        let y = y.read::<u32>();
        assert!((0..32).all(|i| y[10 + i] == 3 * (9000 + i as u32)));
        assert!(y[..10].iter().chain(&y[42..]).all(|&number| number == 0));
    });
}

#[test]
fn fills_buffers() {
    on_every_device(|setup| {
        for storage in [StorageMode::Shared, StorageMode::Private] {
            let buffer = setup.device.new_buffer_with_storage_mode(20_000, storage).expect("memory");
            let output = setup.buffer(&vec![0; 5000]);
            let commands = setup.queue.new_command_buffer();
            commands.fill_buffer(&buffer, 0..20_000, 0xff).expect("all of it");
            commands.fill_buffer(&buffer, 4..16_388, 0).expect("zeros");
            commands.fill_buffer(&buffer, 19_996..20_000, 0x5a).expect("the end");
            commands.copy_buffer(&buffer, 0..20_000, &output, 0).expect("a copy");
            run(&commands);
            let numbers = output.read::<u32>();
            assert_eq!((numbers[0], numbers[4097], numbers[4999]), (u32::MAX, u32::MAX, 0x5a5a_5a5a));
            assert!(numbers[1..4097].iter().all(|&number| number == 0));
            assert!(numbers[4097..4999].iter().all(|&number| number == u32::MAX));
            assert!(usage(commands.fill_buffer(&buffer, 0..4, 0)).contains("that was committed"));
        }
    });
}

#[test]
fn files_are_mapped() {
    let path = std::env::temp_dir().join(format!("metalworks-every-device-{}", std::process::id()));
    let numbers: Vec<u32> = (0..20_000).collect();
    std::fs::write(&path, bytemuck::cast_slice::<u32, u8>(&numbers)).expect("a file");
    on_every_device(|setup| {
        // From the start of a page and from inside one, to the end of the file and before it.
        for (start, end) in [(0u64, 80_000u64), (16_384, 32_768), (20_004, 20_400), (79_600, 80_000)] {
            let file = setup.device.new_buffer_with_file(&path, start..end).expect("a mapping");
            file.set_label("a file");
            let (y, first) = (setup.buffer(&[0; 64]), (start / 4) as u32);
            scale(setup, (&file, 16), (&y, 0), 64);
            assert_eq!(y.read::<u32>(), (0..64).map(|i| 3 * (first + 4 + i)).collect::<Vec<u32>>());
            assert_eq!(file.is_read_only(), setup.device.kind() != DeviceKind::Cpu);
            let (whole, commands) = (setup.buffer(&[0; 4]), setup.queue.new_command_buffer());
            commands.copy_buffer(&file, 4..20, &whole, 0).expect("a copy");
            run(&commands);
            assert_eq!(whole.read::<u32>(), (first + 1..first + 5).collect::<Vec<u32>>());
        }
    });
    assert_eq!(std::fs::read(&path).expect("the file"), bytemuck::cast_slice::<u32, u8>(&numbers));
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn the_callers_memory_is_not_copied() {
    on_every_device(|setup| {
        let mut mapping = memmap2::MmapMut::map_anon(3 << 14).expect("memory");
        bytemuck::cast_slice_mut::<u8, u32>(&mut mapping).fill(4);
        // Not from the start of a page.
        let bytes = NonNull::from(&mut mapping[4000..44_000]);
        let (sender, is_gone) = channel::<()>();
        let owner = std::sync::Mutex::new((mapping, sender));
        // SAFETY: the owner has the mapping, and no other code accesses it.
        let buffer = unsafe { setup.device.new_buffer_with_bytes_no_copy(bytes, owner) };
        if !setup.device.capabilities().unified_memory {
            assert!(usage(buffer).contains("its own memory"));
            assert_eq!(is_gone.try_recv(), Err(TryRecvError::Disconnected), "the owner was dropped");
            return;
        }
        let buffer = buffer.expect("a buffer");
        assert_eq!(buffer.contents(), bytes.cast::<u8>().as_ptr());
        let pipeline = setup.pipeline("add");
        let commands = setup.encode(|encoder| add(encoder, &pipeline, &buffer, 10_000, 38));
        run(&commands);
        assert_eq!(buffer.read::<u32>(), [42; 10_000]);
        assert_eq!(is_gone.try_recv(), Err(TryRecvError::Empty));
        drop((buffer, commands));
        // Metal may release it a moment later, on its own thread.
        let owner = is_gone.recv_timeout(Duration::from_secs(60));
        assert_eq!(owner, Err(RecvTimeoutError::Disconnected), "the owner was dropped");
    });
}

#[test]
fn private_buffers_are_filled_and_read_by_copies() {
    on_every_device(|setup| {
        let private = setup.device.new_buffer_with_storage_mode(40_000, StorageMode::Private).expect("memory");
        private.set_label("private");
        assert!(usage(private.read_at::<u32>(0, 1)).contains("private to its device"));
        assert!(private.contents().is_null());
        let (input, output) = (setup.buffer(&vec![7; 10_000]), setup.buffer(&vec![0; 10_000]));
        let pipeline = setup.pipeline("add");
        let commands = setup.queue.new_command_buffer();
        commands.copy_buffer(&input, 0..40_000, &private, 0).expect("a copy");
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        add(&mut encoder, &pipeline, &private, 9_999, 3)
            .and_then(|()| encoder.end_encoding())
            .expect("it is right");
        commands.copy_buffer(&private, 20_000..40_000, &output, 8).expect("a copy");
        run(&commands);
        let output = output.read::<u32>();
        assert_eq!((&output[..3], output[5000..5003].to_vec()), (&[0, 0, 10][..], vec![10, 7, 0]));
    });
}

#[test]
fn released_buffers_do_not_crash() {
    on_every_device(|setup| {
        let (buffer, pipeline) = (setup.buffer(&vec![1; 100_000]), setup.pipeline("add"));
        let commands = setup.encode(|encoder| add(encoder, &pipeline, &buffer, 100_000, 1));
        commands.commit().expect("it commits");
        // Nothing crashes, in flight or not, and the contents are gone.
        buffer.release();
        commands.wait_until_completed().expect("it runs");
        assert!(usage(buffer.read_at::<u32>(0, 1)).contains("released"));
        let refused = setup.encode(|_| Ok(())).copy_buffer(&buffer, 0..4, &setup.buffer(&[0]), 0);
        assert!(usage(refused).contains("released"));
    });
}

#[cfg(metal)]
#[test]
fn devices_reject_each_others_objects() {
    let devices = metalworks_compute::Device::all().expect("they are found");
    assert!(devices.len() > 1, "the CPU and a GPU");
    on_every_device(|setup| {
        let pipeline = setup.pipeline("add");
        for other in devices.iter().filter(|other| other.id() != setup.device.id()) {
            let (own, foreign) = (setup.buffer(&[1]), other.new_buffer(16).expect("memory"));
            let commands = setup.queue.new_command_buffer();
            assert!(usage(commands.copy_buffer(&foreign, 0..4, &own, 0)).contains("another device"));
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            assert!(usage(encoder.set_buffer(0, &foreign, 0)).contains("another device"));
            let commands = other.new_command_queue().new_command_buffer();
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            assert!(usage(encoder.set_compute_pipeline_state(&pipeline)).contains("another device"));
        }
    });
}
