#include <metal_stdlib>
using namespace metal;

// Types that come from arguments. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

template <typename T>
static void increment(T &&x) { x += 1; }

template <typename T, typename F>
static void apply(T &&x, F f) { f(x); }

PER_THREAD(forwarding_references) {
  int x = in[i];
  increment(x);
  increment(7);
  out[i] = x;
  increment(out[i]);
  apply(out[i], [](auto &&y) { y *= 2; });
  auto &&z = out[i];
  z += 100;
}

static int category(const thread int &) { return 1; }
static int category(thread int &&) { return 2; }
static int category(thread int &) { return 3; }
template <typename T> struct Plain { static constexpr constant int value = 0; };
template <> struct Plain<int> { static constexpr constant int value = 1; };
template <typename T> static int forwarded(T &&x) { return category(forward<T>(x)); }
template <typename... T> static int all_forwarded(T &&...x) { return (0 + ... + category(forward<T>(x))); }
template <typename T> static int is_plain(T &&) { return Plain<T>::value; }

struct Moved {
  int value;
  Moved(int value) : value(value) {}
  Moved(const thread Moved &other) : value(other.value) {}
  Moved(thread Moved &&other) : value(other.value + 100) { other.value = 0; }
};

// A variable, a value and what `move` returns are told apart, through templates, too.
PER_THREAD(categories_of_arguments) {
  int x = in[i];
  const int c = 1;
  int r = category(x) * 100000 + category(move(x)) * 10000 + category(c) * 1000;
  r += forwarded(x) * 100 + forwarded(5) * 10 + forwarded(c);
  r += (all_forwarded(x, 5, move(x)) - 7 + is_plain(5) + is_plain(move(x)) + is_plain(x) + 2) * 1000000;
  Moved first(x);
  Moved second = move(first);
  out[i] = r + second.value + first.value;
}

template <typename Pointer>
static decltype(auto) at(Pointer p, uint i) { return (p[i]); }

template <typename Pointer>
static auto &next(Pointer p, uint i) { return p[i + 1]; }

template <typename Pointer>
struct View {
  Pointer p;
  decltype(auto) operator[](uint i) const { return p[i]; }
};

PER_THREAD(deduced_references_as_results) {
  threadgroup int t[64];
  uint lane = i & 31;
  at(&t[0], lane) = in[i];
  next(&t[0], lane + 31) = 3;
  int own[2] = {in[i], 5};
  next(&own[0], 0) += 1;
  View<thread int *> view{own};
  view[0] = 2;
  at(out, i) = at(&t[0], lane) * 10 + t[lane + 32] + own[0] + own[1];
}

template <typename T, uint N>
static void copy(thread T (&to)[N], constant T (&from)[N]) {
  for (uint i = 0; i < N; i++) to[i] = from[i];
}

template <typename T, uint N, uint M>
static void copy(thread T (&to)[N][M], constant T (&from)[N][M]) {
  for (uint i = 0; i < N; i++) copy(to[i], from[i]);
}

constant int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};

PER_THREAD(arrays_of_constant_memory) {
  int a[2][3];
  copy(a, rows);
  a[0][1] += in[i];
  out[i] = a[in[i] & 1][in[i] % 3];
}
