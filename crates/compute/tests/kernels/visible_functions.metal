// Functions that a host puts into tables; tests/semantics/visible_functions.rs has the same in Rust.
#include <metal_stdlib>
using namespace metal;

using Map = float(float, int);

constant int OFFSET [[function_constant(0)]];

[[visible]] float scale(float x, int k) { return x * k; }
[[visible]] float shift(float x, int k) { return x + k + OFFSET; }

static float power(float x, int n) { return n == 0 ? 1.0f : x * power(x, n - 1) + 0.0f; }
[[visible]] float raise(float x, int k) { return power(x, k); }

struct Pair {
  int a;
  int b;
};

[[visible]] Pair swapped(Pair pair, thread int &calls) {
  calls += 1;
  return {pair.b, pair.a};
}

static float call(visible_function_table<Map> table, uint index, float x) { return table[index](x, 3); }

kernel void apply(device float *out, visible_function_table<Map> table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = call(table, i % table.size(), float(i));
}

kernel void two_tables(device int *out, visible_function_table<Map> maps,
                       visible_function_table<Pair(Pair, thread int &)> pairs,
                       uint i [[thread_position_in_grid]]) {
  int calls = 0;
  Pair pair = pairs[0](Pair{int(i), 7}, calls);
  pair = pairs[i % 2](pair, calls);
  out[i] = int(maps[0](float(pair.a), 2)) + 1000 * calls;
}

kernel void count(device uint *out, visible_function_table<Map> table) {
  out[0] = table.size();
  out[1] = table.empty();
  out[2] = is_null_visible_function_table(table);
}

// A visible function is a function, too.
kernel void direct(device float *out, uint i [[thread_position_in_grid]]) { out[i] = scale(float(i), 4); }
