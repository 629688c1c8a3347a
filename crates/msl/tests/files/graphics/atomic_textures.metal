// test check
#include <metal_stdlib>
using namespace metal;

kernel void texture1d_uint(texture1d<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint(1));
  t.atomic_store(uint4(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint(1), uint4(3));
  out[0] = t.atomic_load(ushort(1));
  t.atomic_store(uint4(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), uint4(3));
}

kernel void texture1d_int(texture1d<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint(1));
  t.atomic_store(int4(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), int4(3));
  out[0] += t.atomic_fetch_and(uint(1), int4(3));
  out[0] += t.atomic_fetch_max(uint(1), int4(3));
  out[0] += t.atomic_fetch_min(uint(1), int4(3));
  out[0] += t.atomic_fetch_or(uint(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint(1), int4(3));
  out[0] = t.atomic_load(ushort(1));
  t.atomic_store(int4(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), int4(3));
}

kernel void texture1d_ulong(texture1d<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint(1), ulong4(1));
  t.atomic_min(uint(1), ulong4(1));
  t.atomic_max(ushort(1), ulong4(1));
  t.atomic_min(ushort(1), ulong4(1));
}

kernel void texture1d_array_uint(texture1d_array<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint(1), uint(1));
  t.atomic_store(uint4(1), uint(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), uint(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint(1), uint(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint(1), uint(1), uint4(3));
  out[0] = t.atomic_load(ushort(1), ushort(1));
  t.atomic_store(uint4(1), ushort(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), ushort(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), ushort(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), ushort(1), uint4(3));
}

kernel void texture1d_array_int(texture1d_array<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint(1), uint(1));
  t.atomic_store(int4(1), uint(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), uint(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint(1), uint(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_and(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_max(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_min(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_or(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint(1), uint(1), int4(3));
  out[0] = t.atomic_load(ushort(1), ushort(1));
  t.atomic_store(int4(1), ushort(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), ushort(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), ushort(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), ushort(1), int4(3));
}

kernel void texture1d_array_ulong(texture1d_array<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint(1), uint(1), ulong4(1));
  t.atomic_min(uint(1), uint(1), ulong4(1));
  t.atomic_max(ushort(1), ushort(1), ulong4(1));
  t.atomic_min(ushort(1), ushort(1), ulong4(1));
}

kernel void texture2d_uint(texture2d<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint2(1));
  t.atomic_store(uint4(1), uint2(1));
  out[0] += t.atomic_exchange(uint2(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint2(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint2(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint2(1), uint4(3));
  out[0] = t.atomic_load(ushort2(1));
  t.atomic_store(uint4(1), ushort2(1));
  out[0] += t.atomic_exchange(ushort2(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort2(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort2(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort2(1), uint4(3));
}

kernel void texture2d_int(texture2d<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint2(1));
  t.atomic_store(int4(1), uint2(1));
  out[0] += t.atomic_exchange(uint2(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint2(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint2(1), int4(3));
  out[0] += t.atomic_fetch_and(uint2(1), int4(3));
  out[0] += t.atomic_fetch_max(uint2(1), int4(3));
  out[0] += t.atomic_fetch_min(uint2(1), int4(3));
  out[0] += t.atomic_fetch_or(uint2(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint2(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint2(1), int4(3));
  out[0] = t.atomic_load(ushort2(1));
  t.atomic_store(int4(1), ushort2(1));
  out[0] += t.atomic_exchange(ushort2(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort2(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort2(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort2(1), int4(3));
}

kernel void texture2d_ulong(texture2d<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint2(1), ulong4(1));
  t.atomic_min(uint2(1), ulong4(1));
  t.atomic_max(ushort2(1), ulong4(1));
  t.atomic_min(ushort2(1), ulong4(1));
}

kernel void texture2d_array_uint(texture2d_array<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint2(1), uint(1));
  t.atomic_store(uint4(1), uint2(1), uint(1));
  out[0] += t.atomic_exchange(uint2(1), uint(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint2(1), uint(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint2(1), uint(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint2(1), uint(1), uint4(3));
  out[0] = t.atomic_load(ushort2(1), ushort(1));
  t.atomic_store(uint4(1), ushort2(1), ushort(1));
  out[0] += t.atomic_exchange(ushort2(1), ushort(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort2(1), ushort(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort2(1), ushort(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort2(1), ushort(1), uint4(3));
}

kernel void texture2d_array_int(texture2d_array<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint2(1), uint(1));
  t.atomic_store(int4(1), uint2(1), uint(1));
  out[0] += t.atomic_exchange(uint2(1), uint(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint2(1), uint(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_and(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_max(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_min(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_or(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint2(1), uint(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint2(1), uint(1), int4(3));
  out[0] = t.atomic_load(ushort2(1), ushort(1));
  t.atomic_store(int4(1), ushort2(1), ushort(1));
  out[0] += t.atomic_exchange(ushort2(1), ushort(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort2(1), ushort(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort2(1), ushort(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort2(1), ushort(1), int4(3));
}

kernel void texture2d_array_ulong(texture2d_array<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint2(1), uint(1), ulong4(1));
  t.atomic_min(uint2(1), uint(1), ulong4(1));
  t.atomic_max(ushort2(1), ushort(1), ulong4(1));
  t.atomic_min(ushort2(1), ushort(1), ulong4(1));
}

kernel void texture3d_uint(texture3d<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint3(1));
  t.atomic_store(uint4(1), uint3(1));
  out[0] += t.atomic_exchange(uint3(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint3(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint3(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint3(1), uint4(3));
  out[0] = t.atomic_load(ushort3(1));
  t.atomic_store(uint4(1), ushort3(1));
  out[0] += t.atomic_exchange(ushort3(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort3(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort3(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort3(1), uint4(3));
}

kernel void texture3d_int(texture3d<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint3(1));
  t.atomic_store(int4(1), uint3(1));
  out[0] += t.atomic_exchange(uint3(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint3(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint3(1), int4(3));
  out[0] += t.atomic_fetch_and(uint3(1), int4(3));
  out[0] += t.atomic_fetch_max(uint3(1), int4(3));
  out[0] += t.atomic_fetch_min(uint3(1), int4(3));
  out[0] += t.atomic_fetch_or(uint3(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint3(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint3(1), int4(3));
  out[0] = t.atomic_load(ushort3(1));
  t.atomic_store(int4(1), ushort3(1));
  out[0] += t.atomic_exchange(ushort3(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort3(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort3(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort3(1), int4(3));
}

kernel void texture3d_ulong(texture3d<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint3(1), ulong4(1));
  t.atomic_min(uint3(1), ulong4(1));
  t.atomic_max(ushort3(1), ulong4(1));
  t.atomic_min(ushort3(1), ulong4(1));
}

kernel void texture_buffer_uint(texture_buffer<uint, access::read_write> t [[texture(0)]], device uint4 *out) {
  uint4 expected(1);
  out[0] = t.atomic_load(uint(1));
  t.atomic_store(uint4(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), uint4(2));
  if (t.atomic_compare_exchange_weak(uint(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), uint4(3));
  out[0] += t.atomic_fetch_and(uint(1), uint4(3));
  out[0] += t.atomic_fetch_max(uint(1), uint4(3));
  out[0] += t.atomic_fetch_min(uint(1), uint4(3));
  out[0] += t.atomic_fetch_or(uint(1), uint4(3));
  out[0] += t.atomic_fetch_sub(uint(1), uint4(3));
  out[0] += t.atomic_fetch_xor(uint(1), uint4(3));
  out[0] = t.atomic_load(ushort(1));
  t.atomic_store(uint4(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), uint4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), &expected, uint4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_and(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_max(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_min(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_or(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), uint4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), uint4(3));
}

kernel void texture_buffer_int(texture_buffer<int, access::read_write> t [[texture(0)]], device int4 *out) {
  int4 expected(1);
  out[0] = t.atomic_load(uint(1));
  t.atomic_store(int4(1), uint(1));
  out[0] += t.atomic_exchange(uint(1), int4(2));
  if (t.atomic_compare_exchange_weak(uint(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(uint(1), int4(3));
  out[0] += t.atomic_fetch_and(uint(1), int4(3));
  out[0] += t.atomic_fetch_max(uint(1), int4(3));
  out[0] += t.atomic_fetch_min(uint(1), int4(3));
  out[0] += t.atomic_fetch_or(uint(1), int4(3));
  out[0] += t.atomic_fetch_sub(uint(1), int4(3));
  out[0] += t.atomic_fetch_xor(uint(1), int4(3));
  out[0] = t.atomic_load(ushort(1));
  t.atomic_store(int4(1), ushort(1));
  out[0] += t.atomic_exchange(ushort(1), int4(2));
  if (t.atomic_compare_exchange_weak(ushort(1), &expected, int4(2))) out[0] += expected;
  out[0] += t.atomic_fetch_add(ushort(1), int4(3));
  out[0] += t.atomic_fetch_and(ushort(1), int4(3));
  out[0] += t.atomic_fetch_max(ushort(1), int4(3));
  out[0] += t.atomic_fetch_min(ushort(1), int4(3));
  out[0] += t.atomic_fetch_or(ushort(1), int4(3));
  out[0] += t.atomic_fetch_sub(ushort(1), int4(3));
  out[0] += t.atomic_fetch_xor(ushort(1), int4(3));
}

kernel void texture_buffer_ulong(texture_buffer<ulong, access::read_write> t [[texture(0)]]) {
  t.atomic_max(uint(1), ulong4(1));
  t.atomic_min(uint(1), ulong4(1));
  t.atomic_max(ushort(1), ulong4(1));
  t.atomic_min(ushort(1), ulong4(1));
}
