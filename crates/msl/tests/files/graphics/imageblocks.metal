// test check
#include <metal_stdlib>
using namespace metal;

struct Colors { half4 albedo [[color(0)]]; float depth [[color(1)]]; };
struct Samples {
  rgba8unorm<half4> color [[raster_order_group(0)]];
  r8unorm<half> alpha [[raster_order_group(1)]];
  rgb10a2<half4> normal;
  rg11b10f<half3> light;
  rgb9e5<float3> sky;
  float depth;
};
struct Blended { float4 color [[color(0)]]; };
struct FragmentOut { Samples data [[imageblock_data]]; };
struct Counter { atomic_uint n; };

kernel void tile(imageblock<Colors> block, texture2d<half, access::write> out [[texture(0)]], ushort2 at [[thread_position_in_threadgroup]]) {
  Colors c = block.read(at);
  c.albedo *= half(block.get_width() + block.get_height() + block.get_num_samples());
  for (ushort i = 0; i < block.get_num_colors(at); i++) {
    Colors one = block.read(at, i, imageblock_data_rate::color);
    block.write(one, at, block.get_color_coverage_mask(at, i));
    block.write(one, at, i, imageblock_data_rate::sample);
  }
  block.write(c, at);
  out.write(c.albedo, at);
}
kernel void explicit_tile(imageblock<Samples, imageblock_layout_explicit> block, texture2d<half, access::write> out [[texture(0)]], texture2d_array<half, access::write> all [[texture(1)]],
                          ushort2 at [[thread_position_in_threadgroup]], uint2 grid [[thread_position_in_grid]]) {
  threadgroup_imageblock Samples *s = block.data(at);
  half4 color = s->color;
  s->color = color * half(2);
  s->depth += float(half(s->alpha)) + half4(s->normal).x + half3(s->light).x + float3(s->sky).x;
  s->alpha = 0.5h;
  out.write(block.slice(s->color), ushort2(grid));
  all.write(block.slice(block.data(at, 0, imageblock_data_rate::sample)->color), ushort2(grid), 1);
}
fragment FragmentOut gather(Samples in [[imageblock_data]], float4 position [[position]]) {
  FragmentOut out;
  out.data = in;
  out.data.depth = position.z;
  return out;
}
kernel void formats(device rgba8unorm<float4> *a, device r8snorm<float> *b, device rg8unorm<half2> *c, device rg8snorm<float2> *d, device srgba8unorm<half4> *e, device rgba8snorm<half4> *f,
                    device r16unorm<float> *g, device r16snorm<half> *h, device rg16unorm<float2> *i, device rg16snorm<half2> *j, device rgba16unorm<float4> *k, device rgba16snorm<half4> *l) {
  static_assert(sizeof(rgba8unorm<half4>) == 4 && sizeof(rgba16unorm<float4>) == 8 && sizeof(r8unorm<half>) == 1, "sizes");
  float4 x = *a;
  *a = x + *b + float4(float2(*d), 0, 0) + *g + float4(*k);
  half4 y = *e;
  *f = y + half4(half2(*c), half2(*j)) + half(*h) + half4(*l);
  *i = x.xy;
  *b = x.x, *c = y.xy, *d = x.xy, *e = y, *g = x.x, *h = y.x, *j = y.xy, *k = x, *l = y;
  rgb10a2<half4> m(y);
  rg11b10f<half3> n(y.xyz);
  rgb9e5<float3> o(x.xyz);
  *a = float4(half4(m)) + float4(float3(half3(n)) + float3(o), 1);
}
