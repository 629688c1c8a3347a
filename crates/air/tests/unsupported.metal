#include <metal_stdlib>
#include <metal_raytracing>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace metal::raytracing;
using namespace mpp::tensor_ops;

struct Inner { texture2d<float> t; sampler s; };
struct Arguments {
  Inner inner;
  texture2d<float> more[4];
  array<texture2d<float>, 8> array_of;
  depth2d<float> depth;
  constant texture2d<float> *pointer;
  primitive_acceleration_structure scene;
  intersection_function_table<> table;
  tensor<device half, dextents<int, 2>> tensor_;
  command_buffer commands;
  device float *x;
};
struct Vertex { float4 position [[position]]; };
struct Attributes { float4 position [[attribute(0)]]; };
struct Tile { half4 color [[color(0)]]; };
constexpr sampler global_sampler(filter::linear);

Inner passed(Inner inner) { return inner; }
float4 sampled(texture2d<float> t, sampler s) { return t.sample(s, float2(0)); }
float4 by_reference(constant Inner &inner) { return inner.t.read(uint2(0)); }
template <typename T> T same(T x) { return x; }
texture2d<float> chosen(constant Arguments &a, bool first) { return first ? a.inner.t : a.more[1]; }

kernel void unused_argument_buffer(constant Arguments &a, device float *x) { x[0] = a.x[0]; }
kernel void sizes(device uint *x) { x[0] = sizeof(Arguments) + sizeof(texture2d<float>) + alignof(sampler) + sizeof(ray); }
kernel void copies(constant Arguments &a, device float *x) { Inner inner = a.inner; inner = passed(inner); Inner both[2] = {inner, inner}; x[0] = 1; }
kernel void passes(constant Arguments &a, device float4 *x) { x[0] = sampled(a.inner.t, a.inner.s); }
kernel void refers(constant Arguments &a, device float4 *x) { x[0] = by_reference(a.inner); }
kernel void points(constant Arguments &a, device float4 *x) { x[0] = a.pointer[3].read(uint2(0)); constant texture2d<float> *p = &a.more[1]; x[1] = p->read(uint2(1)); }
kernel void arrays(constant Arguments &a, device float4 *x) { x[0] = a.array_of[2].read(uint2(0)) + a.more[1].read(uint2(0)); x[1] = a.array_of.size(); }
kernel void chooses(constant Arguments &a, device float4 *x) { x[0] = chosen(a, x[0].x > 0).read(uint2(0)); }
kernel void templates(constant Arguments &a, device float4 *x) { texture2d<float> t = same(a.inner.t); x[0] = t.get_width(); }
kernel void captures(constant Arguments &a, device float4 *x) { texture2d<float> t = a.inner.t; auto f = [=] { return t.read(uint2(0)); }; auto g = [&] { return t.read(uint2(0)); }; x[0] = f() + g(); }
kernel void threadgroup_textures(device float4 *x) { threadgroup Inner shared; x[0] = 1; }
kernel void nulls(constant Arguments &a, device float4 *x) { x[0] = is_null_texture(a.inner.t); }
kernel void depths(constant Arguments &a, device float *x) { x[0] = a.depth.sample_compare(global_sampler, float2(0), 1.0f); }
kernel void samplers(device float4 *x, constant Arguments &a) { constexpr sampler local(coord::pixel); sampler copy = local; sampler other = x[0].x > 0 ? copy : global_sampler; x[0] = a.inner.t.sample(other, float2(0)); }
kernel void texture_argument(texture2d<float> t, device float4 *x) { x[0] = t.read(uint2(0)); }
kernel void sampler_argument(sampler s, device float4 *x) { x[0] = 1; }
kernel void texture_array(array<texture2d<float>, 8> t, device float4 *x) { x[0] = t[1].read(uint2(0)); }
kernel void texture_pointer(constant texture2d<float> *t, device float4 *x) { x[0] = t[1].read(uint2(0)); }
kernel void texture_buffers(texture_buffer<float> t, device float4 *x) { x[0] = t.read(0); }
kernel void atomics_of_textures(texture2d<uint, access::read_write> t) { t.atomic_fetch_add(uint2(0), uint4(1)); }
kernel void sparse(constant Arguments &a, device float4 *x) { sparse_color<float4> c = a.inner.t.sparse_read(uint2(0)); x[0] = c.value(); }
kernel void structure(primitive_acceleration_structure s, device float *x) { intersector<> i; x[0] = i.intersect(ray(), s).distance; }
kernel void structure_in_buffer(constant Arguments &a, device float *x) { intersector<triangle_data> i; i.force_opacity(forced_opacity::opaque); auto hit = i.intersect(ray(float3(0), float3(1)), a.scene, a.table); x[0] = hit.distance; }
kernel void rays(device ray *r, device float *x) { ray one(float3(1), float3(2)); one.max_distance = r[1].min_distance; r[0] = one; intersection_result<instancing> hit; hit.distance = 1; hit.instance_id = 2; x[0] = hit.distance + hit.instance_id; }
kernel void queries(primitive_acceleration_structure s, device float *x) { intersection_query<> q(ray(), s); while (q.next()) q.commit_triangle_intersection(); x[0] = q.get_committed_distance(); }
kernel void query_state(device float *x) { intersection_query<> q; intersection_params p; x[0] = 1; }
kernel void imageblocks(imageblock<Tile> b, ushort2 at [[thread_position_in_threadgroup]]) { b.write(b.read(at), at); }
kernel void pixels(device rgba8unorm<half4> *p) { half4 x = p[0]; p[1] = x; }
kernel void pixel_copies(device rgba8unorm<half4> *p) { p[0] = p[1]; }
kernel void commands(constant Arguments &a) { render_command c(a.commands, 0); c.draw_primitives(primitive_type::triangle, 0, 3, 1, 0); }
kernel void tensors(tensor<device half, dextents<int, 2>> t) { t[0, 1] = 1; }
kernel void tensors_in_buffers(constant Arguments &a, device float *x) { x[0] = a.tensor_.get_extent(0); }
kernel void inline_tensors(device half *p) { auto t = tensor(p, dextents<int, 2>(4, 4)); auto s = t.slice(1, 1); s[0, 0] = 1; }
kernel void matmuls(device half *p, device float *q) {
  tensor<device half, extents<int, 16, 16>, tensor_inline> t(p, extents<int, 16, 16>());
  matmul2d<matmul2d_descriptor(16, 16, 16), execution_simdgroup> op;
  auto c = op.get_destination_cooperative_tensor<decltype(t), decltype(t), float>();
  op.run(t, t, c);
  q[0] = c[0];
}
kernel void attributes(Attributes in [[stage_in]], device float4 *x) { x[0] = in.position; }
kernel void grids(uint3 origin [[grid_origin]], uint3 size [[grid_size]], device uint *x) { x[0] = origin.x + size.x; }
kernel void long_vectors(device float *x, device vec<float, 8> *v, device vec<half, 8> *h, uint i [[thread_position_in_grid]]) {
  vec<float, 8> a(1), b = v[i];
  b[i & 7] = 2;
  a = (a + b) * 3 - b / a;
  a += v[1];
  vec<half, 8> c = vec<half, 8>(a);
  c[1] = -c[2];
  h[0] = c;
  v[0] = same(a);
  vec<bool, 8> less = a < b;
  x[0] = less[3] ? a[4] : b[5];
  vec<float, 16> d(x[1]);
  x[1] = d[15] + sizeof(vec<float, 8>) + sizeof(vec<half, 16>);
}
kernel void atomics(device atomic<float> *f, device atomic_bool *b, device atomic_ulong *u, device atomic_int *i, threadgroup atomic_uint *t) {
  atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed);
  atomic_store_explicit(b, true, memory_order_relaxed);
  atomic_max_explicit(u, 3ul, memory_order_relaxed);
  atomic_fetch_xor_explicit(i, 3, memory_order_relaxed);
  threadgroup atomic_uint counts[4];
  atomic_store_explicit(&counts[1], atomic_load_explicit(t, memory_order_relaxed), memory_order_relaxed);
}
kernel void factors(device MTLQuadTessellationFactorsHalf *q) { q[0].edgeTessellationFactor[1] = 2; }
