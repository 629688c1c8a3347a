// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T moving(T x, T y, ushort lane) {
  x = quad_broadcast(x, lane);
  x = quad_broadcast_first(x);
  x = quad_shuffle(x, lane);
  x = quad_shuffle_and_fill_down(x, y, lane);
  x = quad_shuffle_and_fill_down(x, y, lane, 8);
  x = quad_shuffle_and_fill_up(x, y, lane);
  x = quad_shuffle_and_fill_up(x, y, lane, 8);
  x = quad_shuffle_down(x, lane);
  x = quad_shuffle_rotate_down(x, lane);
  x = quad_shuffle_rotate_up(x, lane);
  x = quad_shuffle_up(x, lane);
  x = quad_shuffle_xor(x, lane);
  return x;
}
template <typename T> T reducing(T x) {
  x = quad_max(x);
  x = quad_min(x);
  x = quad_product(x);
  x = quad_sum(x);
  x = quad_prefix_exclusive_product(x);
  x = quad_prefix_exclusive_sum(x);
  x = quad_prefix_inclusive_product(x);
  x = quad_prefix_inclusive_sum(x);
  return x;
}
template <typename T> T of_bits(T x) { return quad_and(x) + quad_or(x) + quad_xor(x); }

kernel void k(device float *out, ushort lane [[thread_index_in_quadgroup]]) {
  (void)moving(char(1), char(2), lane); (void)reducing(char(1));
  (void)moving(char2(1), char2(2), lane); (void)reducing(char2(1));
  (void)moving(char3(1), char3(2), lane); (void)reducing(char3(1));
  (void)moving(char4(1), char4(2), lane); (void)reducing(char4(1));
  (void)moving(uchar(1), uchar(2), lane); (void)reducing(uchar(1));
  (void)moving(uchar2(1), uchar2(2), lane); (void)reducing(uchar2(1));
  (void)moving(uchar3(1), uchar3(2), lane); (void)reducing(uchar3(1));
  (void)moving(uchar4(1), uchar4(2), lane); (void)reducing(uchar4(1));
  (void)moving(short(1), short(2), lane); (void)reducing(short(1));
  (void)moving(short2(1), short2(2), lane); (void)reducing(short2(1));
  (void)moving(short3(1), short3(2), lane); (void)reducing(short3(1));
  (void)moving(short4(1), short4(2), lane); (void)reducing(short4(1));
  (void)moving(ushort(1), ushort(2), lane); (void)reducing(ushort(1));
  (void)moving(ushort2(1), ushort2(2), lane); (void)reducing(ushort2(1));
  (void)moving(ushort3(1), ushort3(2), lane); (void)reducing(ushort3(1));
  (void)moving(ushort4(1), ushort4(2), lane); (void)reducing(ushort4(1));
  (void)moving(int(1), int(2), lane); (void)reducing(int(1));
  (void)moving(int2(1), int2(2), lane); (void)reducing(int2(1));
  (void)moving(int3(1), int3(2), lane); (void)reducing(int3(1));
  (void)moving(int4(1), int4(2), lane); (void)reducing(int4(1));
  (void)moving(uint(1), uint(2), lane); (void)reducing(uint(1));
  (void)moving(uint2(1), uint2(2), lane); (void)reducing(uint2(1));
  (void)moving(uint3(1), uint3(2), lane); (void)reducing(uint3(1));
  (void)moving(uint4(1), uint4(2), lane); (void)reducing(uint4(1));
  (void)moving(half(1), half(2), lane); (void)reducing(half(1));
  (void)moving(half2(1), half2(2), lane); (void)reducing(half2(1));
  (void)moving(half3(1), half3(2), lane); (void)reducing(half3(1));
  (void)moving(half4(1), half4(2), lane); (void)reducing(half4(1));
  (void)moving(float(1), float(2), lane); (void)reducing(float(1));
  (void)moving(float2(1), float2(2), lane); (void)reducing(float2(1));
  (void)moving(float3(1), float3(2), lane); (void)reducing(float3(1));
  (void)moving(float4(1), float4(2), lane); (void)reducing(float4(1));
  (void)of_bits(char(1));
  (void)of_bits(char2(1));
  (void)of_bits(char3(1));
  (void)of_bits(char4(1));
  (void)of_bits(uchar(1));
  (void)of_bits(uchar2(1));
  (void)of_bits(uchar3(1));
  (void)of_bits(uchar4(1));
  (void)of_bits(short(1));
  (void)of_bits(short2(1));
  (void)of_bits(short3(1));
  (void)of_bits(short4(1));
  (void)of_bits(ushort(1));
  (void)of_bits(ushort2(1));
  (void)of_bits(ushort3(1));
  (void)of_bits(ushort4(1));
  (void)of_bits(int(1));
  (void)of_bits(int2(1));
  (void)of_bits(int3(1));
  (void)of_bits(int4(1));
  (void)of_bits(uint(1));
  (void)of_bits(uint2(1));
  (void)of_bits(uint3(1));
  (void)of_bits(uint4(1));
  if (quad_all(lane > 1) || quad_any(lane > 2) || quad_is_first() || quad_is_helper_thread()) out[0] = 1;
  quad_vote vote = quad_ballot(lane > 1), active = quad_active_threads_mask();
  quad_vote none(0);
  quad_vote::vote_t bits = quad_vote::vote_t(vote);
  if (vote.all() || active.any() || none.any()) out[1] = float(bits);
  float f = quad_sum(out[2]);
  f += quad_shuffle_down(f, 1);
  f += quad_shuffle_xor(f, ushort(2));
  out[3] = quad_broadcast(f, 0) + float(quad_max(int(lane)));
}
