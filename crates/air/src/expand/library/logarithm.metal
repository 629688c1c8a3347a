// Logarithms: x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).

struct parts {
  float e, f;
};

static parts parts_of(float x) {
  int bits = as_type<int>(x) - 0x3f3504f3;
  parts result;
  result.e = float(bits >> 23);
  result.f = as_type<float>((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  return result;
}

static parts parts_of_any(float x) {
  bool denormal = x < SMALLEST_NORMAL;
  parts result = parts_of(select(x, x * 0x1p+23f, denormal));
  result.e -= select(0.0f, 23.0f, denormal);
  return result;
}

// The logarithm of all numbers, given that of positive ones.
static float log_of_any(float x, float positive) {
  float result = select(x, positive, x < INFINITE);
  result = select(result, not_a_number(), x < 0.0f);
  return select(result, -INFINITE, x == 0.0f);
}

// log(1 + f) - f, to 2^-29
static float log_rest(float f) {
  float p = 0.0533784367f;
  p = fma(p, f, -0.109155603f);
  p = fma(p, f, 0.121087231f);
  p = fma(p, f, -0.125497714f);
  p = fma(p, f, 0.142095909f);
  p = fma(p, f, -0.166593671f);
  p = fma(p, f, 0.200022236f);
  p = fma(p, f, -0.250001669f);
  p = fma(p, f, 0.333333135f);
  float square = f * f;
  return fma(square * f, p, -0.5f * square);
}

// The same to 2^-24.8
static float fast_log_rest(float f) {
  float p = 0.0870056078f;
  p = fma(p, f, -0.14267607f);
  p = fma(p, f, 0.149147749f);
  p = fma(p, f, -0.165775672f);
  p = fma(p, f, 0.199630618f);
  p = fma(p, f, -0.250013381f);
  p = fma(p, f, 0.333339095f);
  return f * f * fma(p, f, -0.5f);
}

// e ln 2 + f + rest, in the order of their sizes
static float log_of(parts x, float rest) {
  rest = fma(x.e, LN2_REST, rest);
  return fma(x.e, LN2, x.f + rest);
}

float log(float x) {
  parts p = parts_of_any(x);
  return log_of_any(x, log_of(p, log_rest(p.f)));
}

float fast_log(float x) {
  parts p = parts_of(x);
  return log_of_any(x, fma(p.e, LN2, p.f + fast_log_rest(p.f)));
}

// e factor_of_2 + (f + rest) factor, where the factors come in two parts
static float log_in_base(parts x, float rest, float of_2, float of_2_rest, float factor, float factor_rest) {
  float low = fma(x.f + rest, factor_rest, rest * factor);
  low = fma(x.e, of_2_rest, low);
  float middle = x.f * factor;
  low += fma(x.f, factor, -middle);
  return fma(x.e, of_2, middle + low);
}

float log2(float x) {
  parts p = parts_of_any(x);
  return log_of_any(x, log_in_base(p, log_rest(p.f), 1.0f, 0.0f, LOG2_E, LOG2_E_REST));
}

float fast_log2(float x) {
  parts p = parts_of(x);
  return log_of_any(x, fma(p.f + fast_log_rest(p.f), LOG2_E, p.e));
}

float log10(float x) {
  parts p = parts_of_any(x);
  return log_of_any(x, log_in_base(p, log_rest(p.f), 0.30103001f, -1.43209888e-08f, 0.434294492f, -1.010305e-08f));
}

float fast_log10(float x) {
  parts p = parts_of(x);
  return log_of_any(x, fma(p.f + fast_log_rest(p.f), 0.434294492f, p.e * 0.30103001f));
}

// log(1 + x) for x > -1: what is lost in the sum is put back.
static float log_of_1_plus(float x) {
  float sum = 1.0f + x;
  float lost = select(x - (sum - 1.0f), 1.0f - (sum - x), x > 1.0f);
  return log(sum) + select(lost / sum, 0.0f, sum > LARGEST);
}

float asinh(float x) {
  float a = fabs(x);
  float square = a * a;
  float near = log_of_1_plus(a + square / (1.0f + sqrt(1.0f + square)));
  float far = log(a) + LN2;
  return copysign(select(near, far, a > 0x1p+28f), x);
}

float acosh(float x) {
  float above = x - 1.0f;
  float near = log_of_1_plus(above + sqrt(above * (above + 2.0f)));
  float far = log(x) + LN2;
  return select(select(near, far, x > 0x1p+28f), not_a_number(), x < 1.0f);
}

float atanh(float x) {
  float a = fabs(x);
  float result = 0.5f * log_of_1_plus(2.0f * a / (1.0f - a));
  result = select(result, INFINITE, a == 1.0f);
  return copysign(select(result, not_a_number(), a > 1.0f), x);
}
