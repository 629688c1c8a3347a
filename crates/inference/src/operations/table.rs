//! The table of operations: what they run, with which sizes, and what they move and compute at least.

use super::build::{attention, elementwise, position, products, rows, sampling, sequence};
use super::case::Case;
use super::data::{Maker, Problem, Workload};
use crate::metal::format::Format;

/// A line of the table.
#[derive(Debug)]
pub struct Operation {
    /// A case is called like this, with the types of numbers behind it.
    pub name: &'static str,
    /// Its kernels are called like this.
    pub(super) kernels: &'static [&'static str],
    pub(super) variants: Variants,
    /// Sizes to measure: numbers, or those of a model.
    pub(super) shape: &'static str,
    /// Sizes to check results with: small, and multiples of nothing. Those of K are rounded up to whole blocks.
    pub(super) checks: &'static [&'static str],
    /// Bytes that must be read and written at least, caches being perfect.
    pub(super) bytes: fn(&Case) -> f64,
    /// Additions and multiplications; a function like exp counts as one.
    pub(super) flops: fn(&Case) -> f64,
    pub(super) build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
}

/// Types of numbers that an operation is there for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variants {
    /// `_q8_0_f32`: weights and activations.
    Weights(&'static [Format]),
    /// `_f32`: activations.
    Activations,
    /// `_f32_kv_f16`: activations and cache.
    Attention,
    /// `_f32_f16`: activations and cache.
    Cache,
    /// `_f16_f32`: from one type to another.
    Copies,
    /// All is f32.
    One,
}
use Variants::{Activations, Attention, Cache, Copies, One, Weights};

const ANY: Variants = Weights(&Format::ALL);
const FLOATS: Variants = Weights(&[Format::F32, Format::F16, Format::BF16]);
const Q8_0: Variants = Weights(&[Format::Q8_0]);

const VECTOR: &str = "M=1 N=width K=width";
const VECTORS: &str = "M=512 N=width K=width";
const ALL_TOKENS: &str = "M=1 N=vocabulary K=width";
const SOME_TOKENS: &str = "M=512 N=vocabulary K=width";
const HEADS: &str = "M=1 H=heads D=head_dim";
const QKV: &str = "M=1 H=heads G=kv_heads D=head_dim K=width";
const DECODE: &str = "L=4096 H=heads G=kv_heads D=head_dim";
const DECODE_SPLIT: &str = "L=4096 H=heads G=kv_heads D=head_dim S=8";
const PREFILL: &str = "M=512 P=0 H=heads G=kv_heads D=head_dim";
const ROTATE: &str = "M=1 L=4096 H=heads G=kv_heads D=head_dim";

const FEW: &[&str] = &["M=3 N=77"];
/// Rows that simdgroups share on a GPU.
const LONG: &[&str] = &["M=3 N=401"];
const LOOKUP: &[&str] = &["M=3 N=50 K=96"];

