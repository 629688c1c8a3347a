//! The table of operations: what can be measured, with which sizes, and what it moves and computes at least.

use crate::data::{Maker, Problem, Workload};
use crate::operations::{attention, elementwise, position, products, rows, sampling, sequence};
use crate::shape::{Model, Shape};
use inference::metal::dispatch::elementwise::CopyTypes;
use inference::metal::format::{Activation, Format};
use inference::metal::kernels;

/// A line of the table.
pub(crate) struct Operation {
    /// A case is called like this, with the types of numbers behind it.
    pub(crate) name: &'static str,
    /// Its kernels are called like this.
    kernels: &'static [&'static str],
    variants: Variants,
    /// Sizes by default: numbers, or those of the model.
    shape: &'static str,
    /// Bytes that must be read and written at least, caches being perfect.
    bytes: fn(&Case) -> f64,
    /// Additions and multiplications; a function like exp counts as one.
    flops: fn(&Case) -> f64,
    build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
}

/// Types of numbers that an operation is there for.
#[derive(Clone, Copy)]
enum Variants {
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

/// name, kernels, types, sizes, bytes, operations, how it is built. The simdgroups of `gemm` are S.
#[rustfmt::skip]
pub(crate) const OPERATIONS: &[Operation] = &[
    operation("gemv", &["gemv"], ANY, VECTOR, product, |c| 2.0 * c.mnk(), products::gemv),
    operation("gemv_many", &["gemv"], ANY, VECTORS, product, |c| 2.0 * c.mnk(), products::gemv),
    operation("gemv_rows", &["gemv_rows"], FLOATS, VECTOR, product, |c| 2.0 * c.mnk(), products::gemv_rows),
    operation("gemv_gated", &["gemv_gated"], ANY, "M=1 N=ff K=width", gated, |c| 4.0 * c.mnk() + 5.0 * c.mn(), products::gemv_gated),
    operation("gemv_qkv", &["gemv_qkv"], ANY, QKV, qkv, |c| 2.0 * c.m() * c.qkv() * c.k(), products::gemv_qkv),
    operation("gemm", &["gemm"], ANY, "M=512 N=width K=width S=1", product, |c| 2.0 * c.mnk(), products::gemm),
    operation("lm_head", &["lm_head"], ANY, ALL_TOKENS, |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()) + 4.0 * c.mn(), |c| 2.0 * c.mnk(), products::lm_head),
    operation("lm_head_best", &["lm_head", "lm_head_argmax"], Q8_0, ALL_TOKENS, |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()), |c| 2.0 * c.mnk(), products::lm_head_best),
    operation("embedding", &["embedding"], ANY, SOME_TOKENS, lookup, |c| 2.0 * c.m() * c.k(), rows::embedding_blocks),
    operation("embedding_tiles", &["embedding_tiles"], ANY, SOME_TOKENS, lookup, |c| 2.0 * c.m() * c.k(), rows::embedding_tiles),
    operation("attention_decode", &["attention_decode"], Attention, DECODE, decode, |c| c.scores() * c.l(), attention::decode),
    operation("attention_decode_split", &["attention_decode_split", "attention_reduce"], Attention, DECODE_SPLIT, decode, |c| c.scores() * c.l(), attention::decode_split),
    operation("attention_prefill", &["attention_prefill"], Attention, PREFILL, prefill, |c| c.scores() * c.seen(), attention::prefill),
    operation("softmax", &["softmax"], Activations, "M=32 N=4096", |c| c.a(2.0 * c.mn()), |c| 5.0 * c.mn(), rows::softmax),
    operation("rms_norm", &["rms_norm"], Activations, "M=1 N=width", |c| c.a(2.0 * c.mn()) + 4.0 * c.n(), |c| 4.0 * c.mn(), rows::rms_norm),
    operation("layer_norm", &["layer_norm"], Activations, "M=1 N=width", |c| c.a(2.0 * c.mn()) + 8.0 * c.n(), |c| 7.0 * c.mn(), rows::layer_norm),
    operation("add_rms_norm", &["add_rms_norm"], Activations, "M=1 N=width", |c| c.a(4.0 * c.mn()) + 4.0 * c.n(), |c| 5.0 * c.mn(), rows::add_rms_norm),
    operation("head_rms_norm", &["head_rms_norm"], Activations, HEADS, |c| c.a(2.0 * c.mhd()) + 4.0 * c.d(), |c| 4.0 * c.mhd(), rows::head_rms_norm),
    operation("silu", &["silu"], Activations, "M=1 N=ff", |c| c.a(2.0 * c.mn()), |c| 4.0 * c.mn(), elementwise::silu),
    operation("gelu", &["gelu"], Activations, "M=1 N=ff", |c| c.a(2.0 * c.mn()), |c| 8.0 * c.mn(), elementwise::gelu),
    operation("add", &["add"], Activations, "M=1 N=width", |c| c.a(3.0 * c.mn()), |c| c.mn(), elementwise::add),
    operation("multiply", &["multiply"], Activations, "M=1 N=ff", |c| c.a(3.0 * c.mn()), |c| c.mn(), elementwise::multiply),
    operation("silu_multiply", &["silu_multiply"], Activations, "M=1 N=ff", |c| c.a(3.0 * c.mn()), |c| 5.0 * c.mn(), elementwise::silu_multiply),
    operation("sigmoid_gate", &["sigmoid_gate"], Activations, "M=1 N=ff", |c| c.a(3.0 * c.mn()), |c| 4.0 * c.mn(), elementwise::sigmoid_gate),
    operation("scale", &["scale"], Activations, "M=1 N=width", |c| c.a(2.0 * c.mn()), |c| c.mn(), elementwise::scale),
    operation("copy", &["copy"], Copies, "M=512 N=width", |c| c.copied() * c.mn(), |_| 0.0, elementwise::copy),
    operation("rope", &["rope"], Activations, HEADS, |c| c.a(2.0 * c.mhd()) + 2.0 * c.d(), |c| 3.0 * c.mhd(), position::rope),
    operation("rope_kv", &["rope_kv"], Cache, ROTATE, |c| c.a(2.0 * (c.mhd() + c.mgd())) + c.kv(2.0 * c.mgd()), |c| 3.0 * (c.mhd() + c.mgd()), position::rope_kv),
    operation("kv_write", &["kv_write"], Cache, "M=1 L=4096 G=kv_heads D=head_dim", |c| c.a(2.0 * c.mgd()) + c.kv(2.0 * c.mgd()), |_| 0.0, position::kv_write),
    operation("kv_read", &["kv_read"], Cache, "L=4096 G=kv_heads D=head_dim", |c| c.a(2.0 * c.lgd()) + c.kv(2.0 * c.lgd()), |_| 0.0, position::kv_read),
    operation("penalize", &["penalize"], One, "M=1 N=vocabulary C=64", |c| 12.0 * c.m() * c.c(), |c| c.m() * c.c() * (c.c() + 4.0), sampling::penalize),
    operation("argmax", &["argmax"], One, "M=1 N=vocabulary", |c| 4.0 * c.mn(), |c| c.mn(), sampling::argmax),
    operation("top_k", &["top_k"], One, "M=1 N=vocabulary C=40", |c| 4.0 * c.mn() + 8.0 * c.m() * c.c(), |c| c.mn(), sampling::top_k),
    operation("sample", &["sample"], One, "M=1 N=vocabulary", |c| 4.0 * c.mn(), |c| 5.0 * c.mn(), sampling::sample),
    operation("sample_candidates", &["sample"], One, "M=1 C=40", |c| 8.0 * c.m() * c.c(), |c| 5.0 * c.m() * c.c(), sampling::sample_candidates),
    operation("take_tokens", &["take_tokens"], One, "M=512 L=4096", |c| 12.0 * c.m(), |_| 0.0, sequence::take_tokens),
    operation("recent_tokens", &["recent_tokens"], One, "L=4096 C=64", |c| 8.0 * c.c(), |_| 0.0, sequence::recent_tokens),
    operation("put_token", &["put_token"], One, "L=4096", |_| 8.0, |_| 0.0, sequence::put_token),
    operation("take_row", &["take_row"], Activations, "M=512 N=width", |c| c.a(2.0 * c.n()), |_| 0.0, sequence::take_row),
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
pub(crate) const NOT_COVERED: &[(&str, &str)] = &[];

