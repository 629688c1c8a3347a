//! The layout of structs, compared with clang's: sizes, alignments and the place of every field, bit-fields included.
//!
//! On a Mac, Apple's compiler does this.
#![cfg(not(target_os = "macos"))]

mod clang;
mod random;

use clang::{Member, Record};
use metalworks_msl::Compilation;
use metalworks_msl::types::{Field, TyKind};
use std::fmt::Write;

/// Returns our layout of the struct `name`, to which a function `use_name` has a pointer.
fn ours(compilation: &Compilation, name: &str) -> Record {
    let program = &compilation.program;
    let types = &program.types;
    let wanted = format!("use_{name}");
    let function = program.functions.iter().find(|function| function.name == wanted).expect("a function for it");
    let pointer = function.locals[function.params[0].0 as usize].ty.ty;
    let TyKind::Pointer(pointee) = types.kind(pointer) else { panic!("{name}: a pointer") };
    let layout = types.layout(pointee.ty).expect("a layout");
    let definition = types.struct_(types.struct_id(pointee.ty).expect("a struct"));
    let place = |field: &Field| Member {
        name: if field.is_base { types.name(field.ty.ty) } else { field.name.to_string() },
        first_bit: field.offset * 8 + field.bits.map_or(0, |(first, _)| u64::from(first)),
        width: field.bits.map(|(_, width)| u64::from(width)),
    };
    let (bases, fields): (Vec<&Field>, Vec<&Field>) = definition.fields.iter().partition(|field| field.is_base);
    let mut bases: Vec<Member> = bases.into_iter().map(place).collect();
    bases.sort_by_key(|base| base.first_bit);
    let fields = fields.into_iter().map(place).collect();
    let data_size = types.data_size(pointee.ty).expect("a layout");
    Record { size: layout.size, align: layout.align, data_size, bases, fields }
}

/// Compares the layouts of the structs `names`.
fn compare(declarations: &str, names: &[String]) {
    let clang = clang::layouts(declarations, names);
    let mut text = format!("#include <metal_stdlib>\nusing namespace metal;\n{declarations}");
    for name in names {
        let _ = writeln!(text, "void use_{name}(device {name} *) {{}}");
    }
    let compilation = metalworks_msl::compile_source("layout.metal", &text, &metalworks_msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    for name in names {
        let start = declarations.find(&format!("{name} ")).unwrap_or(0);
        let start = declarations[..start].rfind('\n').map_or(0, |end| end + 1);
        let source = declarations[start..].split_inclusive("\n};\n").next().unwrap_or_default();
        let theirs = clang.get(name).unwrap_or_else(|| panic!("clang has no layout of {name}"));
        assert_eq!(ours(&compilation, name), *theirs, "ours and clang's layout of {name}\n{source}");
    }
}

#[test]
fn bit_fields_share_bytes_as_in_clang() {
    let declarations = "\
struct A { uint a : 5; uchar b; };
struct B { ushort a : 3; uint b : 20; uchar c : 7; };
struct C { uchar a; uint b : 24; };
struct D { uchar a; uint b : 25; };
struct E { uchar a; int : 0; uchar b; };
struct F { uchar a; int : 5; uchar b; };
struct G { bool a : 1; bool b : 1; ulong c : 40; ushort d; };
union H { uint a : 5; uchar b : 3; };
union I { ulong : 33; uchar b; };
struct J { J(int); uint a : 5; };
struct K : J { uchar b; };
struct L { uint a : 5; };
struct M : L { uchar b; };
struct N : K { ushort c : 9; uchar d; };
struct O { O() = default; void operator=(thread O &&); uint a : 5; };
struct P : O { uchar b; };
struct Q : P { uchar c; };
";
    let names: Vec<String> = ('A'..='Q').map(String::from).collect();
    compare(declarations, &names);
}

#[test]
fn packed_structs_have_the_layout_of_clang() {
    let declarations = "\
struct __attribute__((packed)) A { uchar a; float b; };
struct B { uchar a; float b; } __attribute__((packed));
struct C { uchar a; float b __attribute__((packed)); float c; };
struct [[gnu::packed]] D { A a[3]; float3 b; uchar c; };
struct __attribute__((packed, aligned(4))) E { uchar a; ulong b; uchar c; };
struct __attribute__((packed)) F { uint a : 5; uint b : 30; ulong c : 60; uchar d; };
struct __attribute__((packed)) G { uchar a : 5; uchar b : 6; ushort : 0; ushort c : 11; };
struct __attribute__((packed)) H : C { uchar d; C e; };
#pragma pack(push, 2)
struct I { uchar a; ulong b; float3 c; };
struct J { uint a : 5; uint b : 30; ulong : 0; uchar c; };
#pragma pack(push, label, 1)
struct alignas(8) K { uchar a; ulong b; alignas(16) float c; };
#pragma pack(pop)
struct L { uchar a; ulong b; };
#pragma pack(8)
#pragma pack(pop)
struct M { uchar a; ulong b; };
#pragma pack(4)
struct N { uchar a; ulong b; uchar c; };
#pragma pack()
struct O { uchar a; struct { uchar b; ulong c; } __attribute__((packed)) d; };
union __attribute__((packed)) P { uint a; uchar b[5]; ulong c : 33; };
";
    let names: Vec<String> = ('A'..='P').map(String::from).collect();
    compare(declarations, &names);
}

#[test]
fn random_structs_have_the_layout_of_clang() {
    for seed in 0..8 {
        let declarations = random::Declarations::new(seed, 250);
        compare(&declarations.text, &declarations.names);
    }
}
