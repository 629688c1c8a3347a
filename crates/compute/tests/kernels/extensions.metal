#include <metal_stdlib>
using namespace metal;

// Extensions of clang and of later C++. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

PER_THREAD(case_ranges) {
  switch (in[i]) {
    case 0 ... 9: out[i] = 1; break;
    case 10: out[i] = 2; break;
    case 11 ... 50: out[i] = 3;
    case 51 ... 60: out[i] += 4; break;
    default: out[i] = 5;
  }
}

struct Pair { int a; short b; };

PER_THREAD(structured_bindings) {
  Pair p = {in[i], 2};
  auto [a, b] = p;
  a += 1;
  auto &[r, s] = p;
  r += 10;
  s *= 3;
  int array[2] = {in[i], 7};
  auto [x, y] = array;
  array[0] = 100;
  auto &[z, w] = array;
  w = 8;
  Pair pairs[2] = {p, p};
  for (auto &[k, v] : pairs) k = v;
  out[i] = a + b + p.a * 10 + p.b + x + y + array[1] + z + pairs[1].a;
}

struct Counter {
  mutable int calls = 0;
  int next(int n) const { return n + ++calls; }
};

PER_THREAD(mutable_fields) {
  const Counter counter;
  out[i] = counter.next(in[i]) * 10 + counter.next(0);
}

PER_THREAD(functions_of_clang) {
  int x = in[i] + 1;
  __builtin_assume(x > 0);
  if (__builtin_expect(x == 0, 0)) __builtin_unreachable();
  out[i] = __builtin_popcount(x) + 10 * __builtin_ctz(x) + 1000 * __builtin_clzl(ulong(x) << 32) + __builtin_parity(x);
}

struct Counted {
  struct At {
    int n;
    int operator*() const { return n; }
    void operator++() { n += 2; }
    bool operator!=(At other) const { return n < other.n; }
  };
  int last;
  At begin() const { return At{0}; }
  At end() const { return At{last}; }
};
struct Span {
  device const int *p;
  device const int *begin() const { return p; }
  device const int *end() const { return p + 3; }
};

PER_THREAD(loops_over_iterators) {
  int sum = 0;
  for (int x : Counted{in[i]}) {
    if (x == 40) continue;
    if (x > 60) break;
    sum += x;
  }
  for (auto &x : Span{in}) sum += x;
  out[i] = sum;
}

template <int N>
struct Squares {
  int v[N];
  constexpr Squares() : v() {
    for (int i = 0; i < N; i++) v[i] = i * i;
  }
};
constant constexpr Squares<8> squares;

PER_THREAD(default_constructed_constants) { out[i] = squares.v[in[i] & 7]; }

PER_THREAD(loops_over_lists) {
  int sum = 0;
  for (int x : {1, in[i], 3}) sum = sum * 10 + x;
  for (const auto &p : {Pair{in[i], 2}, Pair{5, 6}}) sum += p.a * p.b;
  out[i] = sum;
}

struct Product { int n; Product(int a, int b) : n(a * b) {} };
struct Labelled : Product { int label = 5; using Product::Product; };
struct Twice : Labelled { int more = 7; using Labelled::Labelled; };

PER_THREAD(inherited_constructors) {
  Labelled x(in[i], 3);
  Twice y{in[i], 2};
  out[i] = x.n + x.label + y.n + y.label * 10 + y.more * 100;
}

#define LARGER(a, b) ({ auto a_ = (a); auto b_ = (b); a_ > b_ ? a_ : b_; })

PER_THREAD(statement_expressions) {
  int sum = 0;
  for (int k = 0; k < 8; k++) sum += ({ if (k == in[i] % 5) continue; if (k == 6) break; k; });
  Pair p = ({ Pair q; q.a = in[i]; q.b = 3; q; });
  bool even = in[i] % 2 == 0 && ({ p.a += 1000; true; });
  out[i] = -1;
  int rest = ({ if (in[i] > 90) return; int twice = in[i] * 2; twice + 1; });
  out[i] = LARGER(LARGER(in[i], 20), rest) + sum + p.a + p.b + even;
}
