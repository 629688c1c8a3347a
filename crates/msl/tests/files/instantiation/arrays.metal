// test check
#include <metal_stdlib>
using namespace metal;

typedef float row[4];
typedef int shape_t[3];

template <typename T>
kernel void rows(device T *o [[buffer(0)]], device const T (*in)[4] [[buffer(1)]], constant row *c [[buffer(2)]]) {
  o[0] = in[1][0] + c[0][1];
}
template [[host_name("rows_float")]] kernel void rows<float>(device float *, device const float (*)[4], constant row *);

template <typename T, int N>
kernel void shapes(device T *o [[buffer(0)]], constant int (&shape)[N] [[buffer(1)]]) {
  o[0] = shape[N - 1];
}
template [[host_name("shapes_3")]] kernel void shapes<float, 3>(device float *, constant int (&)[3]);
template [[host_name("shapes_t")]] kernel void shapes<half, 3>(device half *, constant shape_t &);

template <typename T>
kernel void tables(device T *o [[buffer(0)]], constant int a[3][4] [[buffer(1)]], constant T b[2][2] [[buffer(2)]],
                   constant int (*c)[3][4] [[buffer(3)]], threadgroup T (&t)[2][8] [[threadgroup(0)]]) {
  t[1][0] = a[1][2] + b[1][1] + c[0][1][1];
  o[0] = t[1][0];
}
template [[host_name("tables_float")]] kernel void tables<float>(
    device float *o, constant int a[3][4], constant float b[2][2], constant int (*c)[3][4], threadgroup float (&t)[2][8]);
template [[host_name("tables_half")]] kernel void tables<half>(
    device half *, constant int (*)[4], constant half (*)[2], constant int (*)[3][4], threadgroup half (&)[2][8]);
template [[host_name("tables_short")]] kernel void tables<short>(  // error: does not refer to a function template that fits
    device short *, constant int (*)[5], constant short (*)[2], constant int (*)[3][4], threadgroup short (&)[2][8]);
