//! Used and unused arguments of specialized kernels.

use super::*;

/// The arguments of a kernel `k` with these parameters and this body that it does not use.
fn unused(parameters: &str, body: &str, constants: &Constants) -> Vec<String> {
    let bitcode = bitcode_of(
        &format!(
            "#include <metal_stdlib>
             using namespace metal;
             constant bool FLAG [[function_constant(0)]];
             struct Params {{ uint n; float scale; }};
             [[gnu::noinline]] float called(device const float *p) {{ return p[0]; }}
             float first(device const float *p, bool on) {{ return on ? p[0] : 0; }}
             kernel void k(device float *y [[buffer(0)]], {parameters}, uint i [[thread_position_in_grid]]) {{ {body} }}"
        ),
        "k",
    );
    let specialized = specialize(&bitcode, "k", constants).unwrap();
    let arguments = specialized.reflection.arguments.into_iter();
    arguments.filter(|argument| !argument.is_used).map(|argument| argument.name).collect()
}

const BIAS: &str = "device const float *bias [[buffer(1)]]";

#[test]
fn an_argument_under_a_false_constant_is_not_used() {
    let bodies = [
        "float sum = i; if (FLAG) sum += bias[i]; y[i] = sum;",
        "y[i] = FLAG ? bias[i] : 0;",
        "y[i] = first(bias, FLAG);",
        "y[i] = FLAG && i < 4 ? called(bias) : 0;",
        "float sum = 0; for (uint j = 0; FLAG && j < i; ++j) sum += bias[j]; y[i] = sum;",
        "device const float *p = y; if (FLAG) p = bias; y[i] = p[i + 1];",
    ];
    for body in bodies {
        for flag in [false, true] {
            let constants = &mut Constants::new();
            let found = unused(BIAS, body, constants.set(0, ConstantValue::Bool(flag)));
            assert_eq!(found, if flag { &[][..] } else { &["bias"] }, "FLAG = {flag}: {body}");
        }
    }
}

#[test]
fn an_argument_is_used_if_its_value_or_its_memory_matters() {
    let cases = [
        ("never mentioned", BIAS, "y[i] = 0;", false),
        ("read into a dead variable", BIAS, "float dead = bias[i]; y[i] = 0;", false),
        (
            "read into a dead array",
            BIAS,
            "float dead[4]; for (int j = 0; j < 4; ++j) dead[j] = bias[j]; y[i] = 0;",
            false,
        ),
        ("read into a dead array at any place", BIAS, "float dead[64]; dead[i] = bias[i]; y[i] = 0;", false),
        (
            "read into a dead array in a loop",
            BIAS,
            "float dead[64]; for (uint j = 0; j < i; ++j) dead[j % 64] = bias[j]; y[i] = 0;",
            false,
        ),
        ("read into a dead struct", "constant Params &p [[buffer(1)]]", "Params dead = p; y[i] = 0;", false),
        ("read", BIAS, "y[i] = bias[i];", true),
        ("a member is read", "constant Params &p [[buffer(1)]]", "Params copy = p; y[i] = copy.scale;", true),
        ("only written", "device float *z [[buffer(1)]]", "z[i] = 0; y[i] = 0;", true),
        ("only compared", BIAS, "y[i] = bias == y;", true),
        ("given to a function", BIAS, "y[i] = called(bias);", true),
        ("threadgroup memory, never mentioned", "threadgroup float *t [[threadgroup(0)]]", "y[i] = 0;", false),
        (
            "threadgroup memory, dead",
            "threadgroup float *t [[threadgroup(0)]]",
            "float dead = t[i]; y[i] = 0;",
            false,
        ),
        ("threadgroup memory, written", "threadgroup float *t [[threadgroup(0)]]", "t[i] = 1; y[i] = 0;", true),
    ];
    for (what, parameters, body, is_used) in cases {
        assert_eq!(unused(parameters, body, &Constants::new()).is_empty(), is_used, "{what}: {body}");
    }
}
