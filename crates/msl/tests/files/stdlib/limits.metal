// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T every_limit() {
  typedef numeric_limits<T> L;
  T x = L::min() + L::lowest() + L::max() + L::epsilon() + L::round_error() + L::infinity() + L::quiet_NaN() + L::signaling_NaN() + L::denorm_min();
  static_assert(L::is_specialized && L::digits > 0 && L::radix == 2 && L::is_bounded, "");
  return x + T(L::digits10 + L::max_digits10 + L::min_exponent + L::max_exponent);
}
static_assert(numeric_limits<int>::is_signed && numeric_limits<int>::is_integer && !numeric_limits<uint>::is_signed, "");
static_assert(numeric_limits<float>::has_infinity && !numeric_limits<int>::has_infinity && numeric_limits<float>::is_iec559, "");
static_assert(numeric_limits<float>::infinity() > numeric_limits<float>::max() && numeric_limits<half>::max() == 65504.0h, "");
static_assert(!numeric_limits<float4>::is_specialized, "");
kernel void k(device float *out) {
  out[0] += float(every_limit<char>());
  out[0] += float(every_limit<uchar>());
  out[0] += float(every_limit<short>());
  out[0] += float(every_limit<ushort>());
  out[0] += float(every_limit<int>());
  out[0] += float(every_limit<uint>());
  out[0] += float(every_limit<long>());
  out[0] += float(every_limit<ulong>());
  out[0] += float(every_limit<half>());
  out[0] += float(every_limit<float>());
  out[0] += float(every_limit<bfloat>());
  out[1] = float(numeric_limits<bool>::max());
  out[2] = M_PI_F + M_E_F + M_LN2_F + M_SQRT2_F + M_1_PI_F + FLT_MAX + FLT_MIN + FLT_EPSILON + INFINITY + NAN + MAXFLOAT + HUGE_VALF;
  half h = M_PI_H + HALF_MAX + HALF_EPSILON + MAXHALF;
  out[3] = float(h) + float(INT_MAX) + float(UINT_MAX) + float(SHRT_MIN) + float(CHAR_MAX) + float(LONG_MAX) + float(ULONG_MAX);
}
