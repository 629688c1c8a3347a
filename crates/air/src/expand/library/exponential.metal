// Exponential functions: e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2.

// e^r, to 2^-27.7
static float exp_of_rest(float r) {
  float p = 0.00140339928f;
  p = fma(p, r, 0.00837241393f);
  p = fma(p, r, 0.0416655503f);
  p = fma(p, r, 0.166664869f);
  p = fma(p, r, 0.5f);
  return 1.0f + fma(r * r, p, r);
}

// 2 e^r, to 2^-22.6
static float fast_exp_of_rest(float r) {
  float p = 0.0167387333f;
  p = fma(p, r, 0.0838380828f);
  p = fma(p, r, 0.333330423f);
  p = fma(p, r, 0.999979675f);
  p = fma(p, r, 2.0f);
  return fma(p, r, 2.0f);
}

// 2^r for |r| <= 1/2, to 2^-30
static float exp2_of_rest(float r) {
  float p = 1.43885973e-05f;
  p = fma(p, r, 0.00015457072f);
  p = fma(p, r, 0.00133377174f);
  p = fma(p, r, 0.00961806998f);
  p = fma(p, r, 0.0555040538f);
  p = fma(p, r, 0.240226507f);
  return fma(r, fma(p, r, 0.693147182f), 1.0f);
}

// 2^offset e^x
static float scaled_exp(float x, int offset) {
  x = at_most(at_least(x, -106.0f), 91.0f);
  float z = fma(x, LOG2_E, ROUNDING);
  float n = z - ROUNDING;
  float r = fma(n, -LN2, x);
  r = fma(n, -LN2_REST, r);
  return scaled(exp_of_rest(r), rounded_bits(z) + offset);
}

float exp(float x) { return scaled_exp(x, 0); }

// The fast variants put the rounded number's lowest bits where the exponent is: 2^(n-1), which reaches as far as the
// results do, as the polynomials are twice what they could be. Results below 2^-125 are 0.
constant float ROUNDING_BIASED = ROUNDING + 126.0f;

static float power_of_biased(float z) { return as_type<float>(as_type<int>(z) << 23); }

float fast_exp(float x) {
  x = at_most(at_least(x, -87.6f), 89.0f);
  float z = fma(x, LOG2_E, ROUNDING_BIASED);
  float r = fma(z - ROUNDING_BIASED, -LN2, x);
  return fast_exp_of_rest(r) * power_of_biased(z);
}

float exp2(float x) {
  x = at_most(at_least(x, -151.0f), 129.0f);
  float z = x + ROUNDING;
  return scaled(exp2_of_rest(x - (z - ROUNDING)), rounded_bits(z));
}

float fast_exp2(float x) {
  x = at_most(at_least(x, -126.0f), 129.0f);
  float z = x + ROUNDING_BIASED;
  float r = (x - (z - ROUNDING_BIASED)) * LN2;
  return fast_exp_of_rest(r) * power_of_biased(z);
}

// 10^x = 2^n e^(r ln 10), n = round(x / log10(2))
float exp10(float x) {
  x = at_most(at_least(x, -46.0f), 39.0f);
  float z = fma(x, 3.32192802f, ROUNDING);
  float n = z - ROUNDING;
  float r = fma(n, -0.30103001f, x);
  r = fma(n, 1.43209888e-08f, r);
  float s = r * 2.30258512f;
  s = fma(r, -3.19754356e-08f, s);
  return scaled(exp_of_rest(s), rounded_bits(z));
}

float fast_exp10(float x) {
  x = at_most(at_least(x, -38.0f), 38.7f);
  float z = fma(x, 3.32192802f, ROUNDING_BIASED);
  float n = z - ROUNDING_BIASED;
  float r = fma(n, 1.43209888e-08f, fma(n, -0.30103001f, x));
  return fast_exp_of_rest(r * 2.30258512f) * power_of_biased(z);
}

// tanh(x) = 1 - 2 / (e^2x + 1), and near 0 a polynomial
static float tanh_of(float x, float a, float exp_of_2a) {
  float z = a * a;
  float p = 0.00220528012f;
  p = fma(p, z, -0.00823813025f);
  p = fma(p, z, 0.0217221417f);
  p = fma(p, z, -0.05395009f);
  p = fma(p, z, 0.133332282f);
  p = fma(p, z, -0.333333313f);
  float near = fma(a * z, p, a);
  float far = 1.0f - 2.0f / (exp_of_2a + 1.0f);
  return copysign(select(far, near, a < 0.6f), x);
}

float tanh(float x) { return tanh_of(x, fabs(x), exp(2.0f * fabs(x))); }
float fast_tanh(float x) { return tanh_of(x, fabs(x), fast_exp(2.0f * fabs(x))); }

float sinh(float x) {
  float z = x * x;
  float p = 2.77979939e-06f;
  p = fma(p, z, 0.000198435577f);
  p = fma(p, z, 0.00833330676f);
  p = fma(p, z, 0.166666672f);
  float near = fma(x * z, p, x);
  float half_of_exp = scaled_exp(fabs(x), -1);
  float far = half_of_exp - 0.25f / half_of_exp;
  return select(copysign(far, x), near, fabs(x) < 1.0f);
}

float cosh(float x) {
  float half_of_exp = scaled_exp(fabs(x), -1);
  return half_of_exp + 0.25f / half_of_exp;
}
