// test check
#include <metal_stdlib>
using namespace metal;

#include <metal_assert>
template <typename T, typename I> T math(T x, T y, T z) {
  x = __metal_acos(x, __METAL_FAST_MATH__) + __metal_acos(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_acosh(x, __METAL_FAST_MATH__) + __metal_acosh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_asin(x, __METAL_FAST_MATH__) + __metal_asin(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_asinh(x, __METAL_FAST_MATH__) + __metal_asinh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_atan(x, __METAL_FAST_MATH__) + __metal_atan(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_atan2(x, y, __METAL_FAST_MATH__) + __metal_atan2(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_atanh(x, __METAL_FAST_MATH__) + __metal_atanh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_ceil(x, __METAL_FAST_MATH__) + __metal_ceil(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_cos(x, __METAL_FAST_MATH__) + __metal_cos(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_cosh(x, __METAL_FAST_MATH__) + __metal_cosh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_cospi(x, __METAL_FAST_MATH__) + __metal_cospi(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_divide(x, y, __METAL_FAST_MATH__) + __metal_divide(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_exp(x, __METAL_FAST_MATH__) + __metal_exp(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_exp10(x, __METAL_FAST_MATH__) + __metal_exp10(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_exp2(x, __METAL_FAST_MATH__) + __metal_exp2(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fabs(x, __METAL_FAST_MATH__) + __metal_fabs(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fdim(x, y, __METAL_FAST_MATH__) + __metal_fdim(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_floor(x, __METAL_FAST_MATH__) + __metal_floor(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmax(x, y, __METAL_FAST_MATH__) + __metal_fmax(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmax3(x, y, z, __METAL_FAST_MATH__) + __metal_fmax3(x, y, z, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmedian3(x, y, z, __METAL_FAST_MATH__) + __metal_fmedian3(x, y, z, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmin(x, y, __METAL_FAST_MATH__) + __metal_fmin(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmin3(x, y, z, __METAL_FAST_MATH__) + __metal_fmin3(x, y, z, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fmod(x, y, __METAL_FAST_MATH__) + __metal_fmod(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_fract(x, __METAL_FAST_MATH__) + __metal_fract(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_log(x, __METAL_FAST_MATH__) + __metal_log(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_log10(x, __METAL_FAST_MATH__) + __metal_log10(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_log2(x, __METAL_FAST_MATH__) + __metal_log2(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_pow(x, y, __METAL_FAST_MATH__) + __metal_pow(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_powr(x, y, __METAL_FAST_MATH__) + __metal_powr(x, y, __METAL_MAYBE_FAST_MATH__);
  x = __metal_rint(x, __METAL_FAST_MATH__) + __metal_rint(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_round(x, __METAL_FAST_MATH__) + __metal_round(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_rsqrt(x, __METAL_FAST_MATH__) + __metal_rsqrt(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_sin(x, __METAL_FAST_MATH__) + __metal_sin(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_sinh(x, __METAL_FAST_MATH__) + __metal_sinh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_sinpi(x, __METAL_FAST_MATH__) + __metal_sinpi(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_sqrt(x, __METAL_FAST_MATH__) + __metal_sqrt(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_tan(x, __METAL_FAST_MATH__) + __metal_tan(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_tanh(x, __METAL_FAST_MATH__) + __metal_tanh(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_tanpi(x, __METAL_FAST_MATH__) + __metal_tanpi(x, __METAL_MAYBE_FAST_MATH__);
  x = __metal_trunc(x, __METAL_FAST_MATH__) + __metal_trunc(x, __METAL_MAYBE_FAST_MATH__);
  I n;
  x = __metal_ldexp(x, I(2), __METAL_PRECISE_MATH__);
  x = __metal_copysign(x, y) + __metal_fma(x, y, z) + __metal_frexp(x, &n) + __metal_modf(x, &y) + __metal_nextafter(x, y);
  return x;
}
template <typename T> T simd(T x, T y, ushort lane) {
  x = __metal_simd_broadcast(x, lane) + __metal_simd_shuffle(x, lane) + __metal_simd_shuffle_down(x, lane) + __metal_simd_shuffle_up(x, lane);
  x = __metal_simd_shuffle_rotate_down(x, lane) + __metal_simd_shuffle_rotate_up(x, lane) + __metal_simd_shuffle_xor(x, lane);
  x = __metal_simd_shuffle_and_fill_down(x, y, lane, 8) + __metal_simd_shuffle_and_fill_up(x, y, lane, 8);
  x = __metal_simd_max(x) + __metal_simd_min(x) + __metal_simd_product(x) + __metal_simd_sum(x);
  x = __metal_simd_prefix_exclusive_product(x) + __metal_simd_prefix_exclusive_sum(x) + __metal_simd_prefix_inclusive_product(x);
  return x + __metal_simd_prefix_inclusive_sum(x) + __metal_simd_and(x) + __metal_simd_or(x) + __metal_simd_xor(x);
}
static_assert(__builtin_ctz(8) == 3 && __builtin_clz(1) == 31 && __builtin_popcount(7) == 3, "");
kernel void k(device float *out, device int *i) {
  out[0] = math<float, int>(1, 2, 3) + math<float4, int4>(1, 2, 3).x + simd(1.0f, 2.0f, 1);
  i[0] = simd(1, 2, 1) + int(__metal_get_simdgroup_size(ushort())) + int(__metal_get_thread_index_in_simdgroup(ushort()));
  assert(i[0] > 0);
}

static_assert(__builtin_clzl(1ul << 40) == 23 && __builtin_clzll(1ul) == 63, "");
static_assert(__builtin_ctzl(1ul << 40) == 40 && __builtin_ctzll(6ul) == 1, "");
static_assert(__builtin_popcountl(~0ul) == 64 && __builtin_popcountll(5ul) == 2, "");
static_assert(__builtin_parity(7u) == 1 && __builtin_ffs(8) == 4 && __builtin_ffs(0) == 0, "");
static_assert(__has_builtin(__builtin_expect) && !__has_builtin(__builtin_trap), "");

kernel void hints(device int *x) {
  __builtin_assume(x[0] > 0);
  if (__builtin_expect(x[0] == 0, 0)) __builtin_unreachable();
  x[0] = __builtin_clzl(ulong(x[0])) + __builtin_clzll(ulong(x[0])) + __builtin_ctzl(ulong(x[0])) +
         __builtin_ctzll(ulong(x[0])) + __builtin_popcountl(ulong(x[0])) + __builtin_popcountll(ulong(x[0])) +
         __builtin_parity(uint(x[0])) + __builtin_ffs(x[0]);
}
