//! Grids, bytes, threadgroup memory, times.

use crate::setup::{add, on_every_device, run, usage};
use metalworks_compute::{ComputePipelineDescriptor, DispatchType, FunctionConstantValues, Size};

#[test]
fn every_thread_of_a_grid_runs_once() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("place");
        for (grid, group) in [
            ((1, 1, 1), (1, 1, 1)),
            ((64, 1, 1), (32, 1, 1)),
            ((100, 1, 1), (32, 1, 1)),
            ((7, 5, 3), (4, 2, 2)),
            ((8, 4, 2), (4, 2, 2)),
            ((33, 3, 1), (32, 3, 1)),
        ] {
            let (grid, group): (Size, Size) = (grid.into(), group.into());
            let count = grid.volume().expect("it is small");
            let places = setup.device.new_buffer(16 * (count + 1)).expect("memory");
            let commands = setup.encode(|encoder| {
                encoder.set_compute_pipeline_state(&pipeline)?;
                encoder.set_buffer(0, &places, 0)?;
                encoder.dispatch_threads(grid, group)
            });
            run(&commands);
            let places = places.read::<[u32; 4]>();
            assert_eq!(places[count], [0; 4], "no thread outside the grid");
            for (i, &[times, at, size, threads]) in places[..count].iter().enumerate() {
                let position = [i % grid.width, i / grid.width % grid.height, i / grid.width / grid.height];
                let sizes = [group.width, group.height, group.depth];
                let groups: Vec<usize> =
                    position.iter().zip(sizes).map(|(position, size)| position / size).collect();
                let expected = groups[0] + 100 * groups[1] + 10_000 * groups[2];
                // At the edges, threadgroups are smaller.
                let extents = [grid.width, grid.height, grid.depth];
                let here: usize = (0..3).map(|d| sizes[d].min(extents[d] - groups[d] * sizes[d])).product();
                assert_eq!((times, at as usize, threads as usize), (1, expected, count), "{grid} {group} {i}");
                assert_eq!(size as usize, here, "{grid} {group} {i}");
            }
        }
    });
}

#[test]
fn rejects_dispatches_that_break_promises_about_simdgroups() {
    on_every_device(|setup| {
        let buffer = setup.buffer(&[5; 100]);
        for (rows, size) in [(true, "a width that is a multiple of 32"), (false, "multiples of 32")] {
            let descriptor = ComputePipelineDescriptor {
                thread_group_size_is_multiple_of_thread_execution_width: !rows,
                thread_group_width_is_multiple_of_thread_execution_width: rows,
                ..Default::default()
            };
            let pipeline = setup.pipeline_with("add", &FunctionConstantValues::new(), descriptor);
            let commands = setup.encode(|encoder| {
                encoder.set_compute_pipeline_state(&pipeline)?;
                encoder.set_buffer(0, &buffer, 0)?;
                encoder.set_bytes(1, &1u32.to_ne_bytes())?;
                let problem = usage(encoder.dispatch_threads(Size::linear(33), Size::linear(32)));
                assert!(problem.contains(size), "{problem}");
                encoder.dispatch_threads(Size::linear(96), Size::linear(64))
            });
            run(&commands);
        }
        let numbers = buffer.read::<u32>();
        assert_eq!((&numbers[..96], &numbers[96..]), (&[7; 96][..], &[5; 4][..]));
    });
}

#[test]
fn rejects_dispatches_that_break_a_promised_size() {
    on_every_device(|setup| {
        let buffer = setup.buffer(&[5; 100]);
        let descriptor = ComputePipelineDescriptor {
            threads_per_threadgroup: Some(Size::linear(48)),
            ..ComputePipelineDescriptor::default()
        };
        let pipeline = setup.pipeline_with("add", &FunctionConstantValues::new(), descriptor);
        run(&setup.encode(|encoder| {
            encoder.set_compute_pipeline_state(&pipeline)?;
            encoder.set_buffer(0, &buffer, 0)?;
            encoder.set_bytes(1, &1u32.to_ne_bytes())?;
            for (grid, threadgroup) in [(96, 32), (97, 48), (48, 96)] {
                let problem = usage(encoder.dispatch_threads(Size::linear(grid), Size::linear(threadgroup)));
                assert!(problem.contains("promised whole threadgroups of 48 × 1 × 1"), "{problem}");
            }
            encoder.dispatch_threads(Size::linear(96), Size::linear(48))
        }));
        let numbers = buffer.read::<u32>();
        assert_eq!((&numbers[..96], &numbers[96..]), (&[6; 96][..], &[5; 4][..]));
    });
}

