// Trigonometric functions: x = q pi/2 + r with |r| <= pi/4, or a little more.

struct angle {
  float r;
  // The quadrant, in the lowest two bits
  int q;
};

// pi/2 in three parts of 24 bits: with fused multiplication, as good as exact while q has fewer than 20 bits.
static angle angle_of(float x) {
  float z = fma(x, 0.636619747f, ROUNDING);
  float n = z - ROUNDING;
  angle result;
  result.r = fma(n, 1.71512451e-15f, fma(n, 4.37113883e-08f, fma(n, -1.57079637f, x)));
  result.q = as_type<int>(z);
  return result;
}

// 32 bits of 2/pi from bit 32 (index - 1) behind the point on
static uint two_over_pi(int index) {
  uint word = select(0u, 0xa2f9836eu, index == 1);
  word = select(word, 0x4e441529u, index == 2);
  word = select(word, 0xfc2757d1u, index == 3);
  word = select(word, 0xf534ddc0u, index == 4);
  word = select(word, 0xdb629599u, index == 5);
  word = select(word, 0x3c439041u, index == 6);
  return select(word, 0xfe5163abu, index == 7);
}

static uint upper(ulong x) { return uint(x >> 32); }

// For |x| of 2^19 and more (Payne and Hanek): of 2/pi, only the 96 bits matter that do not make multiples of 4 with
// the mantissa, so that x 2/pi modulo 4 is 4 times the fraction of mantissa * those bits.
static angle angle_of_large(float x) {
  int bits = as_type<int>(fabs(x));
  int first = (bits >> 23) - 127 - 25 + 32; // 26 … 134
  ulong mantissa = ulong((bits & 0x7fffff) | 0x800000);
  int index = first >> 5;
  ulong shift = ulong(first & 31);
  ulong a = two_over_pi(index), b = two_over_pi(index + 1), c = two_over_pi(index + 2), d = two_over_pi(index + 3);
  ulong high = ulong(upper((a << 32 | b) << shift));
  ulong middle = ulong(upper((b << 32 | c) << shift));
  ulong low = ulong(upper((c << 32 | d) << shift));
  ulong product = mantissa * middle + (mantissa * low >> 32) + (mantissa * high << 32);
  // The nearest quadrant, and the signed distance from it in units of 2^-64 quadrants
  int quadrant = int((product + (1ul << 61)) >> 62);
  float fraction = float(long(product << 2)) * 0x1p-64f;
  float r = fraction * HALF_PI;
  bool negative = x < 0.0f;
  angle result;
  result.r = select(r, -r, negative);
  result.q = select(quadrant, -quadrant, negative);
  return result;
}

static angle angle_of_any(float x) {
  angle result = angle_of(x);
  if (fabs(x) >= 0x1p+19f) result = angle_of_large(x);
  // Infinity has no angle.
  result.r = select(not_a_number(), result.r, fabs(x) < INFINITE);
  return result;
}

// sin(r) to 2^-27, cos(r) to 2^-30
static float sin_of_rest(float r) {
  float z = r * r;
  float p = fma(fma(-0.000194733177f, z, 0.00833183806f), z, -0.166666493f);
  return fma(r * z, p, r);
}

static float cos_of_rest(float r) {
  float z = r * r;
  float p = fma(fma(2.44246767e-05f, z, -0.00138873502f), z, 0.0416666493f);
  return fma(z, fma(z, p, -0.5f), 1.0f);
}

static float sin_of(angle x) {
  float result = select(sin_of_rest(x.r), cos_of_rest(x.r), (x.q & 1) != 0);
  return as_type<float>(as_type<int>(result) ^ (x.q & 2) << 30);
}

static float cos_of(angle x) {
  angle ahead;
  ahead.r = x.r;
  ahead.q = x.q + 1;
  return sin_of(ahead);
}

static float tan_of(angle x) {
  float s = sin_of_rest(x.r), c = cos_of_rest(x.r);
  bool odd = (x.q & 1) != 0;
  return select(s, -c, odd) / select(c, s, odd);
}

// Odd functions keep the sign of 0.
static float odd(float x, float result) { return select(result, x, x == 0.0f); }

float sin(float x) { return odd(x, sin_of(angle_of_any(x))); }
float cos(float x) { return cos_of(angle_of_any(x)); }
float tan(float x) { return odd(x, tan_of(angle_of_any(x))); }

