use super::element::numbers;
use super::*;
use inkwell::context::Context;

#[test]
fn prefixes_sum_the_active_lanes_before() {
    for features in targets() {
        let context = Context::create();
        let mut machine = Machine::new(&context, features);
        let mut cases = Vec::new();
        for (group, size) in [("simd", 32), ("quad", 4)] {
            for element in numbers() {
                for inclusive in [true, false] {
                    for operation in ["sum", "product"] {
                        let kind = if inclusive { "inclusive" } else { "exclusive" };
                        let name = format!("air.{group}_prefix_{kind}_{operation}.{}", element.suffix());
                        let number = machine.add(&[element], &[element], |i| {
                            vec![call(i.b, &name, &[i.values[0]], i.mask, element.ty(i.b.context()))]
                        });
                        cases.push((element, name, size, inclusive, operation, number));
                    }
                }
            }
        }
        machine.compile();
        let mut random = Random(7);
        for (element, name, size, inclusive, operation, number) in cases {
            for mask in masks(&mut random) {
                let data = element.random_lanes(&mut random);
                let found = &machine.call(number, &[&data], mask)[0];
                for lane in (0..32).filter(|&lane| is_active(mask, lane)) {
                    let end = lane + usize::from(inclusive);
                    let before = (lane / size * size..end).filter(|&lane| is_active(mask, lane));
                    let before: Vec<u64> = before.map(|lane| data[lane]).collect();
                    assert_reduction(element, operation, &before, found[lane], &name, mask);
                }
            }
        }
    }
}

/// Compares with the sum or product of `data`: exactly for integers, closely for others.
fn assert_reduction(element: Element, operation: &str, data: &[u64], found: u64, name: &str, mask: u32) {
    if !element.is_float() {
        let numbers = data.iter().map(|&bits| element.integer(bits));
        let expected = match operation {
            "sum" => numbers.fold(0i128, i128::wrapping_add),
            _ => numbers.fold(1i128, |a, b| element.integer(element.bits_of_integer(a.wrapping_mul(b)))),
        };
        assert_eq!(found, element.bits_of_integer(expected), "{name}, mask {mask:08x}");
        return;
    }
    let numbers = data.iter().map(|&bits| element.real(bits));
    let expected: f64 = if operation == "sum" { numbers.sum() } else { numbers.product() };
    let error = 1e-6 + 2e-6 * data.len() as f64 + expected.abs() * element.epsilon() * 4.0;
    let found = element.real(found);
    assert!((found - expected).abs() <= error, "{name}, mask {mask:08x}: {found}, not {expected}");
}
