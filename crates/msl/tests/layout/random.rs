//! Random declarations of structs, valid in Metal and in C++.

use std::fmt::Write;

/// SplitMix64, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % limit as u64) as usize
    }

    fn chance(&mut self, once_in: usize) -> bool {
        self.below(once_in) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Types of bit-fields and their widths.
const INTEGERS: &[(&str, usize)] = &[
    ("bool", 1),
    ("char", 8),
    ("uchar", 8),
    ("short", 16),
    ("ushort", 16),
    ("int", 32),
    ("uint", 32),
    ("uint", 32),
    ("long", 64),
    ("ulong", 64),
    ("Byte", 8),
    ("Word", 32),
];

const OTHERS: &[&str] = &["float", "half", "float2", "float3", "ushort3", "packed_float3", "device int *"];

/// Declarations that the random ones use.
const FIRST: &str = "\
enum Byte : uchar { byte_zero, byte_two = 2 };
enum class Word : int { minus_one = -1, one = 1 };
struct Empty {};
struct EmptyToo {};
struct Wide : Empty { uint : 0; };
struct alignas(8) EmptyAligned {};
";

/// Declarations of structs S0, S1, …, and the names of all that a test can compare.
pub(crate) struct Declarations {
    pub(crate) text: String,
    pub(crate) names: Vec<String>,
    /// Those that are no unions.
    bases: Vec<String>,
    random: Random,
    members: usize,
}

impl Declarations {
    pub(crate) fn new(seed: u64, count: usize) -> Declarations {
        let empty = ["Empty", "EmptyToo", "Wide", "EmptyAligned"].map(String::from).to_vec();
        let mut all = Declarations {
            text: FIRST.into(),
            names: empty.clone(),
            bases: empty,
            random: Random(seed),
            members: 0,
        };
        for index in 0..count {
            all.declare(&format!("S{index}"));
        }
        all
    }

    fn declare(&mut self, name: &str) {
        let is_union = self.random.chance(8);
        let alignment = match self.random.below(12) {
            0 => "alignas(256) ".to_string(),
            1 => format!("__attribute__((aligned({}))) ", self.random.pick(&[1, 2, 4, 8])),
            _ => String::new(),
        };
        let packing = match self.random.below(8) {
            0 | 1 => "__attribute__((packed)) ",
            2 => {
                let value = self.random.pick(&[1, 2, 4, 8, 16]);
                let _ = writeln!(self.text, "#pragma pack(push, {value})");
                ""
            }
            3 => {
                let value = self.random.pick(&[0, 1, 2, 4]);
                let _ = writeln!(self.text, "#pragma pack({value})");
                ""
            }
            4 => {
                self.text.push_str("#pragma pack(pop)\n");
                ""
            }
            5 => {
                self.text.push_str("#pragma pack()\n");
                ""
            }
            _ => "",
        };
        let key = if is_union { "union" } else { "struct" };
        let bases = if is_union { Vec::new() } else { self.some_bases() };
        let list = if bases.is_empty() { String::new() } else { format!(" : {}", bases.join(", ")) };
        let _ = writeln!(self.text, "{key} {packing}{alignment}{name}{list} {{");
        match self.random.below(16) {
            0 => _ = writeln!(self.text, "  {name}() = default;"),
            3 => _ = writeln!(self.text, "  {name}(int);"),
            4 => _ = writeln!(self.text, "  {name}(int) = delete;"),
            1 => _ = writeln!(self.text, "  void operator=(thread const {name} &);"),
            2 => _ = writeln!(self.text, "  void operator=(int);"),
            _ => {}
        }
        let count = self.random.below(8);
        let private_from = if self.random.chance(8) { self.random.below(8) } else { count };
        for index in 0..count {
            if index == private_from {
                self.text.push_str("private:\n");
            }
            self.member(2, !is_union);
        }
        self.text.push_str("};\n");
        self.names.push(name.into());
        if !is_union {
            self.bases.push(name.into());
        }
    }

    fn some_bases(&mut self) -> Vec<String> {
        let count = self.random.pick(&[0, 0, 0, 1, 1, 2]);
        let mut bases: Vec<String> = Vec::new();
        for _ in 0..count {
            // Empty ones often: two of them at one address must not have the same type.
            let limit = if self.random.chance(2) { 4 } else { self.bases.len() };
            let base = self.bases[self.random.below(limit)].clone();
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        bases
    }

    fn member(&mut self, depth: usize, may_have_initializer: bool) {
        let name = format!("m{}", self.members);
        self.members += 1;
        let alignment = match self.random.chance(16) {
            true if self.random.chance(2) => "__attribute__((packed)) ".to_string(),
            true => format!("__attribute__((aligned({}))) ", self.random.pick(&[2, 4, 8, 16])),
            false => String::new(),
        };
        let (integer, width) = self.random.pick(INTEGERS);
        match self.random.below(20) {
            0 => _ = writeln!(self.text, "  {integer} : 0;"),
            1 => _ = writeln!(self.text, "  {integer} : {};", 1 + self.random.below(width)),
            2..=10 => {
                let width = 1 + self.random.below(width);
                let _ = writeln!(self.text, "  {alignment}{integer} {name} : {width};");
            }
            11 | 12 => {
                let plain = !matches!(integer, "bool" | "Byte" | "Word");
                let initializer = if may_have_initializer && plain && self.random.chance(6) { " = 1" } else { "" };
                let _ = writeln!(self.text, "  {alignment}{integer} {name}{initializer};");
            }
            13 => _ = writeln!(self.text, "  {integer} {name}[{}];", 1 + self.random.below(5)),
            14 | 15 => _ = writeln!(self.text, "  {alignment}{} {name};", self.random.pick(OTHERS)),
            16 if depth > 0 => {
                let key = self.random.pick(&["struct", "union"]);
                let _ = writeln!(self.text, "  {key} {{");
                for _ in 0..1 + self.random.below(4) {
                    self.member(depth - 1, false);
                }
                self.text.push_str("  };\n");
            }
            17 => {
                let inner = self.names[self.random.below(4)].clone();
                let _ = writeln!(self.text, "  {inner} {name};");
            }
            18 => {
                let inner = self.names[self.random.below(self.names.len())].clone();
                let _ = writeln!(self.text, "  {inner} {name}[{}];", 1 + self.random.below(3));
            }
            _ => {
                let inner = self.names[self.random.below(self.names.len())].clone();
                let _ = writeln!(self.text, "  {alignment}{inner} {name};");
            }
        }
    }
}
