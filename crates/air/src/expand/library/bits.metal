// Helpers that the functions of the library share.
//
// All are written for vectors of 32 lanes: no branches but those that hardly any lane takes, no tables, no division of
// integers, and no conversion of floating point to integers, which would have to watch its bounds. Names are those of
// AIR; `fast_` is the variant for fast mathematics. Errors are in units in the last place, measured by the tests.
#include <metal_integer>
#include <metal_math>
#include <metal_relational>
#include <metal_types>

using metal::copysign;
using metal::fabs;
using metal::fma;
using metal::select;
using metal::sqrt;

constant float INFINITE = 0x1p+127f * 2.0f;
constant float LARGEST = 0x1.fffffep+127f;
constant float SMALLEST_NORMAL = 0x1p-126f;
constant float LN2 = 0.693147182f, LN2_REST = -1.90465421e-09f;
constant float LOG2_E = 1.44269502f, LOG2_E_REST = 1.92596303e-08f;
constant float PI = 3.14159274f, PI_REST = -8.74227766e-08f;
constant float HALF_PI = 1.57079637f, HALF_PI_REST = -4.37113883e-08f;

// A number added to ROUNDING is rounded to an integer, which is then in its lowest bits; for magnitudes below 2^22.
constant float ROUNDING = 0x1.8p+23f;

static float not_a_number() { return as_type<float>(0x7fc00000); }

static int rounded_bits(float z) { return as_type<int>(z) - as_type<int>(ROUNDING); }

// NaN stays NaN.
static float at_least(float x, float low) { return select(x, low, x < low); }
static float at_most(float x, float high) { return select(x, high, x > high); }

// 2^n for -127 < n < 128
static float power_of_two(int n) { return as_type<float>((n + 127) << 23); }

// x * 2^n for -252 < n < 254 and |x| near 1: in two steps, of which only the second one can round.
static float scaled(float x, int n) {
  int half_of_n = n >> 1;
  return x * power_of_two(half_of_n) * power_of_two(n - half_of_n);
}

// x * 2^k. Steps down leave 24 bits of room, so that only the last one rounds.
float ldexp(float x, int k) {
  k = metal::clamp(k, -400, 400);
  for (int step = 0; step < 2; step++) {
    int part = select(metal::min(k, 127), -102, k < -126);
    x *= power_of_two(part);
    k -= part;
  }
  return x * power_of_two(metal::clamp(k, -126, 127));
}

float nextafter(float x, float y) { return metal::nextafter(x, y); }
int ilogb(float x) { return metal::ilogb(x); }

float frexp_mantissa(float x) {
  int exponent;
  return metal::frexp(x, exponent);
}

int frexp_exponent(float x) {
  int exponent;
  metal::frexp(x, exponent);
  return exponent;
}

float modf_fraction(float x) {
  float whole;
  return metal::modf(x, whole);
}

// One step of Newton's method, with what x * y loses put back: almost always the nearest number. Not where it is 0 or
// infinite.
float rsqrt(float x) {
  float y = 1.0f / sqrt(x);
  float product = x * y;
  float error = fma(-product, y, 1.0f) - fma(x, y, -product) * y;
  float better = fma(0.5f * error, y, y);
  return select(y, better, fabs(better) < INFINITE);
}

// The exponent of a positive number, plus 127; of denormal ones, too
static int biased_exponent(float x) {
  bool denormal = x < SMALLEST_NORMAL;
  int exponent = as_type<int>(select(x, x * 0x1p+24f, denormal)) >> 23;
  return exponent - select(0, 24, denormal);
}

// The exact remainder, with the sign of x. Each round takes 22 bits off the quotient; more than one are needed only when
// it has more.
float fmod(float x, float y) {
  float rest = fabs(x), b = fabs(y);
  bool defined = rest < INFINITE && b > 0.0f;
  while (defined && rest >= b) {
    int places = metal::max(biased_exponent(rest) - biased_exponent(b) - 22, 0);
    float divisor = scaled(b, places);
    float quotient = metal::trunc(rest / divisor);
    rest = fma(-quotient, divisor, rest);
    // The quotient may have been rounded up.
    rest = select(rest, rest + divisor, rest < 0.0f);
  }
  return select(not_a_number(), copysign(rest, x), defined);
}