/// name, kernels, types, sizes to measure and to check, bytes, operations, how it is built. The simdgroups of `gemm` are S.
#[rustfmt::skip]
pub const OPERATIONS: &[Operation] = &[
    operation("gemv", &["gemv"], ANY, VECTOR, &["M=1 N=37 K=288"], product, |c| 2.0 * c.mnk(), products::gemv),
    operation("gemv_many", &["gemv"], ANY, VECTORS, &["M=5 N=37 K=160"], product, |c| 2.0 * c.mnk(), products::gemv),
    operation("gemv_rows", &["gemv_rows"], FLOATS, VECTOR, &["M=3 N=37 K=77"], product, |c| 2.0 * c.mnk(), products::gemv_rows),
    operation("gemv_gated", &["gemv_gated"], ANY, "M=1 N=ff K=width", &["M=3 N=37 K=288"], gated, |c| 4.0 * c.mnk() + 5.0 * c.mn(), products::gemv_gated),
    operation("gemv_qkv", &["gemv_qkv"], ANY, QKV, &["M=2 H=3 G=1 D=33 K=288"], qkv, |c| 2.0 * c.m() * c.qkv() * c.k(), products::gemv_qkv),
    operation("gemm", &["gemm"], ANY, "M=512 N=width K=width S=1", &["M=37 N=70 K=96 S=4"], product, |c| 2.0 * c.mnk(), products::gemm),
    operation("lm_head", &["lm_head"], ANY, ALL_TOKENS, &["M=2 N=101 K=288"], |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()) + 4.0 * c.mn(), |c| 2.0 * c.mnk(), products::lm_head),
    operation("lm_head_best", &["lm_head", "lm_head_argmax"], Q8_0, ALL_TOKENS, &["M=3 N=101 K=288"], |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()), |c| 2.0 * c.mnk(), products::lm_head_best),
    operation("embedding", &["embedding"], ANY, SOME_TOKENS, LOOKUP, lookup, |c| 2.0 * c.m() * c.k(), rows::embedding_blocks),
    operation("embedding_tiles", &["embedding_tiles"], ANY, SOME_TOKENS, LOOKUP, lookup, |c| 2.0 * c.m() * c.k(), rows::embedding_tiles),
    operation("attention_decode", &["attention_decode"], Attention, DECODE, &["L=45 H=6 G=2 D=40", "L=70 H=2 G=2 D=64 W=50 T=3"], decode, |c| c.scores() * c.l(), attention::decode),
    operation("attention_decode_split", &["attention_decode_split", "attention_reduce"], Attention, DECODE_SPLIT, &["L=45 H=6 G=2 D=40 S=3", "L=70 H=2 G=2 D=64 S=2 W=50 T=3"], decode, |c| c.scores() * c.l(), attention::decode_split),
    operation("attention_prefill", &["attention_prefill"], Attention, PREFILL, &["M=11 P=5 H=4 G=2 D=40", "M=9 P=30 H=2 G=1 D=64 W=20 T=3"], prefill, |c| c.scores() * c.seen(), attention::prefill),
    operation("softmax", &["softmax"], Activations, "M=32 N=4096", LONG, |c| c.a(2.0 * c.mn()), |c| 5.0 * c.mn(), rows::softmax),
    operation("rms_norm", &["rms_norm"], Activations, "M=1 N=width", LONG, |c| c.a(2.0 * c.mn()) + 4.0 * c.n(), |c| 4.0 * c.mn(), rows::rms_norm),
    operation("layer_norm", &["layer_norm"], Activations, "M=1 N=width", LONG, |c| c.a(2.0 * c.mn()) + 8.0 * c.n(), |c| 7.0 * c.mn(), rows::layer_norm),
    operation("add_rms_norm", &["add_rms_norm"], Activations, "M=1 N=width", LONG, |c| c.a(4.0 * c.mn()) + 4.0 * c.n(), |c| 5.0 * c.mn(), rows::add_rms_norm),
    operation("head_rms_norm", &["head_rms_norm"], Activations, HEADS, &["M=2 H=3 D=40"], |c| c.a(2.0 * c.mhd()) + 4.0 * c.d(), |c| 4.0 * c.mhd(), rows::head_rms_norm),
    operation("silu", &["silu"], Activations, "M=1 N=ff", FEW, |c| c.a(2.0 * c.mn()), |c| 4.0 * c.mn(), elementwise::silu),
    operation("gelu", &["gelu"], Activations, "M=1 N=ff", FEW, |c| c.a(2.0 * c.mn()), |c| 8.0 * c.mn(), elementwise::gelu),
    operation("add", &["add"], Activations, "M=1 N=width", FEW, |c| c.a(3.0 * c.mn()), |c| c.mn(), elementwise::add),
    operation("multiply", &["multiply"], Activations, "M=1 N=ff", FEW, |c| c.a(3.0 * c.mn()), |c| c.mn(), elementwise::multiply),
    operation("silu_multiply", &["silu_multiply"], Activations, "M=1 N=ff", FEW, |c| c.a(3.0 * c.mn()), |c| 5.0 * c.mn(), elementwise::silu_multiply),
    operation("sigmoid_gate", &["sigmoid_gate"], Activations, "M=1 N=ff", FEW, |c| c.a(3.0 * c.mn()), |c| 4.0 * c.mn(), elementwise::sigmoid_gate),
    operation("scale", &["scale"], Activations, "M=1 N=width", FEW, |c| c.a(2.0 * c.mn()), |c| c.mn(), elementwise::scale),
    operation("copy", &["copy"], Copies, "M=512 N=width", FEW, |c| c.copied() * c.mn(), |_| 0.0, elementwise::copy),
    operation("rope", &["rope"], Activations, HEADS, &["M=3 H=3 D=40", "M=3 H=3 D=40 R=24 X=1"], |c| c.a(2.0 * c.mhd()) + 2.0 * c.d(), |c| 3.0 * c.mhd(), position::rope),
    operation("rope_kv", &["rope_kv"], Cache, ROTATE, &["M=5 L=45 H=4 G=2 D=40", "M=2 L=45 H=4 G=2 D=40 R=24 X=1"], |c| c.a(2.0 * (c.mhd() + c.mgd())) + c.kv(2.0 * c.mgd()), |c| 3.0 * (c.mhd() + c.mgd()), position::rope_kv),
    operation("kv_write", &["kv_write"], Cache, "M=1 L=4096 G=kv_heads D=head_dim", &["M=17 L=40 G=2 D=33"], |c| c.a(2.0 * c.mgd()) + c.kv(2.0 * c.mgd()), |_| 0.0, position::kv_write),
    operation("kv_read", &["kv_read"], Cache, "L=4096 G=kv_heads D=head_dim", &["L=37 P=5 G=2 D=33"], |c| c.a(2.0 * c.lgd()) + c.kv(2.0 * c.lgd()), |_| 0.0, position::kv_read),
    operation("penalize", &["penalize"], One, "M=1 N=vocabulary C=64", &["M=3 N=101 C=37"], |c| 12.0 * c.m() * c.c(), |c| c.m() * c.c() * (c.c() + 4.0), sampling::penalize),
    operation("argmax", &["argmax"], One, "M=1 N=vocabulary", &["M=3 N=1001"], |c| 4.0 * c.mn(), |c| c.mn(), sampling::argmax),
    operation("top_k", &["top_k"], One, "M=1 N=vocabulary C=40", &["M=3 N=1001 C=40"], |c| 4.0 * c.mn() + 8.0 * c.m() * c.c(), |c| c.mn(), sampling::top_k),
    operation("sample", &["sample"], One, "M=1 N=vocabulary", &["M=5 N=1001"], |c| 4.0 * c.mn(), |c| 5.0 * c.mn(), sampling::sample),
    operation("sample_candidates", &["sample"], One, "M=1 C=40", &["M=5 C=40"], |c| 8.0 * c.m() * c.c(), |c| 5.0 * c.m() * c.c(), sampling::sample_candidates),
    operation("take_tokens", &["take_tokens"], One, "M=512 L=4096", &["M=33 L=100 P=7"], |c| 12.0 * c.m(), |_| 0.0, sequence::take_tokens),
    operation("recent_tokens", &["recent_tokens"], One, "L=4096 C=64", &["L=20 C=33"], |c| 8.0 * c.c(), |_| 0.0, sequence::recent_tokens),
    operation("put_token", &["put_token"], One, "L=4096", &["L=50"], |_| 8.0, |_| 0.0, sequence::put_token),
    operation("take_row", &["take_row"], Activations, "M=512 N=width", FEW, |c| c.a(2.0 * c.n()), |_| 0.0, sequence::take_row),
];

