// test check
#include <metal_stdlib>
using namespace metal;

struct Params { uint n; float scale; };
kernel void explicit_indices(device float *a [[buffer(0)]], constant Params &p [[buffer(30)]], threadgroup float *t [[threadgroup(0)]], device const float4 *v [[buffer(5)]]) {}
kernel void automatic(device float *a, constant Params &p, device const int *b, threadgroup float *t, threadgroup int *u) {}
kernel void mixed(device float *a, device float *b [[buffer(0)]], device float *c, device float *d [[buffer(2)]]) {}
kernel void every_type(device float *a, const device float *b, device const float *c, constant float *d, constant Params &e, device Params &f,
                       const constant Params *g, device atomic_int *h, device void *i, device packed_float3 *j, device float4x4 *k,
                       device uchar *__restrict l, volatile device int *m, device array<float, 4> *n, constant array<float, 2> &o, device bool *p) {}
[[kernel]] void attribute(device float *a) {}
kernel void no_parameters() {}
[[kernel]] [[max_total_threads_per_threadgroup(256)]] void limited(device float *a) {}
kernel void [[max_total_threads_per_threadgroup(1024)]] limited_after(device float *a) {}
[[max_total_threads_per_threadgroup(32 * 4)]] kernel void computed(device float *a) {}
kernel void unused([[maybe_unused]] device float *a, device float *b [[maybe_unused]]) {}
constant constexpr int index = 3;
enum { slot = 4 };
kernel void computed_indices(device float *a [[buffer(index)]], device float *b [[buffer(slot + 1)]], device float *c [[buffer(int(sizeof(int)))]]) {}
kernel void references(device float &a [[buffer(0)]], const device Params &b, threadgroup Params &c) {}
kernel void textures(texture2d<float> a [[texture(0)]], texture2d<half, access::write> b [[texture(127)]], sampler s [[sampler(15)]], texture2d<float, access::read_write> c) {}
static kernel void hidden(device float *a) {}
namespace n { kernel void in_namespace(device float *a) {} }
using FloatPointer = device float *;
kernel void through_alias(FloatPointer a [[buffer(1)]]) {}
kernel void array_of_textures(array<texture2d<float>, 4> a [[texture(0)]]) {}
template <typename T> kernel void generic(device T *a [[buffer(0)]], constant T &b [[buffer(1)]]) { a[0] = b; }
template [[host_name("generic_float")]] kernel void generic<float>(device float *, constant float &);
