//! Mistakes that clang and our front end must find: they show that an accepted shader was really checked.

/// Kernel without a mistake.
pub(crate) const RIGHT: &str = "#include <metal_stdlib>
using namespace metal;

constant uint K [[function_constant(0)]];
constant constexpr uint WIDTH = 32;

struct Params {
    uint n;
    float factor;
};

template <uint N>
inline uint rounded(uint n) {
    return (n + N - 1) / N * N;
}

inline float total(threadgroup const float* numbers, uint n) {
    float sum = 0.0f;
    for (uint i = 0; i < n; i++) {
        sum += numbers[i];
    }
    return sum;
}

template <typename T>
kernel void right(device const T* x [[buffer(0)]],
                  device T* y [[buffer(1)]],
                  device int* counts [[buffer(2)]],
                  constant Params& p [[buffer(3)]],
                  uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float staged[WIDTH];
    staged[lane] = float(x[i]);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    Params own = {p.n, p.factor};
    float4 four = float4(staged[lane], 0.0f, 0.0f, 1.0f);
    counts[i] = int(rounded<WIDTH>(own.n));
    simdgroup_matrix<T, 8, 8> a;
    simdgroup_load(a, x, 8);
    simdgroup_store(a, y, 8);
    y[i] = T(total(staged, WIDTH) + exp(four.x) * own.factor + simd_sum(four.w) + float(K));
}

template [[host_name(\"right_f32\")]] [[kernel]] decltype(right<float>) right<float>;
template [[host_name(\"right_f16\")]] [[kernel]] decltype(right<half>) right<half>;
";

/// Replacement of a part of [`RIGHT`].
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// Part of clang's message.
    pub(crate) clang_says: &'static str,
}

impl Mistake {
    pub(crate) fn text(&self) -> String {
        assert_eq!(RIGHT.matches(self.right).count(), 1, "{}: the replaced part must be unique", self.name);
        RIGHT.replace(self.right, self.wrong)
    }
}

const fn mistake(
    name: &'static str,
    right: &'static str,
    wrong: &'static str,
    clang_says: &'static str,
) -> Mistake {
    Mistake { name, right, wrong, clang_says }
}

pub(crate) const MISTAKES: &[Mistake] = &[
    // Syntax
    mistake("a missing semicolon", "float sum = 0.0f;", "float sum = 0.0f", "expected ';'"),
    mistake("a missing brace", "    return sum;\n}", "    return sum;\n", "expected"),
    mistake("a missing parenthesis", "exp(four.x)", "exp(four.x", "expected ')'"),
    // Names
    mistake("an undeclared function", "exp(four.x)", "exponential(four.x)", "undeclared identifier 'exponential'"),
    mistake("an undeclared variable", "float(K)", "float(L)", "undeclared identifier 'L'"),
    mistake("an unknown member", "own.factor", "own.scale", "no member named 'scale'"),
    mistake("an unknown component", "four.x", "four.q", "illegal vector component name"),
    mistake("a redefinition", "float4 four", "float own", "redefinition of 'own'"),
    // Arguments
    mistake("an argument too many", "total(staged, WIDTH)", "total(staged, WIDTH, 1u)", "no matching function"),
    mistake("an argument too few", "exp(four.x)", "exp()", "no matching function"),
    mistake("too many components", "0.0f, 0.0f, 1.0f)", "0.0f, 0.0f, 0.0f, 1.0f)", "as many as it has components"),
    mistake("a barrier without flags", "(mem_flags::mem_threadgroup)", "()", "no matching function"),
    mistake("a sum of 64-bit integers", "simd_sum(four.w)", "float(simd_sum(ulong(i)))", "no matching function"),
    mistake("a sum of bools", "simd_sum(four.w)", "float(simd_sum(i > 1u))", "no matching function"),
    mistake("an ambiguous call", "exp(four.x)", "max(1.0f, 2u)", "ambiguous"),
    mistake(
        "a matrix of another type",
        "simdgroup_load(a, x, 8)",
        "simdgroup_load(a, counts, 8)",
        "no matching function",
    ),
    mistake(
        "a matrix of integers",
        "simdgroup_matrix<T, 8, 8> a;",
        "simdgroup_matrix<int, 8, 8> a;",
        "half, bfloat or float",
    ),
    // Types
    mistake("narrowing in braces", "{p.n, p.factor}", "{p.factor, p.factor}", "cannot be narrowed"),
    mistake(
        "a pointer to int for one to float",
        "float(x[i])",
        "*(device const float*){counts}",
        "cannot initialize",
    ),
    mistake("a vector as a number", "exp(four.x) *", "four *", "is not allowed"),
    mistake("as_type of another size", "exp(four.x)", "as_type<float>(ushort(1))", "different sizes"),
    mistake("narrowing of a float", "exp(four.x)", "half(1.0f) + half{four.x}", "cannot be narrowed"),
    // Address spaces
    mistake(
        "device memory as threadgroup memory",
        "total(staged, WIDTH)",
        "total(x, WIDTH)",
        "no matching function",
    ),
    mistake(
        "threadgroup memory as device memory",
        "simdgroup_store(a, y, 8);",
        "device float* z = staged; y[0] = T(*z);",
        "cannot initialize",
    ),
    mistake(
        "threadgroup memory as thread memory",
        "simdgroup_store(a, y, 8);",
        "thread float* z = staged; y[0] = T(*z);",
        "cannot initialize",
    ),
    mistake(
        "constant memory as device memory",
        "simdgroup_store(a, y, 8);",
        "device const Params& z = p; y[0] = T(z.n);",
        "address space",
    ),
    // Read-only memory
    mistake("writing through a const pointer", "staged[lane] = float(x[i])", "x[i] = T(staged[lane])", "read-only"),
    mistake(
        "writing constant memory",
        "Params own = {p.n, p.factor};",
        "p.n = 1; Params own = {p.n, p.factor};",
        "const",
    ),
    mistake("writing a function constant", "counts[i] = int(", "K = uint(", "const"),
    // Function constants are not constant expressions
    mistake("a function constant as the size of an array", "staged[WIDTH]", "staged[K]", "variable length array"),
    mistake(
        "a function constant as the argument of a template",
        "rounded<WIDTH>",
        "rounded<K>",
        "no matching function",
    ),
    // Warnings
    mistake("an unused variable", "float4 four", "float unused = 1.0f; float4 four", "unused variable"),
];
