//! Functions on integers, against arithmetic in 128 bits.

use super::run::{Array, apply};

/// Bits from which integers of any width are made.
fn bits() -> Vec<u64> {
    let powers = (0..64).flat_map(|bits| [1u64 << bits, (1u64 << bits).wrapping_sub(1), !0u64 << bits]);
    let mixed = (0..400u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (index % 61));
    powers.chain([0]).chain(mixed).collect()
}

/// Applies a function to three integers, and compares with what it is in 128 bits. `$truth` sees the arguments and the
/// bounds of the type.
macro_rules! check {
    ($int:ty, $suffix:literal, $llvm:literal, $($name:literal ($count:literal) $truth:expr;)*) => {{
        let bits = bits();
        let part = |step: usize| -> Vec<$int> {
            (0..60_000).map(|index| bits[(index * step + index / 7) % bits.len()] as $int).collect()
        };
        let columns = [part(1), part(13), part(29)];
        $({
            let arguments: Vec<Array> = columns[..$count].iter().map(|column| Array::new($llvm, column)).collect();
            let name = format!("air.{}.{}", $name, $suffix);
            let results: Vec<$int> = apply(&name, $llvm, &arguments);
            let truth: fn([i128; 3], (i128, i128)) -> i128 = $truth;
            for (index, &result) in results.iter().enumerate() {
                let arguments = [0, 1, 2].map(|column| columns[column][index] as i128);
                let expected = truth(arguments, (<$int>::MIN as i128, <$int>::MAX as i128));
                assert_eq!(result, expected as $int, "{name}({:?})", &arguments[..$count]);
            }
        })*
    }};
}

macro_rules! with_sign {
    ($test:ident, $int:ty, $suffix:literal, $llvm:literal) => {
        #[test]
        fn $test() {
            const BITS: u32 = <$int>::BITS;
            check!($int, $suffix, $llvm,
                "abs" (1) |[x, ..], _| x.abs();
                "abs_diff" (2) |[x, y, _], _| (x - y).abs();
                "add_sat" (2) |[x, y, _], (low, high)| (x + y).clamp(low, high);
                "sub_sat" (2) |[x, y, _], (low, high)| (x - y).clamp(low, high);
                "clamp" (3) |[x, low, high], _| x.max(low).min(high);
                "max" (2) |[x, y, _], _| x.max(y);
                "min" (2) |[x, y, _], _| x.min(y);
                "max3" (3) |[x, y, z], _| x.max(y).max(z);
                "min3" (3) |[x, y, z], _| x.min(y).min(z);
                "median3" (3) |[x, y, z], _| x.max(y).min(x.min(y).max(z));
                "hadd" (2) |[x, y, _], _| (x + y) >> 1;
                "rhadd" (2) |[x, y, _], _| (x + y + 1) >> 1;
                // The product of two numbers of 64 bits has 128, and a sign here.
                "mul_hi" (2) |[x, y, _], _| ((x as u128).wrapping_mul(y as u128) as i128 >> BITS) as $int as i128;
                "mad_hi" (3) |[x, y, z], _| ((x as u128).wrapping_mul(y as u128) as i128 >> BITS) + z;
                "mad_sat" (3) |[x, y, z], (low, high)| match x.checked_mul(y).and_then(|product| product.checked_add(z)) {
                    Some(sum) => sum.clamp(low, high),
                    None => high, // Only a product of unsigned numbers has no room.
                };
            );
        }
    };
}

with_sign!(chars, i8, "s.i8", "i8");
with_sign!(uchars, u8, "u.i8", "i8");
with_sign!(shorts, i16, "s.i16", "i16");
with_sign!(ushorts, u16, "u.i16", "i16");
with_sign!(ints, i32, "s.i32", "i32");
with_sign!(uints, u32, "u.i32", "i32");
with_sign!(longs, i64, "s.i64", "i64");
with_sign!(ulongs, u64, "u.i64", "i64");

macro_rules! without_sign {
    ($test:ident, $int:ty, $suffix:literal) => {
        #[test]
        fn $test() {
            check!($int, $suffix, $suffix,
                "popcount" (1) |[x, ..], _| i128::from((x as $int).count_ones());
                "reverse_bits" (1) |[x, ..], _| (x as $int).reverse_bits() as i128;
                "rotate" (2) |[x, n, _], _| (x as $int).rotate_left(n as u32 % <$int>::BITS) as i128;
            );
            let inputs: Vec<$int> = bits().into_iter().map(|bits| bits as $int).collect();
            let flags = vec![0u8; inputs.len()];
            let arguments = [Array::new($suffix, &inputs), Array::new("i1", &flags)];
            let counts: [(&str, fn($int) -> u32); 2] = [("clz", <$int>::leading_zeros), ("ctz", <$int>::trailing_zeros)];
            for (name, truth) in counts {
                let results: Vec<$int> = apply(&format!("air.{name}.{}", $suffix), $suffix, &arguments);
                for (&x, &result) in inputs.iter().zip(&results) {
                    assert_eq!(result, truth(x) as $int, "{name}({x})");
                }
            }
        }
    };
}

without_sign!(bits_of_8, u8, "i8");
without_sign!(bits_of_16, u16, "i16");
without_sign!(bits_of_32, u32, "i32");
without_sign!(bits_of_64, u64, "i64");

macro_rules! fields {
    ($test:ident, $int:ty, $suffix:literal, $llvm:literal) => {
        #[test]
        fn $test() {
            let width = <$int>::BITS;
            let ranges: Vec<(u32, u32)> =
                (0..width).flat_map(|offset| (0..=width - offset).map(move |count| (offset, count))).collect();
            let numbers: Vec<$int> =
                (0..ranges.len() as u64).map(|i| i.wrapping_mul(0xd1b5_4a32_d192_ed03) as $int).collect();
            let inserted: Vec<$int> = numbers.iter().map(|number| number.rotate_left(3) ^ 0x5a).collect();
            let (offsets, counts): (Vec<u32>, Vec<u32>) = ranges.iter().copied().unzip();
            let (offset, count) = (Array::new("i32", &offsets), Array::new("i32", &counts));
            let ones = |count: u32| (1u128 << count) - 1;

            let arguments = [Array::new($llvm, &numbers), offset, count];
            let extracted: Vec<$int> = apply(&format!("air.extract_bits.{}", $suffix), $llvm, &arguments);
            let arguments = [Array::new($llvm, &numbers), Array::new($llvm, &inserted), offset, count];
            let replaced: Vec<$int> = apply(&format!("air.insert_bits.{}", $suffix), $llvm, &arguments);
            for (index, &(offset, count)) in ranges.iter().enumerate() {
                let (number, new) = (numbers[index], inserted[index]);
                // To the left end, and back with the sign.
                let field = match count {
                    0 => 0,
                    _ => number << (width - offset - count) >> (width - count),
                };
                assert_eq!(extracted[index], field, "extract_bits({number:#x}, {offset}, {count})");
                let mask = (ones(count) << offset) as $int;
                let expected = number & !mask | (((new as u128) << offset) as $int & mask);
                assert_eq!(replaced[index], expected, "insert_bits({number:#x}, {new:#x}, {offset}, {count})");
            }
        }
    };
}

fields!(fields_of_chars, i8, "s.i8", "i8");
fields!(fields_of_ushorts, u16, "u.i16", "i16");
fields!(fields_of_ints, i32, "s.i32", "i32");
fields!(fields_of_ulongs, u64, "u.i64", "i64");