const fn operation(
    name: &'static str,
    kernels: &'static [&'static str],
    variants: Variants,
    shape: &'static str,
    bytes: fn(&Case) -> f64,
    flops: fn(&Case) -> f64,
    build: fn(&Maker<'_>, &Case) -> Result<Workload, Problem>,
) -> Operation {
    Operation { name, kernels, variants, shape, bytes, flops, build }
}

/// One operation on one choice of types and sizes.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) operation: &'static Operation,
    /// The types behind the name.
    suffix: String,
    pub(crate) format: Option<Format>,
    pub(crate) activation: Activation,
    pub(crate) cache: Activation,
    pub(crate) copy: CopyTypes,
    pub(crate) shape: Shape,
}

/// All cases of the table, in its order.
pub(crate) fn all(model: &Model) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for operation in OPERATIONS {
        let case = Case {
            operation,
            suffix: String::new(),
            format: None,
            activation: Activation::F32,
            cache: Activation::F32,
            copy: CopyTypes::F32,
            shape: Shape::of_model(operation.shape, model)?,
        };
        operation.variants.add(&case, &mut cases);
    }
    Ok(cases)
}

impl Variants {
    fn add(self, case: &Case, cases: &mut Vec<Case>) {
        let types = || Activation::ALL.into_iter().flat_map(|a| Activation::ALL.map(|cache| (a, cache)));
        match self {
            Variants::Weights(formats) => {
                for (format, activation) in formats.iter().flat_map(|f| Activation::ALL.map(|a| (*f, a))) {
                    let suffix = format!("_{format}_{activation}");
                    cases.push(Case { suffix, format: Some(format), activation, ..case.clone() });
                }
            }
            Variants::Activations => cases.extend(Activation::ALL.map(|activation| Case {
                suffix: format!("_{activation}"),
                activation,
                ..case.clone()
            })),
            Variants::Attention => cases.extend(types().map(|(activation, cache)| Case {
                suffix: format!("_{activation}_kv_{cache}"),
                activation,
                cache,
                ..case.clone()
            })),
            Variants::Cache => cases.extend(types().map(|(activation, cache)| Case {
                suffix: format!("_{activation}_{cache}"),
                activation,
                cache,
                ..case.clone()
            })),
            Variants::Copies => {
                let copies = [
                    ("_f32", CopyTypes::F32),
                    ("_f16", CopyTypes::F16),
                    ("_f32_f16", CopyTypes::F32ToF16),
                    ("_f16_f32", CopyTypes::F16ToF32),
                    ("_bf16_f32", CopyTypes::Bf16ToF32),
                    ("_bf16_f16", CopyTypes::Bf16ToF16),
                ];
                cases.extend(copies.map(|(suffix, copy)| Case { suffix: suffix.into(), copy, ..case.clone() }));
            }
            Variants::One => cases.push(case.clone()),
        }
    }
}

