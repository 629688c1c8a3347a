// Powers: x^y = 2^(y log2(x)). The logarithm needs the 7 bits that the product shifts to the left of the point on top of
// those of a float, so it comes in two parts.

struct sum {
  float high, low;
};

// log2(x) of a positive finite number: with m = x / 2^e and s = (m - 1) / (m + 1), e + (2 / ln 2) atanh(s)
static sum log2_in_parts(parts x) {
  float f = x.f;
  float divisor = 2.0f + f;
  float divisor_rest = f - (divisor - 2.0f);
  float reciprocal = 1.0f / divisor;
  float s = f * reciprocal;
  float s_rest = fma(-s, divisor_rest, fma(-s, divisor, f)) * reciprocal;
  float z = s * s;
  float p = 0.334656805f;
  p = fma(p, z, 0.412014991f);
  p = fma(p, z, 0.577077806f);
  p = fma(p, z, 0.961796701f);
  float high = s * 2.88539004f;
  float low = fma(s, 2.88539004f, -high);
  low += fma(s, 3.85192607e-08f, fma(s_rest, 2.88539004f, s * z * p));
  sum result;
  float with_exponent = x.e + high;
  low += high - (with_exponent - x.e);
  result.high = with_exponent + low;
  result.low = low - (result.high - with_exponent);
  return result;
}

// |x|^y for finite x other than 0
static float power(parts x, float y) {
  sum log = log2_in_parts(x);
  float high = y * log.high;
  float low = fma(y, log.low, fma(y, log.high, -high));
  // An infinite y has no low part.
  low = select(0.0f, low, fabs(high) < 300.0f);
  high = at_most(at_least(high, -200.0f), 200.0f);
  float z = high + ROUNDING;
  float r = (high - (z - ROUNDING)) + low;
  return scaled(exp2_of_rest(r), rounded_bits(z));
}

// For all magnitudes: those of 1, 0 and infinity, too
static float power_of_magnitude(float a, float y) {
  float result = power(parts_of_any(a), y);
  bool grows = y > 0.0f;
  result = select(result, select(INFINITE, 0.0f, grows), a == 0.0f);
  result = select(result, select(0.0f, INFINITE, grows), a == INFINITE);
  result = select(result, 1.0f, a == 1.0f);
  return select(result, a + y, a != a || y != y);
}

static bool is_whole(float y) { return metal::trunc(y) == y; }
static bool is_odd(float y) { return is_whole(y) && !is_whole(0.5f * y); }

float pow(float x, float y) {
  float a = fabs(x);
  float result = power_of_magnitude(a, y);
  bool negative = as_type<int>(x) < 0;
  result = select(result, -result, negative && is_odd(y));
  result = select(result, not_a_number(), x < 0.0f && a < INFINITE && !is_whole(y));
  return select(result, 1.0f, y == 0.0f || x == 1.0f);
}

// The fast variants know no infinity.
float fast_pow(float x, float y) {
  float a = fabs(x);
  float result = power(parts_of(a), y);
  result = select(result, select(INFINITE, 0.0f, y > 0.0f), a == 0.0f);
  result = select(result, -result, x < 0.0f && is_odd(y));
  result = select(result, not_a_number(), x != x || (x < 0.0f && !is_whole(y)));
  return select(result, 1.0f, y == 0.0f);
}

float powr(float x, float y) {
  float result = power_of_magnitude(x, y);
  return select(select(result, 1.0f, y == 0.0f), not_a_number(), x < 0.0f);
}

float fast_powr(float x, float y) {
  float result = power(parts_of(x), y);
  result = select(result, select(INFINITE, 0.0f, y > 0.0f), x == 0.0f);
  return select(not_a_number(), result, x >= 0.0f);
}
