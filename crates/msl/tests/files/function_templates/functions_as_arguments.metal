// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

struct block { half d; uchar qs[16]; };
void dequantize(device const block *b, short i, thread float4 &reg) { reg = float4(b->d) * float(i); }
template <typename T> void dequantize_t(device const block *b, short i, thread T &reg) { reg = T(b->d); }
float add(float a, float b) { return a + b; }
float mul(float a, float b) { return a * b; }
template <float (*op)(float, float)> float fold(float a, float b) { return op(a, b); }
template <float op(float, float)> float fold_function(float a, float b) { return op(a, b); }
template <typename block_t, void (*dequantize_func)(device const block_t *, short, thread float4 &)>
kernel void get_rows(device const block_t *src, device float4 *dst, uint i [[thread_position_in_grid]]) {
  float4 reg;
  dequantize_func(src + i, 1, reg);
  dst[i] = reg;
}
typedef decltype(get_rows<block, dequantize>) get_rows_t;
template [[host_name("get_rows")]] kernel get_rows_t get_rows<block, dequantize>;
template [[host_name("get_rows_t")]] kernel get_rows_t get_rows<block, dequantize_t>;

template <typename F> float call(F f, float x) { return f(x); }
struct Twice { float operator()(float x) const { return 2 * x; } };
template <typename Op> float reduce(float a, float b) { Op op; return op(a, b); }
struct Sum { template <typename T> T operator()(T a, T b) const { return a + b; } };

kernel void uses(device float *out) {
  out[0] = fold<add>(1, 2) + fold<&mul>(1, 2) + fold_function<add>(1, 2) + call(Twice(), 1) + reduce<Sum>(1, 2);
  out[1] = call([](float x) { return x + 1; }, 2);
}
