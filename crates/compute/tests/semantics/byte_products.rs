//! Sums of products of bytes, which have an instruction of their own: every pair of bytes, and sums that wrap around.

use crate::numbers::Random;
use crate::table::Table;
use std::process::Command;

/// Words whose bytes, at the same place, are every pair of bytes once; then limits, and random words.
fn words() -> (Vec<u32>, Vec<u32>) {
    let mut random = Random::new(77);
    let all =
        |first: fn(u32) -> u32| (0..1u32 << 14).map(move |i| (0..4).map(|k| first(4 * i + k) << (8 * k)).sum());
    let mut a: Vec<u32> = all(|pair| pair >> 8).collect();
    let mut b: Vec<u32> = all(|pair| pair & 0xff).collect();
    let limits = [0, u32::MAX, 0x8080_8080, 0x7f7f_7f7f, 0x0102_0408, 0xff00_ff00];
    for (x, y) in limits.iter().flat_map(|x| limits.map(|y| (*x, y))) {
        a.push(x);
        b.push(y);
    }
    for _ in 0..1000 {
        a.push(random.next() as u32);
        b.push(random.next() as u32);
    }
    (a, b)
}

fn sum(a: u32, b: u32, left: fn(u8) -> i32, sum: i32) -> i32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| left(a) * i32::from(b as i8));
    products.fold(sum, i32::wrapping_add)
}

fn compare() {
    let (a, b) = &words();
    let sums: &Vec<i32> = &(0..a.len()).map(|i| [i32::MAX, i32::MIN, 0, i as i32][i % 4]).collect();
    let four = |left: &str, right: &str| {
        let product = |i: char| format!("int({left}.{i}) * int({right}.{i})");
        format!("({} + {} + {} + {})", product('x'), product('y'), product('z'), product('w'))
    };
    let (unsigned, signed) = ("as_type<uchar4>(a)", "as_type<char4>(b)");
    let small = "as_type<uchar4>(a & 0x7f7f7f7fu)";
    let nibbles = "as_type<uchar4>(a >> 4 & 0x0f0f0f0fu)";
    let mut table = Table::new("byte_products").input("a", a).input("b", b).input("sum", sums);
    table
        .exact(&format!("sum + {}", four(unsigned, signed)), |i| sum(a[i], b[i], i32::from, sums[i]))
        .exact(&four("as_type<char4>(a)", signed), |i| sum(a[i], b[i], |a| i32::from(a as i8), 0))
        .exact(&four(small, signed), |i| sum(a[i] & 0x7f7f_7f7f, b[i], i32::from, 0))
        .exact(&format!("{} + sum", four(signed, nibbles)), |i| {
            sum(a[i] >> 4 & 0x0f0f_0f0f, b[i], i32::from, sums[i])
        })
        // One word is the same for all lanes.
        .exact(&four(unsigned, "as_type<char4>(0x80ff7f03u)"), |i| sum(a[i], 0x80ff_7f03, i32::from, 0))
        .exact(&format!("{} + {}", four(unsigned, signed), four(nibbles, signed)), |i| {
            sum(a[i] >> 4 & 0x0f0f_0f0f, b[i], i32::from, sum(a[i], b[i], i32::from, 0))
        });
    table.run();
}

#[test]
fn sums_of_products_of_bytes_are_exact() {
    compare();
}

/// The variable that marks the processes which this test starts.
const CHILD: &str = "METALWORKS_TEST_CHILD";

/// The CPU is per process, so this test runs itself again.
#[test]
fn sums_of_products_of_bytes_are_exact_on_older_cpus() {
    if std::env::var_os(CHILD).is_some() || !cfg!(target_arch = "x86_64") {
        return compare();
    }
    let program = std::env::current_exe().expect("a path");
    let name = "byte_products::sums_of_products_of_bytes_are_exact_on_older_cpus";
    let again = Command::new(program)
        .args(["--exact", name])
        .env(CHILD, "1")
        .env("METALWORKS_CPU", "haswell")
        .output()
        .expect("the test runs");
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
}
