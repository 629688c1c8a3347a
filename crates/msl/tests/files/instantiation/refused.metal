// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> kernel void add(device T *a) { a[0] += 1; }
kernel void plain(device int *a) { a[0] = 1; }
template <typename T> kernel void broken(device T *a) { a[0] = a->missing; }  // error: not a structure or union
template [[host_name("wrong_type")]] kernel void add<float>(device half *);  // error: add
template [[host_name("wrong_count")]] kernel void add<float>(device float *, uint);  // error: add
template [[host_name("wrong_arguments")]] kernel void add<float, int>(device float *);  // error: add
template [[host_name("missing")]] kernel void missing<float>(device float *);  // error: missing
template [[host_name("twice")]] kernel void add<int>(device int *);
template [[host_name("twice")]] kernel void add<uint>(device uint *);  // error: twice
template [[host_name(42)]] kernel void add<short>(device short *);  // error: string
template [[host_name("wrong_result")]] kernel int add<char>(device char *);  // error: add
template [[host_name("broken")]] kernel void broken<float>(device float *);
template [[host_name("space")]] kernel void add<uchar>(constant uchar *);  // error: add
