// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> kernel void add(device const T *a, device T *b [[buffer(1)]], uint i [[thread_position_in_grid]]) { b[i] += a[i]; }
template [[host_name("add_float")]] [[kernel]] void add<float>(device const float *, device float *, uint);
template [[host_name("add_half")]] kernel void add<half>(device const half *a, device half *b [[buffer(1)]], uint i [[thread_position_in_grid]]);
template [[kernel, host_name("add_int")]] void add<int>(device const int *, device int *, uint);
template [[host_name("add_" "uint")]] kernel void add(device const uint *, device uint *, uint);

template <typename T, int N> kernel void fill(device T *p) { p[0] = T(N); }
template [[host_name("fill_float_4")]] kernel void fill<float, 4>(device float *);
typedef decltype(fill<half, 2>) fill_half;
template [[host_name("fill_half_2")]] kernel fill_half fill<half, 2>;
template [[host_name("fill_half_3")]] kernel fill_half fill<half, 3>;
template [[host_name("fill_int")]] kernel decltype(fill<int, 1>) fill<int, 1>;
using fill_uint = decltype(fill<uint, 1>);
template [[host_name("fill_uint")]] [[kernel]] fill_uint fill<uint, 1>;

[[host_name("renamed")]] kernel void original(device int *p) { p[0] = 1; }
kernel void [[host_name("renamed_after")]] also(device int *p) { p[0] = 2; }

#define INSTANTIATE(name, type) template [[host_name(#name "_" #type)]] [[kernel]] void name<type>(device type *);
template <typename T> [[kernel]] void zero(device T *p) { p[0] = 0; }
INSTANTIATE(zero, float)
INSTANTIATE(zero, half)

namespace inner { template <typename T> kernel void nested(device T *p) { p[0] = 1; } template [[host_name("nested_float")]] kernel void nested<float>(device float *); }
template [[host_name("nested_int")]] kernel void inner::nested<int>(device int *);
template <typename T> [[max_total_threads_per_threadgroup(64)]] kernel void limited(device T *p) { p[0] = 1; }
template [[host_name("limited_float")]] kernel void limited<float>(device float *);
