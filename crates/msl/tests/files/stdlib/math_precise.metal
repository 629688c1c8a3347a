// test check
#include <metal_stdlib>
using namespace metal;

void use(device float *out, float x) { out[0] += x; }
void use(device float *out, half x) { out[0] += float(x); }
template <typename T, int N> void use(device float *out, vec<T, N> v) { out[0] += float(v.x); }

template <typename T, typename I> T every_function(T x, T y, T z) {
  T w;
  I n;
  x = precise::abs(x);
  x = precise::acos(x);
  x = precise::acosh(x);
  x = precise::asin(x);
  x = precise::asinh(x);
  x = precise::atan(x);
  x = precise::atan2(x, y);
  x = precise::atanh(x);
  x = precise::ceil(x);
  x = precise::copysign(x, y);
  x = precise::cos(x);
  x = precise::cosh(x);
  x = precise::cospi(x);
  x = precise::divide(x, y);
  x = precise::exp(x);
  x = precise::exp10(x);
  x = precise::exp2(x);
  x = precise::fabs(x);
  x = precise::fdim(x, y);
  x = precise::floor(x);
  x = precise::fma(x, y, z);
  x = precise::fmax(x, y);
  x = precise::fmax3(x, y, z);
  x = precise::fmedian3(x, y, z);
  x = precise::fmin(x, y);
  x = precise::fmin3(x, y, z);
  x = precise::fmod(x, y);
  x = precise::fract(x);
  x = precise::frexp(x, n);
  n = precise::ilogb(x);
  x = precise::ldexp(x, I(2));
  x = precise::log(x);
  x = precise::log10(x);
  x = precise::log2(x);
  x = precise::max(x, y);
  x = precise::max3(x, y, z);
  x = precise::median3(x, y, z);
  x = precise::min(x, y);
  x = precise::min3(x, y, z);
  x = precise::modf(x, w);
  x = precise::nextafter(x, y);
  x = precise::pow(x, y);
  x = precise::powr(x, y);
  x = precise::rint(x);
  x = precise::round(x);
  x = precise::rsqrt(x);
  x = precise::sin(x);
  x = precise::sincos(x, w);
  x = precise::sinh(x);
  x = precise::sinpi(x);
  x = precise::sqrt(x);
  x = precise::tan(x);
  x = precise::tanh(x);
  x = precise::tanpi(x);
  x = precise::trunc(x);
  return x + w + T(n);
}

kernel void k(device float *out) {
  use(out, every_function<float, int>(float(1), float(2), float(3)));
  use(out, every_function<float2, int2>(float2(1), float2(2), float2(3)));
  use(out, every_function<float3, int3>(float3(1), float3(2), float3(3)));
  use(out, every_function<float4, int4>(float4(1), float4(2), float4(3)));
}