// Beyond 2^22 these are numbers between -1 and 1 and nothing else.
static angle fast_angle_of(float x) {
  angle result = angle_of(x);
  result.r = at_most(at_least(result.r, -1.0f), 1.0f);
  return result;
}

float fast_sin(float x) { return sin_of(fast_angle_of(x)); }
float fast_cos(float x) { return cos_of(fast_angle_of(x)); }
float fast_tan(float x) { return tan_of(fast_angle_of(x)); }

// x pi: whole turns are exact.
static angle angle_of_turns(float x) {
  float y = x - 2.0f * metal::rint(0.5f * x);
  float z = fma(y, 2.0f, ROUNDING);
  float rest = fma(z - ROUNDING, -0.5f, y);
  angle result;
  result.r = fma(rest, PI_REST, rest * PI);
  result.q = as_type<int>(z);
  return result;
}

float sinpi(float x) { return odd(x, sin_of(angle_of_turns(x))); }
float cospi(float x) { return cos_of(angle_of_turns(x)); }
float tanpi(float x) { return odd(x, tan_of(angle_of_turns(x))); }

// (asin(s) / s - 1) / z with z = s^2 up to 1/4, to 2^-30
static float asin_rest(float z) {
  float p = 0.0363037996f;
  p = fma(p, z, 0.0153538175f);
  p = fma(p, z, 0.0315496549f);
  p = fma(p, z, 0.0445500538f);
  p = fma(p, z, 0.0750032291f);
  return fma(p, z, 0.166666627f);
}

// asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) above 1/2
float asin(float x) {
  float a = fabs(x);
  bool far = a > 0.5f;
  float z = select(a * a, fma(a, -0.5f, 0.5f), far);
  float s = select(a, sqrt(z), far);
  float angle = fma(s * z, asin_rest(z), s);
  return copysign(select(angle, HALF_PI - (2.0f * angle - HALF_PI_REST), far), x);
}

float acos(float x) {
  float a = fabs(x);
  bool far = a > 0.5f;
  float z = select(a * a, fma(a, -0.5f, 0.5f), far);
  float s = select(x, sqrt(z), far);
  float angle = fma(s * z, asin_rest(z), s);
  float from_side = HALF_PI - (angle - HALF_PI_REST);
  float from_ends = select(2.0f * angle, PI - (2.0f * angle - PI_REST), x < 0.0f);
  return select(from_side, from_ends, far);
}

// atan(t) for |t| <= tan(pi/8), to 2^-29.8
static float atan_of_small(float t) {
  float z = t * t;
  float p = -0.0619179867f;
  p = fma(p, z, 0.106410019f);
  p = fma(p, z, -0.142501444f);
  p = fma(p, z, 0.199988142f);
  p = fma(p, z, -0.333333194f);
  return fma(t * z, p, t);
}

// atan(y / x) of numbers that are not negative, and not both 0 or infinite
static float atan_of_ratio(float y, float x) {
  bool steep = y > 2.41421366f * x, middle = y > 0.414213568f * x;
  float numerator = select(select(y, y - x, middle), -x, steep);
  float denominator = select(select(x, y + x, middle), y, steep);
  float t = atan_of_small(numerator / denominator);
  float base = select(select(0.0f, 0.785398185f, middle), HALF_PI, steep);
  float base_rest = select(select(0.0f, -2.18556941e-08f, middle), HALF_PI_REST, steep);
  return base + (t + base_rest);
}

float atan(float x) { return copysign(atan_of_ratio(fabs(x), 1.0f), x); }

float atan2(float y, float x) {
  float a = fabs(x), b = fabs(y);
  // Neither too large nor too small for sum and quotient.
  float largest = metal::max(a, b), smallest = metal::min(a, b);
  float scale = select(select(1.0f, 0x1p-24f, largest > 0x1p+100f), 0x1p+60f, largest < 0x1p-60f);
  bool undefined = largest == 0.0f || smallest == INFINITE;
  float nothing = select(1.0f, 0.0f, largest == 0.0f);
  float angle = atan_of_ratio(select(b * scale, nothing, undefined), select(a * scale, 1.0f, undefined));
  angle = select(angle, (PI - angle) + PI_REST, as_type<int>(x) < 0);
  return select(copysign(angle, y), x + y, x != x || y != y);
}
