// Calls through function pointers; tests/semantics/function_pointers.rs has the same in Rust.
#include <metal_stdlib>
using namespace metal;

#define AT uint i [[thread_position_in_grid]]

typedef int (*Binary)(int, int);
using Unary = int(int);

int add(int a, int b) { return a + b; }
int subtract(int a, int b) { return a - b; }
int multiply(int a, int b) { return a * b; }
int negate(int a) { return -a; }
int square(int a) { return a * a; }

// Each lane calls another function.
kernel void by_lane(device int *out, AT) {
  Binary operations[3] = {add, &subtract, multiply};
  out[i] = operations[i % 3](i, 7);
}

constant Binary TABLE[3] = {multiply, add, subtract};

kernel void constant_table(device int *out, AT) { out[i] = TABLE[i % 3](i, 5) + TABLE[1](i, i); }

int apply(Unary *f, int x) { return f == nullptr ? -1 : (*f)(x); }

kernel void compared_with_null(device int *out, AT) {
  Unary *f = nullptr;
  if (i % 4 == 1) f = negate;
  if (i % 4 == 2) f = &square;
  out[i] = apply(f, i);
}

kernel void compared_with_others(device int *out, AT) {
  Unary *f = i % 2 ? negate : square;
  out[i] = (f == negate ? 1 : 2) + (f != negate ? square(i) : f(i));
}

template <int (*F)(int)> int fixed(int x) { return F(x); }
template <typename F> int called(F f, int x) { return f(x); }

kernel void template_arguments(device int *out, AT) { out[i] = fixed<square>(i) + called(negate, i); }

struct Step {
  Binary operation;
  int next;
};

constant Step STEPS[4] = {{add, 2}, {multiply, 3}, {subtract, 1}, {nullptr, 0}};

kernel void in_structs(device int *out, AT) {
  int value = i;
  for (int step = 0; STEPS[step].operation; step = STEPS[step].next) value = STEPS[step].operation(value, 3);
  out[i] = value;
}

struct Pair {
  int a;
  float b;
};

Pair raise(Pair pair, int k) { return {pair.a + k, pair.b * 2}; }
Pair lower(Pair pair, int k) { return {pair.a - k, pair.b / 2}; }

kernel void structs_as_results(device int *out, AT) {
  Pair (*f)(Pair, int) = i % 2 ? raise : lower;
  Pair pair = f(Pair{int(i), 8.0f}, 3);
  out[i] = pair.a * 100 + int(pair.b);
}

// The function gets itself, so that the recursion is hidden behind a pointer.
int visit(int (*self)(int), int n);
int sum(int n) { return n <= 0 ? 0 : n + visit(sum, n - 1); }
int visit(int (*self)(int), int n) { return self(n) + 1; }

kernel void recursion_by_pointer(device int *out, AT) { out[i] = visit(sum, i % 12); }

void increment(device int *x) { *x += 1; }
void reset(device int *x) { *x = 50; }

kernel void effects(device int *out, AT) {
  out[i] = i;
  void (*f)(device int *) = increment;
  if (i % 5 == 0) f = reset;
  f(out + i);
}

kernel void library_functions(device int *out, AT) {
  float (*f)(float) = floor;
  if (i % 2) f = ceil;
  out[i] = int(f(float(i) + 0.25f));
}

kernel void never_set(device int *out, constant int &null_at, AT) {
  Unary *f = square;
  if (int(i) == null_at) f = nullptr;
  out[i] = f(i);
}
