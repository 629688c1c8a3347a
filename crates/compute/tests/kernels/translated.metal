#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

// Code as SPIRV-Cross and naga write it. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]], uint lane [[thread_index_in_threadgroup]])

template <typename T, size_t Num>
struct spvUnsafeArray {
  T elements[Num ? Num : 1];

  thread T &operator[](size_t pos) thread { return elements[pos]; }
  constexpr const thread T &operator[](size_t pos) const thread { return elements[pos]; }
  device T &operator[](size_t pos) device { return elements[pos]; }
  constexpr const device T &operator[](size_t pos) const device { return elements[pos]; }
  constexpr const constant T &operator[](size_t pos) const constant { return elements[pos]; }
  threadgroup T &operator[](size_t pos) threadgroup { return elements[pos]; }
  constexpr const threadgroup T &operator[](size_t pos) const threadgroup { return elements[pos]; }
};

constant spvUnsafeArray<spvUnsafeArray<int, 2>, 2> table =
    spvUnsafeArray<spvUnsafeArray<int, 2>, 2>({spvUnsafeArray<int, 2>({1, 2}), spvUnsafeArray<int, 2>({3, 4})});

PER_THREAD(arrays_with_operators) {
  threadgroup spvUnsafeArray<spvUnsafeArray<int, 32>, 2> shared_;
  spvUnsafeArray<int, 4> local = spvUnsafeArray<int, 4>({in[i], 2, 3, 4});
  spvUnsafeArray<int, 4> copy = local;
  copy[0] *= 2;
  spvUnsafeArray<spvUnsafeArray<int, 2>, 2> nested = table;
  nested[1] = spvUnsafeArray<int, 2>({copy[0], local[in[i] & 3]});
  shared_[0][lane] = nested[1][0];
  shared_[1][lane] = nested[1][1] + table[in[i] & 1][1];
  out[i] = shared_[0][lane] * 10 + shared_[1][lane];
}

constant int x_tmp [[function_constant(0)]];
constant int x = is_function_constant_defined(x_tmp) ? x_tmp : 3;
constant bool use_tmp [[function_constant(1)]];
constant bool use = is_function_constant_defined(use_tmp) ? use_tmp : false;
constant int y = use ? x : (x * 2);

static inline __attribute__((always_inline)) int scaled(thread const int &v, thread const int &by) { return v * by; }

PER_THREAD(specialization_constants) {
  int param = in[i];
  int param_1 = x;
  out[i] = scaled(param, param_1) + y * 1000 + (use ? 1 : 2);
}

#ifndef SPIRV_CROSS_CONSTANT_ID_0
#define SPIRV_CROSS_CONSTANT_ID_0 6u
#endif
constant uint count = SPIRV_CROSS_CONSTANT_ID_0;
constant uint more = (count + 2u);

PER_THREAD(arrays_of_constant_size) {
  spvUnsafeArray<int, more> a;
  int b[count];
  for (uint k = 0u; k < more; k++) a[k] = int(k) * in[i];
  for (uint k = 0u; k < count; k++) b[k] = a[k + 2u];
  out[i] = b[count - 1u] + a[uint(in[i]) % more];
}

template <typename T, uint A>
inline void spvArrayCopyFromConstantToStack1(thread T (&dst)[A], constant T (&src)[A]) {
  for (uint i = 0; i < A; i++) dst[i] = src[i];
}
template <typename T, uint A, uint B>
inline void spvArrayCopyFromConstantToStack2(thread T (&dst)[A][B], constant T (&src)[A][B]) {
  for (uint i = 0; i < A; i++) spvArrayCopyFromConstantToStack1(dst[i], src[i]);
}
template <typename T, uint A>
inline void spvArrayCopyFromStackToThreadGroup1(threadgroup T (&dst)[A], thread const T (&src)[A]) {
  for (uint i = 0; i < A; i++) dst[i] = src[i];
}
template <typename T>
inline T spvFindLSB(T x) { return select(ctz(x), T(-1), x == T(0)); }
template <typename T>
inline T spvFindSMSB(T x) {
  T v = select(x, T(-1) - x, x < T(0));
  return select(clz(T(0)) - (clz(v) + T(1)), T(-1), v == T(0));
}
template <typename T>
inline T sign(T x) { return select(select(select(x, T(0), x == T(0)), T(1), x > T(0)), T(-1), x < T(0)); }
template <typename Tx, typename Ty>
inline Tx mod(Tx x, Ty y) { return x - y * floor(x / y); }

constant int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};

PER_THREAD(helper_templates) {
  threadgroup int shared_[3];
  int local[2][3];
  spvArrayCopyFromConstantToStack2(local, rows);
  spvArrayCopyFromStackToThreadGroup1(shared_, local[1]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared_[in[i] % 3] + local[0][in[i] % 3] * 10 + spvFindLSB(in[i] + 1) * 100 + spvFindSMSB(in[i]) * 1000 +
           sign(in[i] - 50) * 10000 + int(mod(float(in[i]), 7.0f)) * 100000;
}

struct type_1 { int inner[4u]; };
struct type_2 { metal::packed_float3 a; float b; type_1 c; char _pad3[8]; };
constant type_1 const_table = type_1 {1, 2, 3, 4};
struct DefaultConstructible {
  template <typename T>
  operator T() && { return T {}; }
};
struct _modf_result_f32_ { float fract; float whole; };
static _modf_result_f32_ naga_modf(float arg) {
  float other;
  float fract = metal::modf(arg, other);
  return _modf_result_f32_{fract, other};
}
static metal::int2 naga_div(metal::int2 lhs, metal::int2 rhs) {
  return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}

PER_THREAD(wrapped_arrays) {
  threadgroup type_1 wg;
  if (lane == 0u) wg = {};
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  type_1 local = {};
  type_2 whole = {};
  whole.a = metal::float3(1.0, 2.0, 3.0) * float(in[i]);
  whole.c = const_table;
  local = whole.c;
  local.inner[in[i] & 3] += int(whole.a[1]);
  uint at = uint(in[i]) % 6u;
  int guarded = at < 4 ? local.inner[at] : DefaultConstructible();
  out[i] = guarded + wg.inner[1] + int(naga_modf(float(in[i]) + 0.5f).whole) * 1000 +
           naga_div(metal::int2(in[i], 9), metal::int2(0, 2)).x * 100000;
}