impl Case {
    pub(crate) fn name(&self) -> String {
        format!("{}{}", self.operation.name, self.suffix)
    }

    /// The kernels that it runs.
    pub(crate) fn kernels(&self) -> Vec<String> {
        let known = |name: &String| kernels::ALL.iter().any(|kernel| kernel.name == *name);
        let name = |base: &&str| {
            let candidates =
                [format!("{base}{}", self.suffix), format!("{base}_{}", self.activation), base.to_string()];
            candidates.into_iter().find(known)
        };
        self.operation.kernels.iter().filter_map(name).collect()
    }

    /// The shader that has its kernel.
    pub(crate) fn file(&self) -> String {
        let kernels = self.kernels();
        let mut all = kernels::ALL.iter();
        let shader = all.find(|kernel| kernels.first().is_some_and(|name| kernel.name == name));
        shader.map_or_else(String::new, |kernel| format!("{}.metal", kernel.shader.name))
    }

    pub(crate) fn bytes(&self) -> f64 {
        (self.operation.bytes)(self)
    }

    pub(crate) fn flops(&self) -> f64 {
        (self.operation.flops)(self)
    }

    pub(crate) fn build(&self, maker: &Maker<'_>) -> Result<Workload, Problem> {
        (self.operation.build)(maker, self)
    }

    /// Bytes of so many weights.
    fn w(&self, count: f64) -> f64 {
        self.format.map_or(0.0, |format| count * format.block_size() as f64 / format.block_len() as f64)
    }

