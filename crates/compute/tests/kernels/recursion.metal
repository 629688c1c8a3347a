// Functions that call themselves; tests/semantics/recursion.rs has the same in Rust.
#include <metal_stdlib>
using namespace metal;

#define AT uint i [[thread_position_in_grid]]

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

kernel void fibonacci(device int *out, AT) { out[i] = fib(i % 17); }

int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

kernel void ack(device int *out, AT) { out[i] = ackermann(i % 3, i % 6); }

int common_divisor(int a, int b) { return b == 0 ? a : common_divisor(b, a % b); }

kernel void divisor(device int *out, AT) { out[i] = common_divisor(i * 12, 84 + i); }

// The shape of the tree differs between threads: so do the depth and the number of calls in the loop.
int tree(int node, int seed) {
  int sum = node;
  for (int child = 0; child < (node ^ seed) % 3; ++child)
    if (node < 200) sum += tree(node * 3 + child + 1, seed) * (child + 2);
  return sum;
}

kernel void trees(device int *out, AT) { out[i] = tree(i % 5, i); }

void hanoi(int n, int from, int to, thread int *counts) {
  if (n == 0) return;
  hanoi(n - 1, from, 3 - from - to, counts);
  counts[to] += n;
  hanoi(n - 1, 3 - from - to, to, counts);
}

kernel void towers(device int *out, AT) {
  int counts[3] = {};
  hanoi(i % 7, 0, 2, counts);
  out[i] = counts[0] + 10 * counts[1] + 100 * counts[2];
}

// Each call writes to an array of its caller.
void own_arrays(thread int (&outer)[4], int n) {
  int own[4] = {n, n + 1, n + 2, n + 3};
  if (n > 0) own_arrays(own, n - 1);
  for (int k = 0; k < 4; ++k) outer[k] += own[k];
}

kernel void arrays_of_callers(device int *out, AT) {
  int all[4] = {};
  own_arrays(all, i % 9);
  out[i] = all[0] + 2 * all[1] + 3 * all[2] + 4 * all[3];
}

struct Power {
  int value;
  int calls;
};

struct Input {
  int x;
  int n;
};

Power power(Input input) {
  if (input.n == 0) return {1, 1};
  Power half_power = power(Input{input.x, input.n / 2});
  int square = half_power.value * half_power.value % 1000;
  return {input.n % 2 == 1 ? square * input.x % 1000 : square, half_power.calls + 1};
}

kernel void structs(device int *out, AT) {
  Power result = power(Input{int(i % 10), int(i)});
  out[i] = result.value * 100 + result.calls;
}

int factor(int n);
int term(int n) { return n <= 0 ? 1 : factor(n - 1) + term(n - 2); }
int factor(int n) { return n <= 0 ? 2 : term(n - 1) * 3 % 101; }

kernel void mutual(device int *out, AT) { out[i] = term(i % 20) * 1000 + factor(i % 11); }

// Far deeper than the stack: no frame is pushed.
bool is_odd(uint n);
bool is_even(uint n) { return n == 0 ? true : is_odd(n - 1); }
bool is_odd(uint n) { return n == 0 ? false : is_even(n - 1); }

kernel void mutual_tail_calls(device int *out, AT) { out[i] = is_odd(10000 + i) ? 1 : 0; }

template <typename T> T twice(T n) { return n == T(0) ? T(0) : twice(n - T(1)) + T(2); }

struct Fibonacci {
  int first;
  int at(int n) const { return n < 2 ? n * first : at(n - 1) + at(n - 2); }
};

struct Sum {
  int operator()(int n) const { return n == 0 ? 0 : n + (*this)(n - 1); }
};

kernel void template_member_functor(device int *out, AT) {
  Fibonacci fibonacci = {1};
  out[i] = fibonacci.at(i % 10) + int(twice(float(i % 10))) + Sum()(i % 10);
}

int collatz(ulong n) { return n == 1 ? 0 : n % 2 == 0 ? 1 + collatz(n / 2) : 1 + collatz(3 * n + 1); }

kernel void long_numbers(device int *out, AT) { out[i] = collatz(i + 1); }

float half_sum(int n) { return n == 0 ? 0.5f : (n + half_sum(n - 1)) * 0.5f; }

kernel void floats(device int *out, AT) { out[i] = int(half_sum(i % 30) * 64.0f); }

int outer(int n) {
  if (n == 0) return 1;
  int inner = fib(n + 3);
  return inner + 2 * outer(n - 1) + outer(n - 1) % 7;
}

kernel void cycle_in_a_cycle(device int *out, AT) { out[i] = outer(i % 6); }

kernel void in_a_branch(device int *out, AT) {
  if (i % 3 == 0)
    out[i] = fib(i % 13);
  else
    out[i] = -int(i);
}

short bits(uchar value, bool flag, short depth) {
  if (value == 0) return flag ? depth : -depth;
  return bits(value >> 1, flag != (value % 2 == 1), depth + 1) + short(flag) + short(value & 1);
}

kernel void bytes_and_bits(device int *out, AT) { out[i] = bits(uchar(i * 37), i % 2 == 0, 0); }

int down(int n) { return n <= 0 ? n : 1 + (down(n - 1) ^ 3); }

kernel void deep(device int *out, constant int &n, AT) { out[i] = down(i == 40 ? n : int(i)); }

int forever(int n) { return (forever(n + 1) ^ n) * 3; }

kernel void endless(device int *out, AT) { out[i] = forever(i); }

void turn(threadgroup int *values, uint at, uint count, int times) {
  if (times == 0) return;
  int next = values[(at + 1) % count];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  values[at] = next;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  turn(values, at, count, times - 1);
}

kernel void barrier_in_tail_calls(device int *out, AT, uint count [[threads_per_threadgroup]]) {
  threadgroup int values[64];
  values[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  turn(values, i, count, 7);
  out[i] = values[i];
}

// Each calls the one before twice: inlined, the last one would be two to the power of 15 calls.
int twice0(int x) { return x & 4 ? x * 7 + 3 : x ^ 21; }
#define TWICE(n, before) \
  int twice##n(int x) { return x % 3 == 0 ? twice##before(x + 1) - twice##before(x) : twice##before(x) ^ twice##before(x * 3 + n); }
TWICE(1, 0) TWICE(2, 1) TWICE(3, 2) TWICE(4, 3) TWICE(5, 4) TWICE(6, 5) TWICE(7, 6) TWICE(8, 7)
TWICE(9, 8) TWICE(10, 9) TWICE(11, 10) TWICE(12, 11)

kernel void doubling_calls(device int *out, AT) { out[i] = i % 2 ? twice12(i) : twice11(i) + twice10(i); }

// Parameters of one type arrive in the same variables, whatever their function and their order.
float shrink(float x, int n, int m);
float stretch(int n, float x) { return n <= 0 ? x : shrink(x + n, n - 1, int(x) % 7) - x; }
float shrink(float x, int n, int m) {
  return n <= 0 ? x * m : stretch(n - m % 2, x * 0.5f) + stretch(m - 3, float(n)) + x;
}
kernel void parameters_of_several_types(device int *out, AT) {
  out[i] = int(stretch(int(i) % 12, float(i)) * 16.0f);
}
