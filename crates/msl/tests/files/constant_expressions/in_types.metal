// test check
#include <metal_stdlib>
using namespace metal;

template <int N> struct Tile { static_assert(N % 8 == 0, "N must be a multiple of 8"); float data[N]; };  // error: N must be a multiple of 8
template <typename T> constexpr int simd_width() { return 128 / (sizeof(T) * 8); }
template <typename T, int W = simd_width<T>()> struct Vector { T v[W]; };
static_assert(sizeof(Vector<float>) == 16 && sizeof(Vector<half>) == 16 && simd_width<half>() == 8, "");
constexpr int tile_size(int n) { return n > 4 ? 8 : 4; }
enum { tiles = tile_size(6) };
struct Fields { uint a : tile_size(6); };
kernel void k(device float *out) {
  Tile<8> a;
  Tile<tile_size(8)> b;
  Tile<12> c;
  out[0] = a.data[0] + b.data[tiles - 1];
}
