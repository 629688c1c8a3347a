// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T twice(T x) { return x + x; }
template float twice<float>(float);
template int twice(int);
template <typename T> struct Box { T value; T get() const { return value; } };
template struct Box<float>;
extern template struct Box<int>;
kernel void k(device float *out) { out[0] = twice(1.0f) + Box<float>{1}.get(); }
