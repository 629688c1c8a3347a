// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

template <typename T, access A> T first(texture2d<T, A> t) { return t.read(uint2(0)).x; }
template <typename T, access A, memory_coherence C> T any_first(texture2d<T, A, C> t) { return t.read(uint2(0)).x; }

struct Images {
  texture2d_array<uint, access::read_write, memory_coherence_device> atlas [[id(0)]];
};

kernel void k(
    texture2d<float, access::read_write, memory_coherence_device> a [[texture(0)]],
    texture2d<float, access::read_write, memory_coherence::memory_coherence_threadgroup> b [[texture(1)]],
    texture2d<float, access::read_write> c [[texture(2)]], depth2d<float, access::sample, memory_coherence_device> d [[texture(3)]],
    constant Images &images [[buffer(0)]], device float *out [[buffer(1)]], sampler s [[sampler(0)]]) {
  static_assert(is_same_v<decltype(b), decltype(c)> && !is_same_v<decltype(a), decltype(c)>, "");
  a.write(float4(1), uint2(0));
  a.fence();
  images.atlas.atomic_fetch_add(uint2(0), 1, uint4(1));
  out[0] = first(b) + first(c) + any_first(a) + any_first(c) + d.sample_compare(s, float2(0), 0.5f);
}
kernel void refused(
    texture2d<float, access::read_write, memory_coherence_device> a [[texture(0)]],
    texture_buffer<float, access::read, memory_coherence_device> b [[texture(1)]],  // error: too many template arguments
    device float *out) {
  out[0] = first(a);  // error: no matching function for call to 'first'
}
