// Packing and unpacking of normalized components: component 0 is in the lowest bits.

static float rounded(float x) { return metal::rint(x); }

static float unit(float x) { return select(0.0f, at_most(x, 1.0f), x > 0.0f); }
static float signed_unit(float x) { return select(select(-1.0f, at_most(x, 1.0f), x > -1.0f), 0.0f, x != x); }

static uint unorm(float x, float highest) { return uint(int(rounded(unit(x) * highest))); }
static uint snorm(float x, float highest) { return uint(int(rounded(signed_unit(x) * highest))); }

uint pack_unorm4x8(float4 x) {
  return unorm(x.x, 255.0f) | unorm(x.y, 255.0f) << 8 | unorm(x.z, 255.0f) << 16 | unorm(x.w, 255.0f) << 24;
}

uint pack_snorm4x8(float4 x) {
  uint low = (snorm(x.x, 127.0f) & 0xffu) | (snorm(x.y, 127.0f) & 0xffu) << 8;
  return low | (snorm(x.z, 127.0f) & 0xffu) << 16 | snorm(x.w, 127.0f) << 24;
}

uint pack_unorm2x16(float2 x) { return unorm(x.x, 65535.0f) | unorm(x.y, 65535.0f) << 16; }
uint pack_snorm2x16(float2 x) { return (snorm(x.x, 32767.0f) & 0xffffu) | snorm(x.y, 32767.0f) << 16; }

uint pack_unorm_rgb10a2(float4 x) {
  return unorm(x.x, 1023.0f) | unorm(x.y, 1023.0f) << 10 | unorm(x.z, 1023.0f) << 20 | unorm(x.w, 3.0f) << 30;
}

// Red is in the highest bits.
ushort pack_unorm_rgb565(float3 x) {
  return ushort(unorm(x.x, 31.0f) << 11 | unorm(x.y, 63.0f) << 5 | unorm(x.z, 31.0f));
}

static float srgb_of_linear(float x) {
  x = unit(x);
  return select(fma(1.055f, fast_powr(x, 0.416666667f), -0.055f), 12.92f * x, x < 0.0031308f);
}

static float linear_of_srgb(float x) {
  return select(fast_powr((x + 0.055f) / 1.055f, 2.4f), x / 12.92f, x <= 0.04045f);
}

uint pack_unorm4x8_srgb(float4 x) {
  float4 y = float4(srgb_of_linear(x.x), srgb_of_linear(x.y), srgb_of_linear(x.z), x.w);
  return pack_unorm4x8(y);
}

static float from_bits(uint x, uint shift, uint mask) { return float(int(x >> shift & mask)) / float(int(mask)); }

float4 unpack_unorm4x8(uint x) {
  return float4(from_bits(x, 0, 255), from_bits(x, 8, 255), from_bits(x, 16, 255), from_bits(x, 24, 255));
}

// The lowest number is -1, too.
static float from_signed(int x, float highest) { return at_least(float(x) / highest, -1.0f); }

float4 unpack_snorm4x8(uint x) {
  int y = int(x);
  return float4(from_signed(y << 24 >> 24, 127.0f), from_signed(y << 16 >> 24, 127.0f),
                from_signed(y << 8 >> 24, 127.0f), from_signed(y >> 24, 127.0f));
}

float2 unpack_unorm2x16(uint x) { return float2(from_bits(x, 0, 65535), from_bits(x, 16, 65535)); }

float2 unpack_snorm2x16(uint x) {
  int y = int(x);
  return float2(from_signed(y << 16 >> 16, 32767.0f), from_signed(y >> 16, 32767.0f));
}

float4 unpack_unorm_rgb10a2(uint x) {
  return float4(from_bits(x, 0, 1023), from_bits(x, 10, 1023), from_bits(x, 20, 1023), from_bits(x, 30, 3));
}

float3 unpack_unorm_rgb565(ushort x) {
  uint y = x;
  return float3(from_bits(y, 11, 31), from_bits(y, 5, 63), from_bits(y, 0, 31));
}

float4 unpack_unorm4x8_srgb(uint x) {
  float4 y = unpack_unorm4x8(x);
  return float4(linear_of_srgb(y.x), linear_of_srgb(y.y), linear_of_srgb(y.z), y.w);
}
