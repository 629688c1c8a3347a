// test check
#include <metal_stdlib>
using namespace metal;

void use(device float *out, float x) { out[0] += x; }
void use(device float *out, half x) { out[0] += float(x); }
template <typename T, int N> void use(device float *out, vec<T, N> v) { out[0] += float(v.x); }

template <typename T, typename I> T every_function(T x, T y, T z) {
  T w;
  I n;
  x = abs(x);
  x = acos(x);
  x = acosh(x);
  x = asin(x);
  x = asinh(x);
  x = atan(x);
  x = atan2(x, y);
  x = atanh(x);
  x = ceil(x);
  x = copysign(x, y);
  x = cos(x);
  x = cosh(x);
  x = cospi(x);
  x = divide(x, y);
  x = exp(x);
  x = exp10(x);
  x = exp2(x);
  x = fabs(x);
  x = fdim(x, y);
  x = floor(x);
  x = fma(x, y, z);
  x = fmax(x, y);
  x = fmax3(x, y, z);
  x = fmedian3(x, y, z);
  x = fmin(x, y);
  x = fmin3(x, y, z);
  x = fmod(x, y);
  x = fract(x);
  x = frexp(x, n);
  n = ilogb(x);
  x = ldexp(x, I(2));
  x = log(x);
  x = log10(x);
  x = log2(x);
  x = max(x, y);
  x = max3(x, y, z);
  x = median3(x, y, z);
  x = min(x, y);
  x = min3(x, y, z);
  x = modf(x, w);
  x = nextafter(x, y);
  x = pow(x, y);
  x = powr(x, y);
  x = rint(x);
  x = round(x);
  x = rsqrt(x);
  x = sin(x);
  x = sincos(x, w);
  x = sinh(x);
  x = sinpi(x);
  x = sqrt(x);
  x = tan(x);
  x = tanh(x);
  x = tanpi(x);
  x = trunc(x);
  return x + w + T(n);
}

kernel void k(device float *out) {
  use(out, every_function<half, int>(half(1), half(2), half(3)));
  use(out, every_function<half2, int2>(half2(1), half2(2), half2(3)));
  use(out, every_function<half3, int3>(half3(1), half3(2), half3(3)));
  use(out, every_function<half4, int4>(half4(1), half4(2), half4(3)));
  use(out, every_function<float, int>(float(1), float(2), float(3)));
  use(out, every_function<float2, int2>(float2(1), float2(2), float2(3)));
  use(out, every_function<float3, int3>(float3(1), float3(2), float3(3)));
  use(out, every_function<float4, int4>(float4(1), float4(2), float4(3)));
}
