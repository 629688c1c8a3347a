// test check
#include <metal_stdlib>
using namespace metal;

void use(device float *out, float x) { out[0] += x; }
void use(device float *out, half x) { out[0] += float(x); }
template <typename T, int N> void use(device float *out, vec<T, N> v) { out[0] += float(v.x); }

template <typename T, typename I> T every_function(T x, T y, T z) {
  T w;
  I n;
  x = fast::abs(x);
  x = fast::acos(x);
  x = fast::acosh(x);
  x = fast::asin(x);
  x = fast::asinh(x);
  x = fast::atan(x);
  x = fast::atan2(x, y);
  x = fast::atanh(x);
  x = fast::ceil(x);
  x = fast::copysign(x, y);
  x = fast::cos(x);
  x = fast::cosh(x);
  x = fast::cospi(x);
  x = fast::divide(x, y);
  x = fast::exp(x);
  x = fast::exp10(x);
  x = fast::exp2(x);
  x = fast::fabs(x);
  x = fast::fdim(x, y);
  x = fast::floor(x);
  x = fast::fma(x, y, z);
  x = fast::fmax(x, y);
  x = fast::fmax3(x, y, z);
  x = fast::fmedian3(x, y, z);
  x = fast::fmin(x, y);
  x = fast::fmin3(x, y, z);
  x = fast::fmod(x, y);
  x = fast::fract(x);
  x = fast::frexp(x, n);
  n = fast::ilogb(x);
  x = fast::ldexp(x, I(2));
  x = fast::log(x);
  x = fast::log10(x);
  x = fast::log2(x);
  x = fast::max(x, y);
  x = fast::max3(x, y, z);
  x = fast::median3(x, y, z);
  x = fast::min(x, y);
  x = fast::min3(x, y, z);
  x = fast::modf(x, w);
  x = fast::nextafter(x, y);
  x = fast::pow(x, y);
  x = fast::powr(x, y);
  x = fast::rint(x);
  x = fast::round(x);
  x = fast::rsqrt(x);
  x = fast::sin(x);
  x = fast::sincos(x, w);
  x = fast::sinh(x);
  x = fast::sinpi(x);
  x = fast::sqrt(x);
  x = fast::tan(x);
  x = fast::tanh(x);
  x = fast::tanpi(x);
  x = fast::trunc(x);
  return x + w + T(n);
}

kernel void k(device float *out) {
  use(out, every_function<float, int>(float(1), float(2), float(3)));
  use(out, every_function<float2, int2>(float2(1), float2(2), float2(3)));
  use(out, every_function<float3, int3>(float3(1), float3(2), float3(3)));
  use(out, every_function<float4, int4>(float4(1), float4(2), float4(3)));
}
