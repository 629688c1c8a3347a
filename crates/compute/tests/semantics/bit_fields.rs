//! Bit-fields: their place in memory, as clang lays them out, and reads and writes that leave all
//! other bits as they are.

use crate::harness::TestLibrary;
use crate::numbers::Random;
use std::fmt::Write;

/// A struct `S`, statements that change `s`, a byte that fills it before, and its bytes after.
type Case = (&'static str, &'static str, u8, &'static [u8]);

const CASES: &[Case] = &[
    ("struct S { uint a : 5; uchar b; };", "s.a = 3;", 0xFF, &[0xE3, 0xFF, 0xFF, 0xFF]),
    ("struct S { uint a : 5; uchar b; };", "s.b = 0x12;", 0xFF, &[0xFF, 0x12, 0xFF, 0xFF]),
    (
        "struct S { ushort a : 3; uint b : 20; uchar c : 7; };",
        "s.a = 5; s.b = 0xABCDE; s.c = 0x55;",
        0,
        &[0xF5, 0xE6, 0x55, 0x55],
    ),
    ("struct S { uchar a; uint b : 24; };", "s.b = 0x123456;", 0xFF, &[0xFF, 0x56, 0x34, 0x12]),
    ("struct S { uchar a; uint b : 25; };", "s.a = 1; s.b = 2;", 0, &[1, 0, 0, 0, 2, 0, 0, 0]),
    ("struct S { uchar a; int : 0; uchar b; };", "s.a = 1; s.b = 2;", 9, &[1, 9, 9, 9, 2]),
    ("struct S { uchar a; int : 9; uchar b; };", "s.a = 1; s.b = 2;", 9, &[1, 9, 9, 2]),
    ("struct S { bool a : 1; bool b : 1; uchar c; };", "s.b = true; s.c = 7;", 0, &[2, 7]),
    ("struct S { bool a : 1; bool b : 1; uchar c; };", "s.b = false;", 0xFF, &[0xFD, 0xFF]),
    (
        "struct S { ulong a : 40; ushort b; uchar c; };",
        "s.a = 0x123456789Aul; s.c = 7;",
        0xFF,
        &[0x9A, 0x78, 0x56, 0x34, 0x12, 0xFF, 0xFF, 0xFF, 7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ),
    ("struct S { int a : 3; int b : 30; };", "s.a--; s.b -= 2;", 0, &[7, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0x3F]),
    ("enum E : short { x = -1 }; struct S { E a : 4; uchar b : 4; };", "s.a = x;", 0, &[0x0F, 0]),
    ("union S { uint a : 5; uchar b[2]; };", "s.a = 0;", 0xFF, &[0xE0, 0xFF, 0xFF, 0xFF]),
    // A derived class uses the tail padding of a base class with a constructor, not that of a POD.
    (
        "struct B { B(uint x) : a(x) {} uint a : 5; }; struct S : B { uchar b; };",
        "s.b = 2; thread_copy(s, B(9));",
        0,
        &[9, 2, 0, 0],
    ),
    ("struct B { uint a : 5; }; struct S : B { uchar b; };", "s.a = 9; s.b = 2;", 0, &[9, 0, 0, 0, 2, 0, 0, 0]),
    ("struct B {}; struct S : B { uchar b; };", "s.b = 2; thread_copy(s, B());", 0, &[2]),
    // Initializers skip unnamed bit-fields.
    (
        "struct S { uint a : 3; uint : 2; bool b : 1; uint : 0; uint c : 9; };",
        "s = S{7, true, 300};",
        0,
        &[0x27, 0, 0, 0, 0x2C, 1, 0, 0],
    ),
    (
        "struct S { uint a : 3; uint : 2; bool b : 1; uchar c; }; constant S table[2] = {{}, {5, true, 6}};",
        "s = table[1];",
        0,
        &[0x25, 6, 0, 0],
    ),
    (
        "struct S { uchar a = 1; uint b : 7; uint c : 9; S(uint x) : b(x), c(x * 2) {} };",
        "s = S(200);",
        0,
        &[1, 0x48, 0xC8, 0],
    ),
    // Constant expressions cut off the same bits.
    (
        "struct S { int a : 3; uint b : 4; }; constexpr S f(int x) { S s = {x, 0}; s.b = x + 10; return s; }",
        "constexpr int n = f(6).a + int(f(6).b) * 16; s.a = n; s.b = uint(n) >> 4; s.b += n == -2;",
        0,
        &[0x06, 0, 0, 0],
    ),
];

#[test]
fn fields_lie_where_clang_puts_them() {
    let copy =
        "template <typename T, typename B> void thread_copy(thread T &to, B from) { thread B &b = to; b = from; }";
    for (declaration, statements, before, after) in CASES {
        let library = TestLibrary::new(&format!(
            "{copy}\n{declaration}\nkernel void k(device S *all [[buffer(0)]], device uint *size [[buffer(1)]]) {{\n\
             thread S s = all[0]; {statements} all[0] = s; size[0] = sizeof(S); }}"
        ));
        let bytes = vec![*before; after.len()];
        let run = library.kernel("k").buffer(&bytes).zeros::<u32>(1).threads(1, 1);
        assert_eq!(run.read::<u32>(1), [after.len() as u32], "size: {declaration}");
        assert_eq!(run.read::<u8>(0), *after, "{declaration} {statements}");
    }
}

/// Type of a field, its width and whether it has a sign.
const TYPES: &[(&str, u32, bool)] = &[
    ("bool", 1, false),
    ("char", 8, true),
    ("uchar", 8, false),
    ("short", 16, true),
    ("ushort", 16, false),
    ("int", 32, true),
    ("uint", 32, false),
    ("long", 64, true),
    ("ulong", 64, false),
];

struct Field {
    width: u32,
    is_signed: bool,
}

/// Fields f0, f1, …
fn random_struct(random: &mut Random) -> (String, Vec<Field>) {
    let (mut text, mut fields) = (String::new(), Vec::new());
    for _ in 0..2 + random.below(9) {
        let (ty, most, is_signed) = random.pick(TYPES);
        let (width, colon) = match random.below(6) {
            0 if ty != "bool" => (most, String::new()),
            _ => {
                let width = 1 + random.below(most as usize) as u32;
                (width, format!(" : {width}"))
            }
        };
        match random.below(10) {
            0 => _ = writeln!(text, "  {ty} : 0;"),
            1 => _ = writeln!(text, "  {ty} : {width};"),
            _ => {}
        }
        let _ = writeln!(text, "  {ty} f{}{colon};", fields.len());
        fields.push(Field { width, is_signed });
    }
    (text, fields)
}

/// Two threads for each field: one writes zeros, one writes ones. Each also reads all fields.
#[test]
fn writes_change_the_bits_of_their_field_alone() {
    const STRUCTS: usize = 24;
    let mut random = Random::new(77);
    let mut text = String::new();
    let mut structs = Vec::new();
    for index in 0..STRUCTS {
        let (declaration, fields) = random_struct(&mut random);
        let packed = if index % 3 == 0 { "__attribute__((packed)) " } else { "" };
        let _ = writeln!(text, "struct {packed}S{index} {{\n{declaration}}};");
        let _ = writeln!(
            text,
            "kernel void k{index}(device S{index} *all [[buffer(0)]], device long *read [[buffer(1)]], \
             device uint *size [[buffer(2)]], uint i [[thread_position_in_grid]]) {{\n  size[i] = sizeof(S{index});"
        );
        for field in 0..fields.len() {
            let _ = writeln!(text, "  read[i * {} + {field}] = long(all[i].f{field});", fields.len());
        }
        let _ = writeln!(text, "  switch (i / 2) {{");
        for field in 0..fields.len() {
            let _ = writeln!(text, "  case {field}: all[i].f{field} = i & 1 ? -1 : 0; break;");
        }
        let _ = writeln!(text, "  }}\n}}");
        structs.push((declaration, fields));
    }
    let library = TestLibrary::new(&text);
    for (index, (declaration, fields)) in structs.iter().enumerate() {
        let threads = fields.len() * 2;
        let before: Vec<u8> = (0..512).map(|_| random.next() as u8).collect();
        let name = format!("k{index}");
        let run = |bytes: &[u8]| {
            let run = library.kernel(&name).buffer(bytes).zeros::<i64>(threads * fields.len());
            run.zeros::<u32>(threads).threads(threads, 32)
        };
        // The size is not known before a run.
        let size = run(&vec![0; threads * 512]).read::<u32>(2)[0] as usize;
        let before = &before[..size];
        let after = run(&before.repeat(threads));
        let (images, read) = (after.read::<u8>(0), after.read::<i64>(1));
        let mut used = vec![0u8; size];
        for (number, field) in fields.iter().enumerate() {
            let context = || format!("f{number} of struct {{\n{declaration}}}");
            let image = |thread: usize| &images[thread * size..(thread + 1) * size];
            let (zeros, ones) = (image(number * 2), image(number * 2 + 1));
            let mask: Vec<u8> = zeros.iter().zip(ones).map(|(zero, one)| zero ^ one).collect();
            let bits: Vec<usize> = (0..size * 8).filter(|bit| mask[bit / 8] >> (bit % 8) & 1 == 1).collect();
            assert_eq!(bits.len(), field.width as usize, "{}", context());
            assert_eq!(bits[bits.len() - 1] - bits[0] + 1, bits.len(), "contiguous: {}", context());
            for byte in 0..size {
                assert_eq!(zeros[byte], before[byte] & !mask[byte], "{}", context());
                assert_eq!(used[byte] & mask[byte], 0, "shared: {}", context());
                used[byte] |= mask[byte];
            }
            let bit = |bit: usize| i64::from(before[bit / 8] >> (bit % 8) & 1);
            let raw = bits.iter().rev().fold(0, |value, &at| value << 1 | bit(at));
            let unused = 64 - field.width;
            let expected =
                if field.is_signed { raw << unused >> unused } else { ((raw << unused) as u64 >> unused) as i64 };
            for thread in 0..threads {
                assert_eq!(read[thread * fields.len() + number], expected, "read: {}", context());
            }
        }
    }
}
