// test check
#include <metal_stdlib>
using namespace metal;

kernel void multiply(device const float *a, device const half *b, device float *c, threadgroup half *shared,
                     uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 x, acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  simdgroup_half8x8 y, z = make_filled_simdgroup_matrix<half, 8>(half(1));
  simdgroup_matrix<float, 8, 8> d = make_diagonal_simdgroup_matrix<float, 8, 8>(1.0f);
  simdgroup_float8x8 diagonal(2.0f), zero = simdgroup_float8x8(0);
  simdgroup_load(x, a);
  simdgroup_load(x, a, 16);
  simdgroup_load(x, a + 8, 16, ulong2(0, 8));
  simdgroup_load(x, a, 16, ulong2(0), true);
  simdgroup_load(x, a, 16, 0, true);
  simdgroup_load(y, b, 8);
  simdgroup_load(z, shared, 8, 0, false);
  simdgroup_multiply(acc, x, d);
  simdgroup_multiply_accumulate(acc, x, d, acc);
  simdgroup_multiply_accumulate(acc, y, z, acc);
  simdgroup_store(acc, c);
  simdgroup_store(acc, c, 16, ulong2(8, 0));
  simdgroup_store(acc, c, 16, 0, true);
  simdgroup_store(y, shared, 8);
  acc = x * d;
  simdgroup_float8x8 grid[2][2];
  grid[0][1] = acc;
  acc.thread_elements()[0] *= 2.0f;
  acc.thread_elements()[1] = x.thread_elements()[0] + diagonal.thread_elements()[1];
  thread auto &elements = acc.thread_elements();
  elements[0] = 1;
  float2 both = reinterpret_cast<thread float2 &>(acc.thread_elements());
  c[lane] = both.x + zero.thread_elements()[0];
  simdgroup_barrier(mem_flags::mem_none);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
template <typename T, typename U> void mma(thread simdgroup_matrix<T, 8, 8> &d, simdgroup_matrix<U, 8, 8> a) { simdgroup_multiply_accumulate(d, a, a, d); }
kernel void generic(device half *p) {
  simdgroup_matrix<float, 8, 8> d(0);
  simdgroup_matrix<half, 8, 8> a;
  simdgroup_load(a, p);
  mma(d, a);
  simdgroup_bfloat8x8 b = make_filled_simdgroup_matrix<bfloat, 8>(bfloat(0));
  simdgroup_multiply_accumulate(d, b, b, d);
}
