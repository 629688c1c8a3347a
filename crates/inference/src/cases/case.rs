//! Cases: operations with types and sizes.

use super::data::{Maker, Problem, Workload};
use super::operation::{self, Operation, Variants};
use super::shape::{Model, Shape};
use crate::formats::{Activation, CacheType, Format};
use crate::metal::kernels;
use crate::metal::operations::{PACKED_BYTES, PACKED_NUMBERS};

/// One operation with one choice of types and sizes.
#[derive(Clone, Debug)]
pub struct Case {
    /// The operation.
    pub operation: &'static Operation,
    /// Types, as the name's suffix.
    suffix: String,
    /// Format of the weights.
    pub format: Option<Format>,
    /// Type of the activations.
    pub activation: Activation,
    /// Type of keys and values in the cache.
    pub cache: CacheType,
    /// Sizes.
    pub shape: Shape,
}

/// Types of a dispatch: of weights, activations and cache; those that it does not have are f32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DispatchTypes {
    format: Option<Format>,
    activation: Activation,
    cache: CacheType,
}

impl From<()> for DispatchTypes {
    fn from((): ()) -> DispatchTypes {
        Activation::F32.into()
    }
}

impl From<Activation> for DispatchTypes {
    fn from(activation: Activation) -> DispatchTypes {
        (activation, CacheType::F32).into()
    }
}

impl From<(Activation, CacheType)> for DispatchTypes {
    fn from((activation, cache): (Activation, CacheType)) -> DispatchTypes {
        DispatchTypes { format: None, activation, cache }
    }
}

impl From<(Format, Activation)> for DispatchTypes {
    fn from((format, activation): (Format, Activation)) -> DispatchTypes {
        DispatchTypes { format: Some(format), activation, cache: CacheType::F32 }
    }
}

/// All cases to measure, in the order of the operations.
pub fn measured(model: &Model) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for operation in operation::all() {
        let case = Case::new(operation, Shape::of_model(operation.shape, model)?);
        operation.variants.add(&case, &mut cases);
    }
    Ok(cases)
}

/// All cases to check, in the order of the operations: one or more of each.
pub fn checked() -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for operation in operation::all() {
        let mut of_operation = Vec::new();
        for shape in operation.checks {
            let case = Case::new(operation, Shape::parse(shape)?);
            operation.variants.add(&case, &mut of_operation);
        }
        for case in &mut of_operation {
            case.shape.round_up('K', case.format.map_or(1, Format::block_len));
            case.shape.round_up('D', case.cache.block_len());
        }
        cases.append(&mut of_operation);
    }
    Ok(cases)
}

impl Variants {
    fn add(self, case: &Case, cases: &mut Vec<Case>) {
        let types = || Activation::ALL.into_iter().flat_map(|a| CacheType::ALL.map(|cache| (a, cache)));
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
                suffix: format!("_{activation}_kv_{}", cache.kernel_name()),
                activation,
                cache,
                ..case.clone()
            })),
            Variants::PlainCache => {
                cases.extend(types().filter(|(_, cache)| cache.plain().is_some()).map(|(activation, cache)| Case {
                    suffix: format!("_{activation}_kv_{cache}"),
                    activation,
                    cache,
                    ..case.clone()
                }))
            }
            Variants::Cache => cases.extend(types().map(|(activation, cache)| Case {
                suffix: format!("_{activation}_{}", cache.kernel_name()),
                activation,
                cache,
                ..case.clone()
            })),
            Variants::One => cases.push(case.clone()),
        }
    }
}

impl Case {
    fn new(operation: &'static Operation, shape: Shape) -> Case {
        Case {
            operation,
            suffix: String::new(),
            format: None,
            activation: Activation::F32,
            cache: CacheType::F32,
            shape,
        }
    }

    /// The work of one dispatch.
    pub(crate) fn dispatched(operation: &'static Operation, types: DispatchTypes, sizes: &[(char, usize)]) -> Case {
        let DispatchTypes { format, activation, cache } = types;
        Case { format, activation, cache, ..Case::new(operation, Shape::new(sizes)) }
    }