    /// Bytes of so many activations.
    fn a(&self, count: f64) -> f64 {
        count * self.activation.size() as f64
    }

    /// Bytes of so many numbers of the cache.
    fn kv(&self, count: f64) -> f64 {
        count * self.cache.size() as f64
    }

    /// Bytes that copying one number moves.
    fn copied(&self) -> f64 {
        let (from, to) = self.copy.sizes();
        (from + to) as f64
    }

    /// Rows of queries, keys and values together.
    fn qkv(&self) -> f64 {
        (self.h() + 2.0 * self.g()) * self.d()
    }

    /// Operations for each position that a token sees: all heads, key and value, and the softmax.
    fn scores(&self) -> f64 {
        self.h() * (4.0 * self.d() + 5.0)
    }

    fn mn(&self) -> f64 {
        self.m() * self.n()
    }

    fn mnk(&self) -> f64 {
        self.mn() * self.k()
    }

    fn mhd(&self) -> f64 {
        self.m() * self.h() * self.d()
    }

    fn mgd(&self) -> f64 {
        self.m() * self.g() * self.d()
    }

    fn lgd(&self) -> f64 {
        self.l() * self.g() * self.d()
    }

    /// Positions that all tokens of a prefill see together.
    fn seen(&self) -> f64 {
        self.m() * (self.p() + (self.m() + 1.0) / 2.0)
    }
}

/// Sizes by their letters, as the table writes them.
macro_rules! letters {
    ($($name:ident $letter:literal)*) => {
        impl Case {
            $(fn $name(&self) -> f64 { self.shape[$letter] as f64 })*
        }
    };
}
letters! { m 'M' n 'N' k 'K' h 'H' g 'G' d 'D' l 'L' p 'P' c 'C' }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::MODELS;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_its_kernels_a_name_of_its_own_and_work_to_do() {
        let mut names = BTreeSet::new();
        for case in MODELS.iter().flat_map(|model| all(model).unwrap()) {
            let name = case.name();
            assert_eq!(case.kernels().len(), case.operation.kernels.len(), "{name}");
            assert!(case.bytes() > 0.0 && case.flops() >= 0.0 && case.file().ends_with(".metal"), "{name}");
            names.insert(name);
        }
        assert_eq!(names.len(), all(&MODELS[0]).unwrap().len());
    }

    #[test]
    fn every_kernel_is_in_a_case_or_is_left_out_for_a_reason() {
        let covered: BTreeSet<String> = all(&MODELS[0]).unwrap().iter().flat_map(Case::kernels).collect();
        let left_out =
            |name: &str| NOT_COVERED.iter().any(|(kernel, reason)| *kernel == name && !reason.is_empty());
        for kernel in kernels::ALL.iter() {
            let (covered, left_out) = (covered.contains(kernel.name), left_out(kernel.name));
            assert!(covered || left_out, "{} is in no case of cases.rs: add one, or say why not", kernel.name);
            assert!(!(covered && left_out), "{} is in a case and in NOT_COVERED", kernel.name);
        }
        for (name, _) in NOT_COVERED {
            assert!(
                kernels::ALL.iter().any(|kernel| kernel.name == *name),
                "NOT_COVERED has {name}, which is no kernel"
            );
        }
    }

    #[test]
    fn bytes_and_flops() {
        let cases = all(&MODELS[3]).unwrap();
        let case = |name: &str| cases.iter().find(|case| case.name() == name).unwrap();
        let gemv = case("gemv_q4_0_f32");
        assert_eq!(gemv.flops(), 2.0 * 4096.0 * 4096.0);
        assert_eq!(gemv.bytes(), 4096.0 * 4096.0 * 18.0 / 32.0 + 4.0 * 8192.0);
        let attention = case("attention_decode_f32_kv_f16");
        assert_eq!(attention.bytes(), 2.0 * 2.0 * 4096.0 * 1024.0 + 2.0 * 4.0 * 4096.0);
        assert_eq!(case("attention_prefill_f16_kv_f16").seen(), f64::from((1..=512).sum::<i32>()));
        assert_eq!(case("copy_bf16_f32").bytes(), 6.0 * 512.0 * 4096.0);
    }
}
