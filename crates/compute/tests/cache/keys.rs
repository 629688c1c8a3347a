//! Equality and text of keys.

use half::{bf16, f16};
use metalworks_compute::{
    ConstantBits, ConstantName, ConstantValue, ConstantsProblem, Error, FunctionConstantValues, KernelConstants,
    PipelineConfig, PipelineKey, Simdgroups,
};
use std::collections::HashSet;

struct GemvConstants {
    k: u32,
    use_bias: bool,
}

impl KernelConstants for GemvConstants {
    fn for_each(&self, mut each: impl FnMut(ConstantName<'_>, ConstantBits)) {
        each(ConstantName::Name("K"), self.k.into());
        each(ConstantName::Name("USE_BIAS"), self.use_bias.into());
    }
}

fn key(kernel: &str, constants: &[(&str, ConstantBits)]) -> PipelineKey {
    PipelineKey::new(kernel, constants)
}

#[test]
fn keys_are_readable() {
    assert_eq!(PipelineKey::new("gemv", GemvConstants { k: 4096, use_bias: true }).to_string(), "gemv_k4096_bias1");
    assert_eq!(PipelineKey::new("add", ()).to_string(), "add");
    let mut by_index = FunctionConstantValues::new();
    by_index.set(1, ConstantValue::Bool(false)).set(0, ConstantValue::Uint(4096));
    assert_eq!(PipelineKey::new("gemv", &by_index).to_string(), "gemv_c0=4096_c1=0");
    let tile: &[(&str, ConstantBits)] = &[("TILE2", 8u8.into()), ("Block", [16u32, 8].into())];
    assert_eq!(key("gemm", tile).to_string(), "gemm_block16x8_tile2=8");
    let numbers: &[(&str, ConstantBits)] = &[
        ("a", (-1i8).into()),
        ("b", (-2i16).into()),
        ("c", 3u16.into()),
        ("d", (-4i32).into()),
        ("e", (-5i64).into()),
        ("f", u64::MAX.into()),
        ("g", 0.5f32.into()),
        ("h", f16::from_f32(1.5).into()),
        ("i", bf16::from_f32(-2.0).into()),
    ];
    assert_eq!(key("n", numbers).to_string(), "n_a-1_b-2_c3_d-4_e-5_f18446744073709551615_g0.5_h1.5_i-2");
    let config = PipelineConfig::new("add", ());
    for (simdgroups, text) in
        [(Simdgroups::Any, "add"), (Simdgroups::Full, "add_full"), (Simdgroups::Rows, "add_rows")]
    {
        let promising = config.clone().with_simdgroups(simdgroups);
        assert_eq!((promising.to_string().as_str(), promising.key().simdgroups()), (text, simdgroups));
    }
    assert_eq!(config.clone().with_full_simdgroups(), config.with_simdgroups(Simdgroups::Full));
}

#[test]
fn the_order_of_constants_makes_no_difference() {
    let (a, b, c) = (("A", 1u32.into()), ("B", 2u32.into()), ("C", 3u32.into()));
    let orders = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    let keys: HashSet<PipelineKey> = orders.iter().map(|order| key("k", order)).collect();
    assert_eq!(keys.len(), 1);
    let mut values = FunctionConstantValues::new();
    values.set_named("C", ConstantValue::Uint(3)).set_named("A", ConstantValue::Uint(1));
    values.set_named("B", ConstantValue::Uint(2));
    assert!(keys.contains(&PipelineKey::new("k", &values)));
    assert_eq!(PipelineKey::new("k", &values).constants(), Ok(values));
}

#[test]
fn different_inputs_give_different_keys() {
    let one: ConstantBits = 1u32.into();
    let keys = [
        key("k", &[]),
        key("k2", &[]),
        key("k", &[("A", one)]),
        key("k", &[("B", one)]),
        key("k", &[("A", 1i32.into())]),
        key("k", &[("A", true.into())]),
        key("k", &[("A", 2u32.into())]),
        key("k", &[("A", [1u32, 0].into())]),
        key("k", &[("A", [1u32, 0, 0].into())]),
        key("k", &[("A", one), ("B", one)]),
        key("k", &[("A", 0.0f32.into())]),
        key("k", &[("A", (-0.0f32).into())]),
        key("k", &[("A", f32::NAN.into())]),
        PipelineConfig::new("k", ()).with_full_simdgroups().key().clone(),
        PipelineConfig::new("k", ()).with_simdgroups(Simdgroups::Rows).key().clone(),
    ];
    for (i, a) in keys.iter().enumerate() {
        for (j, b) in keys.iter().enumerate() {
            assert_eq!(a == b, i == j, "{a} {b}");
        }
    }
}

#[test]
fn the_later_of_two_values_counts() {
    let twice = key("k", &[("A", 1u32.into()), ("B", 3u32.into()), ("A", 2u32.into())]);
    assert_eq!(twice, key("k", &[("B", 3u32.into()), ("A", 2u32.into())]));
    assert_ne!(
        key("k", &[("A", 1u32.into()), ("A", 1u32.into())]),
        key("k", &[("A", 1u32.into()), ("B", 1u32.into())])
    );
}

#[test]
fn keys_hold_constants_of_all_types() {
    let scalars = [
        ConstantValue::Bool(true),
        ConstantValue::Char(-3),
        ConstantValue::Uchar(200),
        ConstantValue::Short(-300),
        ConstantValue::Ushort(60000),
        ConstantValue::Int(-70000),
        ConstantValue::Uint(4_000_000_000),
        ConstantValue::Long(i64::MIN),
        ConstantValue::Ulong(u64::MAX),
        ConstantValue::Half(f16::from_f32(0.1)),
        ConstantValue::Bfloat(bf16::from_f32(0.1)),
        ConstantValue::Float(0.1),
    ];
    for scalar in scalars {
        for count in 1..=4 {
            let value =
                if count == 1 { scalar.clone() } else { ConstantValue::Vector(vec![scalar.clone(); count]) };
            let mut values = FunctionConstantValues::new();
            values.set_named("A", value.clone()).set(7, value);
            assert_eq!(PipelineKey::new("k", &values).constants(), Ok(values));
        }
    }
}

#[test]
fn malformed_vectors_are_an_error() {
    let one = ConstantValue::Uint(1);
    let vectors = [
        vec![],
        vec![one.clone()],
        vec![one.clone(); 5],
        vec![one.clone(), ConstantValue::Int(1)],
        vec![ConstantValue::Vector(vec![one.clone(); 2]); 2],
    ];
    for vector in vectors {
        let mut values = FunctionConstantValues::new();
        values.set_named("A", ConstantValue::Vector(vector));
        let key = PipelineKey::new("k", &values);
        let problem = "A is not a vector of two to four scalars of one type";
        let problem = ConstantsProblem::Wrong(problem.into());
        assert_eq!(key.constants(), Err(Error::Constants { kernel: "k".into(), problem }));
        assert_eq!(key.to_string(), "k_a?");
    }
}
