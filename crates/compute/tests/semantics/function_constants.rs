//! Function constants of every type, set and not set: `kernels/function_constants.metal`.

use crate::harness::{TestLibrary, expect};
use half::f16;
use metalworks_compute::ConstantValue;
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("function_constants.metal"));

const THREADS: usize = 40;

fn input() -> Vec<i32> {
    (0..64).map(|x| x * x % 37).collect()
}

#[test]
fn every_type() {
    let floats = [1.5f32, 2.0, 3.0, 4.25].map(ConstantValue::Float).to_vec();
    let ushorts = [7, 60000].map(ConstantValue::Ushort).to_vec();
    let bools = [true, false, true].map(ConstantValue::Bool).to_vec();
    let values = [
        (ConstantValue::Bool(true), 1.0),
        (ConstantValue::Char(-100), -100.0),
        (ConstantValue::Uchar(200), 200.0),
        (ConstantValue::Short(-30000), -30000.0),
        (ConstantValue::Ushort(60000), 60000.0),
        (ConstantValue::Int(-16_000_000), -16_000_000.0),
        (ConstantValue::Uint(4_000_000_000), 4_000_000_000.0),
        (ConstantValue::Half(f16::from_f32(1.25)), 1.25),
        (ConstantValue::Float(-0.1), -0.1),
        (ConstantValue::Vector(floats), 5.75),
        (ConstantValue::Vector(ushorts), 60000.0),
        (ConstantValue::Long(-5 << 32), -5.0),
        (ConstantValue::Vector(bools), 5.0),
    ];
    let mut run = SOURCE.kernel("every_type").zeros::<f32>(values.len());
    for (index, (value, _)) in values.iter().enumerate() {
        run = run.constant(index as u32, value.clone());
    }
    expect("constants", &run.threads(1, 1).read::<f32>(0), |i| values[i].1);
}

#[test]
fn as_a_loop_bound() {
    let input = input();
    for count in [None, Some(0), Some(1), Some(5), Some(33)] {
        let mut run = SOURCE.kernel("loop_bound").buffer(&input).zeros::<i32>(THREADS);
        if let Some(count) = count {
            run = run.constant(20, ConstantValue::Int(count));
        }
        let count = count.unwrap_or(5);
        let sum = count * (count - 1) / 2;
        expect(&format!("{count} times"), &run.threads(THREADS, 32).read::<i32>(1), |i| input[i] * sum);
    }
}

#[test]
fn arguments_that_exist_under_a_constant() {
    let input = input();
    let extra: Vec<i32> = (0..THREADS as i32).collect();
    let with = SOURCE.kernel("optional_arguments").constant(21, ConstantValue::Bool(true));
    let out = with.buffer(&input).zeros::<i32>(THREADS).buffer(&extra).threads(THREADS, 32).read::<i32>(1);
    expect("with", &out, |i| input[i] + extra[i] * 100 + 100_000);
    let without = SOURCE.kernel("optional_arguments").constant(21, ConstantValue::Bool(false));
    let without = without.constant(20, ConstantValue::Int(6)).buffer(&input).zeros::<i32>(THREADS);
    let out = without.unbound().bytes(&9i32).threads(THREADS, 32).read::<i32>(1);
    expect("without", &out, |i| input[i] - 9 + 200_000);
}

#[test]
fn as_the_size_of_a_tile() {
    let input = input();
    for tile in [None, Some(1), Some(4), Some(32)] {
        let mut run = SOURCE.kernel("tile").buffer(&input).zeros::<i32>(THREADS);
        if let Some(tile) = tile {
            run = run.constant(22, ConstantValue::Uint(tile));
        }
        let tile = tile.unwrap_or(8) as usize;
        expect(&format!("tile of {tile}"), &run.threads(THREADS, 32).read::<i32>(1), |i| {
            (0..tile).map(|k| input[(i + tile - 1 - k) % 64] * k as i32).sum()
        });
    }
}

#[test]
fn in_arrays_with_methods() {
    let input = input();
    for count in [None, Some(9)] {
        let mut run = SOURCE.kernel("arrays_of_constants").buffer(&input).zeros::<i32>(THREADS);
        if let Some(count) = count {
            run = run.constant(20, ConstantValue::Int(count));
        }
        let count = count.unwrap_or(5);
        expect(&format!("count of {count}"), &run.threads(THREADS, 32).read::<i32>(1), |i| {
            input[i] + count * 100 + 2 * 1000 + 10 * 10_000 + count
        });
    }
}

#[test]
fn in_constants_that_threads_index() {
    let input = input();
    for n in [5, 9] {
        let run = SOURCE.kernel("constants_by_address").buffer(&input).zeros::<i32>(THREADS);
        let out = run.constant(20, ConstantValue::Int(n)).threads(THREADS, 32).read::<i32>(1);
        let counts = [n, n + 1, n * 2, -n];
        expect(&format!("count of {n}"), &out, |i| {
            let k = input[i] as usize % 4;
            let either = if k % 2 == 1 { counts } else { [1, 2, 3, 4] };
            let root = if k < 2 { n } else { 1 << n };
            let arrays = counts[k] + 100 * [n, 6, n - 3, 8][k] + either[k] + counts[3 - k];
            let numbers = [n, 1 << n][k % 2] + root + [n, 2, 3, n][k];
            let fields = [[n * 1000, 3, n, n], [5000, 6, 7, 8]][k % 2];
            arrays + numbers + fields.iter().sum::<i32>()
        });
    }
}
