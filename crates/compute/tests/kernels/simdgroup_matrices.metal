#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// C = A * B for any multiple of 8, one simdgroup per 8×8 tile of C.
template <typename T, typename Acc>
kernel void product(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device Acc *c [[buffer(2)]],
                    constant uint3 &size [[buffer(3)]], uint2 tile [[threadgroup_position_in_grid]]) {
  uint M = size.x, N = size.y, K = size.z;
  (void)M;
  simdgroup_matrix<Acc, 8, 8> sum = make_filled_simdgroup_matrix<Acc, 8, 8>(Acc(0));
  for (uint k = 0; k < K; k += 8) {
    simdgroup_matrix<T, 8, 8> x, y;
    simdgroup_load(x, a + tile.y * 8 * K + k, K);
    simdgroup_load(y, b + k * N + tile.x * 8, N);
    simdgroup_multiply_accumulate(sum, x, y, sum);
  }
  simdgroup_store(sum, c + tile.y * 8 * N + tile.x * 8, N);
}
template [[host_name("product_f32")]] kernel decltype(product<float, float>) product<float, float>;
template [[host_name("product_f16")]] kernel decltype(product<half, float>) product<half, float>;
template [[host_name("product_f16_f16")]] kernel decltype(product<half, half>) product<half, half>;
template [[host_name("product_bf16")]] kernel decltype(product<bfloat, float>) product<bfloat, float>;

// Every way of loading and storing: transposed, with strides and origins, device and threadgroup memory.
kernel void loads_and_stores(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                             uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float shared[256];
  simdgroup_float8x8 m;
  simdgroup_load(m, in);
  simdgroup_store(m, out);
  simdgroup_load(m, in, 16);
  simdgroup_store(m, out + 64, 8);
  simdgroup_load(m, in, 16, ulong2(0), true);
  simdgroup_store(m, out + 128);
  simdgroup_load(m, in, 16, ulong2(5, 3));
  simdgroup_store(m, out + 192);
  simdgroup_load(m, in);
  simdgroup_store(m, out + 256, 8, ulong2(0), true);
  simdgroup_store(m, out + 320, 16, ulong2(8, 1));
  for (uint k = lane; k < 256; k += 32) shared[k] = in[k] + 0.5f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(m, shared + 3, 20);
  simdgroup_store(m, out + 480);
  simdgroup_load(m, shared, 8, ulong2(0, 2), true);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(m, shared, 9);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = lane; k < 72; k += 32) out[544 + k] = shared[k];
}

// Elements that each thread holds: all are touched once, and arithmetic on them is arithmetic on the matrix.
kernel void elements(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     device uint *places [[buffer(2)]], uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in);
  thread auto &mine = m.thread_elements();
  places[lane * 2] = uint(mine[0]);
  places[lane * 2 + 1] = uint(mine[1]);
  m.thread_elements()[0] *= 2;
  mine[1] = mine[1] * 2 + 1;
  mine[0] += 1;
  simdgroup_store(m, out);
}

kernel void arithmetic(device const half *in [[buffer(0)]], device half *out [[buffer(1)]]) {
  simdgroup_half8x8 a, b, c(2.0h);
  simdgroup_load(a, in);
  simdgroup_load(b, in + 64);
  simdgroup_multiply(c, a, c);
  simdgroup_store(c, out);
  simdgroup_half8x8 identity = make_diagonal_simdgroup_matrix<half, 8, 8>(1.0h);
  simdgroup_store(a * identity, out + 64);
  simdgroup_half8x8 d[2] = {identity, b};
  for (int k = 0; k < 2; k++) {
    simdgroup_half8x8 e;
    simdgroup_multiply_accumulate(e, d[k], identity, d[1 - k]);
    simdgroup_store(e, out + 128 + k * 64);
  }
}

// A tile per simdgroup of the threadgroup, staged through threadgroup memory with barriers, K in steps of 8.
kernel void staged(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                   device float *c [[buffer(2)]], constant uint &K [[buffer(3)]],
                   uint local [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile_a[16 * 8], tile_b[8 * 16];
  uint row = simdgroup / 2 * 8, column = simdgroup % 2 * 8;
  simdgroup_float8x8 sum(0.0f), x, y;
  for (uint k = 0; k < K; k += 8) {
    tile_a[local] = a[local / 8 * K + k + local % 8];
    tile_b[local] = b[(k + local / 16) * 16 + local % 16];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_load(x, tile_a + row * 8, 8);
    simdgroup_load(y, tile_b + column, 16);
    simdgroup_multiply_accumulate(sum, x, y, sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  simdgroup_store(sum, c + row * 16 + column, 16);
}