    /// Name of the operation, with the types.
    pub fn name(&self) -> String {
        format!("{}{}", self.operation.name, self.suffix)
    }

    /// Kernels that the case runs.
    pub fn kernels(&self) -> Vec<String> {
        let known = |name: &String| kernels::ALL.iter().any(|kernel| kernel.name == *name);
        let name = |base: &&str| {
            let candidates =
                [format!("{base}{}", self.suffix), format!("{base}_{}", self.activation), base.to_string()];
            candidates.into_iter().find(known)
        };
        self.operation.kernels.iter().filter_map(name).collect()
    }

    /// The shader that defines its first kernel.
    pub fn file(&self) -> String {
        let kernels = self.kernels();
        let mut all = kernels::ALL.iter();
        let shader = all.find(|kernel| kernels.first().is_some_and(|name| kernel.name == name));
        shader.map_or_else(String::new, |kernel| format!("{}.metal", kernel.shader.name))
    }

    /// Bytes that must be read and written at least, with perfect caches.
    pub fn bytes(&self) -> f64 {
        (self.operation.bytes)(self)
    }

    /// Floating-point operations; a function like exp counts as one.
    pub fn flops(&self) -> f64 {
        (self.operation.flops)(self)
    }

    /// Builds the workload with its buffers.
    pub fn build(&self, maker: &Maker<'_>) -> Result<Workload, Problem> {
        (self.operation.build)(maker, self)
    }

    /// Number of elements in M rows of N.
    pub(crate) fn count(&self) -> Result<usize, Problem> {
        let (rows, numbers) = (self.shape['M'], self.shape['N']);
        let too_many = || Problem::Shape(format!("{rows} × {numbers} numbers are too many"));
        rows.checked_mul(numbers).ok_or_else(too_many)
    }

    /// Bytes of `count` weights.
    pub(crate) fn w(&self, count: f64) -> f64 {
        self.format.map_or(0.0, |format| count * format.block_size() as f64 / format.block_len() as f64)
    }

    /// Bytes of `count` activations.
    pub(crate) fn a(&self, count: f64) -> f64 {
        count * self.activation.size() as f64
    }

    /// Bytes of `count` packed activations.
    pub(crate) fn packed(&self, count: f64) -> f64 {
        count * PACKED_BYTES as f64 / PACKED_NUMBERS as f64
    }

    /// Bytes of `count` numbers of the cache, half of them keys.
    pub(crate) fn kv(&self, count: f64) -> f64 {
        let each = |format: Format| format.block_size() as f64 / format.block_len() as f64;
        count * (each(self.cache.keys()) + each(self.cache.values())) / 2.0
    }

    /// Total rows of the query, key and value matrices.
    pub(crate) fn qkv(&self) -> f64 {
        (self.h() + 2.0 * self.g()) * self.d()
    }

    /// Floating-point operations for each position that a token sees: all heads, key and value, and the softmax.
    pub(crate) fn scores(&self) -> f64 {
        self.h() * (4.0 * self.d() + 5.0)
    }

    pub(crate) fn mn(&self) -> f64 {
        self.m() * self.n()
    }

    pub(crate) fn mnk(&self) -> f64 {
        self.mn() * self.k()
    }

    pub(crate) fn mhd(&self) -> f64 {
        self.m() * self.h() * self.d()
    }

    pub(crate) fn mgd(&self) -> f64 {
        self.m() * self.g() * self.d()
    }

    pub(crate) fn lgd(&self) -> f64 {
        self.l() * self.g() * self.d()
    }

    /// Number of positions that the tokens of a prefill see, in total.
    pub(crate) fn seen(&self) -> f64 {
        self.m() * (self.p() + (self.m() + 1.0) / 2.0)
    }
}