#[test]
fn dispatches_whole_threadgroups() {
    on_every_device(|setup| {
        let (pipeline, buffer) = (setup.pipeline("add"), setup.buffer(&[5; 100]));
        let commands = setup.encode(|encoder| {
            encoder.set_compute_pipeline_state(&pipeline)?;
            encoder.set_buffer(0, &buffer, 0)?;
            encoder.set_bytes(1, &2u32.to_ne_bytes())?;
            encoder.dispatch_threadgroups(Size::linear(3), Size::linear(32))
        });
        run(&commands);
        let numbers = buffer.read::<u32>();
        assert!(numbers[..96].iter().all(|&n| n == 7) && numbers[96..].iter().all(|&n| n == 5));
    });
}

#[test]
fn binds_many_bytes() {
    on_every_device(|setup| {
        let (pipeline, buffer) = (setup.pipeline("pick"), setup.buffer(&[0; 1000]));
        let table: Vec<u32> = (0..1000).map(|i| i * i).collect();
        let commands = setup.encode(|encoder| {
            encoder.set_compute_pipeline_state(&pipeline)?;
            encoder.set_buffer(0, &buffer, 0)?;
            encoder.set_bytes(1, bytemuck::cast_slice(&table))?;
            encoder.dispatch_threads(Size::linear(1000), Size::linear(64))
        });
        run(&commands);
        assert_eq!(buffer.read::<u32>(), table.into_iter().rev().collect::<Vec<u32>>());
    });
}

#[test]
fn threadgroup_memory_changes_from_dispatch_to_dispatch() {
    on_every_device(|setup| {
        let pipeline = setup.pipeline("sum");
        let most = 512.min(pipeline.max_total_threads_per_threadgroup());
        let numbers: Vec<u32> = (0..512).collect();
        let (x, sums) = (setup.buffer(&numbers), setup.buffer(&[0; 16]));
        let commands = setup.encode(|encoder| {
            encoder.set_compute_pipeline_state(&pipeline)?;
            encoder.set_buffer(0, &x, 0)?;
            for (offset, threads, groups) in [(0, 128, 4), (16, 64, 8), (48, most, 1)] {
                encoder.set_buffer(1, &sums, offset)?;
                encoder.set_threadgroup_memory_length(0, 4 * threads)?;
                encoder.dispatch_threadgroups(Size::linear(groups), Size::linear(threads))?;
            }
            Ok(())
        });
        run(&commands);
        let of = |first: u32, count: u32| (first..first + count).sum::<u32>();
        let mut expected: Vec<u32> = (0..4).map(|g| of(128 * g, 128)).collect();
        expected.extend((0..8).map(|g| of(64 * g, 64)));
        expected.extend([of(0, most as u32), 0, 0, 0]);
        assert_eq!(sums.read::<u32>(), expected);
    });
}

#[test]
fn reports_times_of_dispatches() {
    on_every_device(|setup| {
        let (add_pipeline, append) = (setup.pipeline("add"), setup.pipeline("append"));
        let (a, b) = (setup.buffer(&[0; 1000]), setup.buffer(&[0; 1000]));
        // More than a Metal queue holds at once.
        const COUNT: usize = 150;
        let commands = setup.profiled();
        commands.copy_buffer(&a, 0..4, &b, 0).expect("a copy");
        let mut encoder =
            commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent).expect("an encoder");
        for i in 0..COUNT as u32 {
            add(&mut encoder, &add_pipeline, &a, 1000, i).expect("it is right");
        }
        encoder.set_compute_pipeline_state(&append).expect("set");
        encoder.set_buffer(0, &b, 0).expect("set");
        encoder.set_bytes(1, &9u32.to_ne_bytes()).expect("set");
        encoder.dispatch_threads(Size::linear(1), Size::linear(1)).expect("it is right");
        encoder.end_encoding().expect("it ends");
        assert!(commands.dispatch_timings().is_empty() && commands.gpu_start_time().is_none());
        run(&commands);
        let timings = commands.dispatch_timings();
        assert_eq!(timings.len(), COUNT + 1);
        let (start, end) = (commands.gpu_start_time().expect("a time"), commands.gpu_end_time().expect("a time"));
        for timing in &timings {
            assert!(start <= timing.start && timing.start <= timing.end && timing.end <= end, "{timing:?}");
        }
        assert_eq!((&*timings[0].kernel, timings[0].label.as_deref()), ("add", Some("the add")));
        assert_eq!(&*timings[COUNT].kernel, "append");
        assert_eq!((a.read::<u32>()[999], b.read_at::<u32>(0, 2).expect("both")), (11_175, vec![1, 9]));
    });
}