fn product(c: &Case) -> f64 {
    c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k()))
}

fn gated(c: &Case) -> f64 {
    c.w(2.0 * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k()))
}

fn qkv(c: &Case) -> f64 {
    c.w(c.qkv() * c.k()) + c.a(c.m() * (c.qkv() + c.k()))
}

fn lookup(c: &Case) -> f64 {
    c.w(c.m() * c.k()) + c.a(c.m() * c.k()) + 4.0 * c.m()
}

fn decode(c: &Case) -> f64 {
    c.kv(2.0 * c.lgd()) + c.a(2.0 * c.h() * c.d())
}

fn prefill(c: &Case) -> f64 {
    c.kv(2.0 * (c.p() + c.m()) * c.g() * c.d()) + c.a(2.0 * c.mhd())
}

/// Kernels that no case runs, and why.
pub const NOT_COVERED: &[(&str, &str)] = &[];

#[allow(clippy::too_many_arguments, reason = "a line of the table")]
const fn operation(
    name: &'static str,
    kernels: &'static [&'static str],
    variants: Variants,
    shape: &'static str,
    checks: &'static [&'static str],
    bytes: fn(&Case) -> f64,
    flops: fn(&Case) -> f64,
    build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
) -> Operation {
    Operation { name, kernels, variants, shape, checks, bytes, flops, build }
}