/// Accessors for sizes by letter, named as in the tables.
macro_rules! letters {
    ($($name:ident $letter:literal)*) => {
        impl Case {
            $(pub(crate) fn $name(&self) -> f64 { self.shape[$letter] as f64 })*
        }
    };
}
letters! { m 'M' n 'N' k 'K' h 'H' g 'G' d 'D' l 'L' p 'P' c 'C' e 'E' u 'U' }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Purpose;
    use crate::cases::operation::NOT_COVERED;
    use crate::cases::shape::MODELS;
    use crate::metal::dispatch::Encoding;
    use crate::metal::{MetalDevice, PipelineSet};
    use std::collections::BTreeSet;

    #[test]
    fn every_case_has_kernels_a_unique_name_and_work() {
        let mut names = BTreeSet::new();
        for case in MODELS.iter().flat_map(|model| measured(model).unwrap()) {
            let name = case.name();
            assert_eq!(case.kernels().len(), case.operation.kernels.len(), "{name}");
            assert!(case.bytes() > 0.0 && case.flops() >= 0.0 && case.file().ends_with(".metal"), "{name}");
            names.insert(name);
        }
        assert_eq!(names.len(), measured(&MODELS[0]).unwrap().len());
    }

    #[test]
    fn every_kernel_is_in_a_case_or_is_left_out_for_a_reason() {
        let covered: BTreeSet<String> = measured(&MODELS[0]).unwrap().iter().flat_map(Case::kernels).collect();
        let left_out =
            |name: &str| NOT_COVERED.iter().any(|(kernel, reason)| *kernel == name && !reason.is_empty());
        for kernel in kernels::ALL.iter() {
            let (covered, left_out) = (covered.contains(kernel.name), left_out(kernel.name));
            assert!(
                covered || left_out,
                "{} is in no case: add one to OPERATIONS of its file, or say why not in NOT_COVERED",
                kernel.name
            );
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
        let cases = measured(&MODELS[3]).unwrap();
        let case = |name: &str| cases.iter().find(|case| case.name() == name).unwrap();
        let gemv = case("gemv_q4_0_f32");
        assert_eq!(gemv.flops(), 2.0 * 4096.0 * 4096.0);
        assert_eq!(gemv.bytes(), 4096.0 * 4096.0 * 18.0 / 32.0 + 4.0 * 8192.0);
        let attention = case("attention_decode_f32_kv_f16");
        assert_eq!(attention.bytes(), 2.0 * 2.0 * 4096.0 * 1024.0 + 2.0 * 4.0 * 4096.0);
        assert_eq!(case("attention_prefill_f16_kv_f16").seen(), f64::from((1..=512).sum::<i32>()));
        assert_eq!(case("copy_bf16_f32").bytes(), 6.0 * 512.0 * 4096.0);
    }

    /// A profile of a model counts what its dispatches describe, the benchmark what the cases have.
    #[test]
    fn operations_describe_the_work_of_their_dispatches() {
        let device = compute::Device::system_default().unwrap();
        let device = MetalDevice::with_device(device, None).unwrap();
        for case in checked().unwrap() {
            let maker = Maker::new(device.device(), 1 << 30, Purpose::Check).without_numbers();
            let (workload, mut pipelines) = (case.build(&maker).unwrap(), PipelineSet::new());
            let mut encoding = Encoding::declaring(&device, &mut pipelines).collecting_works();
            workload(&mut encoding).unwrap();
            let works = encoding.take_works();
            let total = |work: fn(&Case) -> f64| works.iter().flatten().map(work).sum::<f64>();
            let described = (total(Case::bytes), total(Case::flops));
            let missing = "call Encoding::describe before the dispatch";
            assert_eq!(described, (case.bytes(), case.flops()), "{} {}: {missing}", case.name(), case.shape);
        }
    }

    #[test]
    fn every_case_is_checked() {
        let (measured, checked) = (measured(&MODELS[0]).unwrap(), checked().unwrap());
        let mut seen = BTreeSet::new();
        for case in &checked {
            assert!(seen.insert((case.name(), case.shape.to_string())), "{} is there twice", case.name());
        }
        for case in &measured {
            let name = case.name();
            assert!(checked.iter().any(|checked| checked.name() == name), "{name} has no sizes to check");
        }
        let k_quants = checked.iter().find(|case| case.name() == "gemv_q4_K_f32").unwrap();
        assert_eq!(k_quants.shape.to_string(), "M=1 N=37 K=512", "rows are whole blocks");
    }
}
