// test check
#include <metal_stdlib>
using namespace metal;

template <typename Texture>
float4 fetch(Texture t) { return t.read(uint2(0)); }  // error: no matching member function for call to 'read'

kernel void k(texture2d<float, access::read> r, texture2d<float, access::write> w, texture2d<float> s,
              texture2d<float, access::read_write> rw, texture_buffer<uint> b, texture_buffer<uint, access::write> bw,
              depth2d<float, access::read> d, sampler sm, device float4 *o) {
  r.write(float4(0), uint2(0));  // error: no matching member function for call to 'write'
  s.write(float4(0), uint2(0));  // error: no matching member function for call to 'write'
  o[0] = w.read(uint2(0));  // error: no matching member function for call to 'read'
  o[1] = r.sample(sm, float2(0));  // error: no matching member function for call to 'sample'
  o[2] = w.sample(sm, float2(0));  // error: no matching member function for call to 'sample'
  o[3] = rw.sample(sm, float2(0));  // error: no matching member function for call to 'sample'
  o[4] = rw.gather(sm, float2(0));  // error: no matching member function for call to 'gather'
  r.fence();  // error: no matching member function for call to 'fence'
  b.write(uint4(0), 1);  // error: no matching member function for call to 'write'
  o[5] = float4(bw.read(1));  // error: no matching member function for call to 'read'
  o[6] = d.sample_compare(sm, float2(0), 0.5f);  // error: no matching member function for call to 'sample_compare'
  o[7] = fetch(r) + fetch(s) + fetch(rw) + fetch(w);
  rw.write(rw.read(uint2(0)), uint2(1));
  rw.fence();
  w.write(s.read(uint2(0)) + r.read(uint2(0)), uint2(0));
  bw.write(b.read(1), 1);
  o[8] = s.sample(sm, float2(0)) + s.gather(sm, float2(0)) + d.read(uint2(0)) + w.get_width();
}
