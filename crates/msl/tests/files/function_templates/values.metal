// test check
#include <metal_stdlib>
using namespace metal;

template <int N> int value() { return N; }
template <int N, int M = N * 2> int defaulted() { return M; }
template <typename T, T V> T typed() { return V; }
template <bool B> float flag(float x) { if (B) return x; return -x; }
template <uint W, uint H> uint area() { return W * H; }
template <short R> void repeat(device short *p) { for (short i = 0; i < R; i++) p[i] = R; }
enum class Op { add, mul };
template <Op op> float apply(float a, float b) { return op == Op::add ? a + b : a * b; }
template <char C> char character() { return C; }
template <auto V> int any() { return int(V); }
constexpr constant int four = 4;
template <int... N> int count() { return sizeof...(N); }

kernel void uses(device int *out, device float *f, device short *s) {
  out[0] = value<3>() + value<1 + 2>() + value<(4 > 3)>() + value<four>() + value<sizeof(float)>() + value<-1>();
  out[1] = defaulted<2>() + defaulted<2, 5>() + typed<int, 4>() + int(area<2u, 3>());
  f[0] = flag<true>(1) + flag<false>(1) + apply<Op::add>(1, 2) + apply<Op::mul>(1, 2);
  repeat<4>(s);
  out[2] = character<'a'>() + count<>() + count<1, 2, 3>();
}
