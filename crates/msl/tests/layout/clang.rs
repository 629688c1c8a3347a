//! Layouts of structs by clang, for an Apple target.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Environment variable with the path of a clang, which overrides the search.
const VARIABLE: &str = "METALWORKS_CLANG";

const FLAGS: &[&str] = &[
    "--target=arm64-apple-macosx14.0",
    "-fsyntax-only",
    "-std=c++14",
    "-x",
    "c++",
    "-nostdinc",
    "-w",
    "-Xclang",
    "-fdump-record-layouts",
    "-",
];

/// Metal's types and address spaces in C++.
const PRELUDE: &str = "
#define thread
#define device
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
struct alignas(8) float2 { float components[2]; };
struct alignas(16) float3 { float components[4]; };
struct alignas(8) ushort3 { ushort components[4]; };
struct packed_float3 { float components[3]; };
";

/// Place of a member, in bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Member {
    /// Name of a base class for one of these; empty for an unnamed member.
    pub(crate) name: String,
    pub(crate) first_bit: u64,
    /// Width of a bit-field.
    pub(crate) width: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Record {
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// Size as a base class; 0 for an empty class.
    pub(crate) data_size: u64,
    /// In the order of their offsets.
    pub(crate) bases: Vec<Member>,
    /// In the order of the source.
    pub(crate) fields: Vec<Member>,
}

/// Returns clang's layout of the structs and unions `names`. Each is laid out at the end: right behind its `}`, neither
/// attributes there nor defaulted constructors would count.
///
/// # Panics
///
/// If there is no clang 22: the test must not pass without it.
pub(crate) fn layouts(declarations: &str, names: &[String]) -> BTreeMap<String, Record> {
    let mut command = Command::new(find());
    command.args(FLAGS).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let uses: String = names.iter().map(|name| format!("static_assert(sizeof({name}) > 0, \"\");\n")).collect();
    let text = format!("{PRELUDE}{declarations}{uses}");
    // clang reads all of its input before it writes, so writing first cannot deadlock.
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("clang reads it");
    let output = child.wait_with_output().expect("clang ends");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let dump = String::from_utf8(output.stdout).expect("clang writes UTF-8");
    dump.split("*** Dumping AST Record Layout").skip(1).map(record).collect()
}

fn find() -> PathBuf {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let of_llvm = std::env::var_os("LLVM_SYS_221_PREFIX").map(|prefix| Path::new(&prefix).join("bin/clang"));
    let candidates: Vec<PathBuf> = match named {
        Some(named) => vec![named],
        None => of_llvm.into_iter().chain(["/usr/lib/llvm-22/bin/clang".into(), "clang-22".into()]).collect(),
    };
    let is_version_22 = |clang: &&PathBuf| {
        let output = Command::new(clang).arg("--version").output();
        output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang version 22."))
    };
    candidates.iter().find(is_version_22).cloned().unwrap_or_else(|| {
        panic!(
            "found no clang 22 at {candidates:?}: install it (Debian's package clang-22, or `make clang`), or set \
             {VARIABLE} to its path"
        )
    })
}

/// Reads one record of the dump:
///
/// ```text
///          0 | struct Derived
///          0 |   struct Base (base)
///     4:0-2 |   unsigned int x
///            | [sizeof=8, dsize=5, align=4,
///            |  nvsize=5, nvalign=4]
/// ```
fn record(dump: &str) -> (String, Record) {
    let mut lines = dump.lines().filter_map(|line| line.split_once(" | "));
    let (_, head) = lines.next().expect("a record has a head");
    let is_empty = head.ends_with(" (empty)");
    let name = head.trim_end_matches(" (empty)").rsplit(' ').next().unwrap_or_default().to_string();
    let mut record = Record::default();
    for (place, text) in lines {
        if let Some(numbers) = text.strip_prefix('[').or_else(|| text.strip_prefix(" nv")) {
            for (key, value) in numbers.split(", ").filter_map(|part| part.split_once('=')) {
                let value = value.trim_end_matches([',', ']']).parse().expect("a number");
                match key {
                    "sizeof" => record.size = value,
                    "align" => record.align = value,
                    "size" if !is_empty => record.data_size = value,
                    _ => {}
                }
            }
            continue;
        }
        // Members of members are indented further.
        let Some(text) = text.strip_prefix("  ").filter(|text| !text.starts_with(' ')) else { continue };
        let text = text.trim_end_matches(" (empty)");
        let (is_base, text) = match text.strip_suffix(" (base)") {
            Some(base) => (true, base),
            None => (false, text),
        };
        let (first_bit, width) = bits(place.trim());
        let name = text.rsplit(' ').next().unwrap_or_default().to_string();
        let members = if is_base { &mut record.bases } else { &mut record.fields };
        members.push(Member { name, first_bit, width });
    }
    (name, record)
}

/// `4` for a member, `4:0-2` for a bit-field, `4:-` for one of width zero.
fn bits(place: &str) -> (u64, Option<u64>) {
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("no number: {place}"));
    match place.split_once(':') {
        None => (number(place) * 8, None),
        Some((byte, "-")) => (number(byte) * 8, Some(0)),
        Some((byte, range)) => {
            let (first, last) = range.split_once('-').expect("a range of bits");
            (number(byte) * 8 + number(first), Some(number(last) - number(first) + 1))
        }
    }
}
