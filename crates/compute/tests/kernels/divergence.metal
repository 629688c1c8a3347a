#include <metal_stdlib>
using namespace metal;

// Control flow that differs between the lanes of a simdgroup. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

PER_THREAD(if_else) {
  int x = in[i], r;
  if (x % 3 == 0) r = x * 2;
  else if (x % 3 == 1) r = x + 100;
  else r = -x;
  out[i] = r;
}

PER_THREAD(nested_ifs) {
  int x = in[i], r = 0;
  if (x & 1) {
    r += 1;
    if (x & 2) {
      r += 10;
      if (x & 4) r += 100;
      else if (x & 8) r += 200;
    } else {
      r += 20;
    }
    r *= 3;
  }
  out[i] = r;
}

PER_THREAD(only_some_store) {
  if (in[i] > 20) out[i] = in[i];
}

PER_THREAD(trip_count_per_lane) {
  int sum = 0;
  for (int k = 0; k < in[i]; k++) sum += k * k;
  out[i] = sum;
}

// Values of different iterations leave the loop: a value that is uniform inside is varying outside.
PER_THREAD(temporal_divergence) {
  int uniform_inside = 0, last = -1;
  for (int k = 0;; k++) {
    uniform_inside = k * 7;
    if (k >= in[i]) break;
    last = k;
  }
  out[i] = uniform_inside * 1000 + last;
}

// The address is uniform inside the loop and varying after it.
PER_THREAD(temporal_divergence_of_an_address) {
  device const int *p = in;
  for (int k = 0; k < (in[i] & 7); k++) p += 3;
  out[i] = *p;
}

PER_THREAD(uniform_loop_in_divergent_if) {
  int r = 0;
  if (in[i] & 1) {
    for (int k = 0; k < 5; k++) r += in[k] + k;
  } else {
    for (int k = 0; k < 3; k++) r -= in[k];
  }
  out[i] = r;
}

PER_THREAD(divergent_loop_in_uniform_loop) {
  int r = 0;
  for (int outer = 0; outer < 4; outer++) {
    for (int k = 0; k < ((in[i] + outer) & 7); k++) r = r * 3 + k + outer;
    r ^= outer;
  }
  out[i] = r;
}

PER_THREAD(break_continue_return) {
  int r = 0;
  for (int a = 0; a < 10; a++) {
    if (a == (in[i] & 15)) break;
    for (int b = 0; b < 8; b++) {
      if (((a + b) & 3) == (in[i] & 3)) continue;
      if (b > (in[i] >> 1 & 7)) break;
      if (a * b == in[i] % 29) {
        out[i] = -r;
        return;
      }
      r += a * 10 + b;
    }
    r++;
  }
  out[i] = r;
}

PER_THREAD(continue_in_while) {
  int k = 0, r = 0;
  while (k < in[i] % 17) {
    k++;
    if (k % (1 + (in[i] & 3)) == 0) continue;
    r += k;
  }
  out[i] = r;
}

PER_THREAD(do_while) {
  int k = in[i] % 13, r = 0;
  do {
    r += k;
    if (r > 40) continue;
    r ^= 5;
  } while (k-- > 3);
  out[i] = r;
}

PER_THREAD(endless_until_return) {
  uint x = uint(in[i]) | 1u;
  for (int k = 0;; k++) {
    if ((x & 63u) == 7u) {
      out[i] = k;
      return;
    }
    if (k == 200) break;
    x = x * 1664525u + 1013904223u;
  }
  out[i] = -1;
}

PER_THREAD(early_return) {
  if (in[i] % 5 == 2) return;
  int r = in[i];
  if (r > 30) {
    if (r % 2) return;
    r = 1000;
  }
  out[i] = r + 1;
}

PER_THREAD(switch_per_lane) {
  int r = 5;
  switch (in[i] % 9) {
    case 0: r = 1; break;
    case 1: r += 2;
    case 2: r += 3;
    case 3: r *= 2; break;
    case 4: case 5: r = -r; break;
    case 6: { int t = r; r = t * t; } [[fallthrough]];
    default: r += 100;
    case 8: r++;
  }
  out[i] = r;
}

PER_THREAD(switch_in_loop) {
  int state = in[i] & 3, r = 0;
  for (int k = 0; k < 12; k++) {
    switch (state) {
      case 0: state = 2; r += 1; continue;
      case 1: state = 3; break;
      case 2: if (k > (in[i] & 7)) { state = 9; break; } state = 1; r += 10; break;
      case 3: r += 100; state = 0; continue;
      default: out[i] = r * 2 + k; return;
    }
    r += 1000;
  }
  out[i] = r;
}

PER_THREAD(switch_on_negative_and_large) {
  switch (in[i] - 3) {
    case -3: out[i] = 1; break;
    case -1: out[i] = 2; break;
    case 1000000: out[i] = 3; break;
    case 0x7fffffff: out[i] = 4; break;
    case 12: out[i] = 5; break;
    default: out[i] = 6;
  }
}

PER_THREAD(loop_in_switch) {
  int r = 0;
  switch (in[i] & 3) {
    case 0: for (int k = 0; k < in[i]; k++) { if (k == 9) break; r += k; } break;
    case 1: while (r < in[i]) r += 7; break;
    case 2: do { r++; if (r == 4) return; } while (r < (in[i] & 15)); break;
    case 3: break;
  }
  out[i] = r + 1;
}

static bool note(thread int &counter, bool answer) {
  counter++;
  return answer;
}

PER_THREAD(short_circuit) {
  int x = in[i], calls = 0;
  bool a = note(calls, x & 1) && note(calls, x & 2);
  bool b = note(calls, x & 4) || note(calls, x & 8) || note(calls, x & 16);
  bool c = (note(calls, x & 1) && note(calls, x & 4)) || (note(calls, x & 2) && note(calls, x & 8));
  out[i] = calls * 8 + (a ? 1 : 0) + (b ? 2 : 0) + (c ? 4 : 0);
}

PER_THREAD(ternary_with_effects) {
  int x = in[i], a = 0, b = 0;
  int r = x % 3 == 0 ? a++ : x % 3 == 1 ? (b += 5) : --a;
  (x & 1 ? a : b) += 100;
  out[i] = r + 10 * a + 10000 * b;
}

// The guarded accesses would be far outside of the buffer in the lanes that do not make them.
PER_THREAD(guarded_accesses) {
  int r = 0;
  if (i > 0) r += in[i - 1];
  if (in[i] >= 0 && in[i] < 32) r += in[in[i]] * 100;
  device const int *far = in + (i == 5 ? 0x1000000000 : 0);
  if (i != 5) r += far[0];
  out[i] = r;
}

PER_THREAD(guarded_division) {
  int d = in[i] % 4, r = 77;
  if (d != 0) r = in[i] / d + in[i] % d;
  out[i] = r;
}

PER_THREAD(collatz) {
  uint n = uint(in[i]) + 1;
  int steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
  }
  out[i] = steps;
}

PER_THREAD(greatest_common_divisor) {
  uint a = uint(in[i]) + 12, b = i * 6 + 4;
  while (b) {
    uint t = a % b;
    a = b;
    b = t;
  }
  out[i] = int(a);
}

PER_THREAD(loop_carried_swap) {
  int a = in[i], b = 1, c = 2;
  for (int k = 0; k < (in[i] & 7); k++) {
    int t = a;
    a = b;
    b = c;
    c = t;
  }
  out[i] = a * 10000 + b * 100 + c;
}

// Three loops deep, each left by lanes at different times, values of all three used afterwards.
PER_THREAD(three_loops) {
  int a = 0, b = 0, c = 0, n = in[i] & 15;
  for (a = 0; a < n; a++) {
    for (b = 0; b < a + 2; b++) {
      for (c = b; c < n; c++) {
        if ((a + b + c) % 11 == n % 11 && c > 3) break;
      }
      if (c == n && b & 1) break;
    }
    if (b * c > 40) break;
  }
  out[i] = a * 10000 + b * 100 + c;
}

// Two places jump into the middle of what follows: shared code after different tests.
PER_THREAD(overlapping_conditions) {
  int x = in[i], r = 0;
  bool done = false;
  if (x < 8) {
    if (x & 1) r = 1;
    else done = true;
  } else if (x < 16) {
    done = (x & 2) != 0;
    r = 2;
  }
  if (!done) r += 10;
  do {
    if (r == 1) break;
    if (x % 5 == 1) { r += 1000; break; }
    r += 100;
  } while (false);
  out[i] = r;
}

static int find(device const int *in, int wanted) {
  for (int k = 0; k < 64; k++) {
    if (in[k] == wanted) return k;
    if (in[k] > 1000) return -2;
  }
  return -1;
}

PER_THREAD(return_from_loop_of_function) { out[i] = find(in, in[i] / 2) * 3 + find(in, int(i)); }

PER_THREAD(condition_from_loop) {
  bool found = false;
  for (int k = 0; k < 20 && !found; k++) found = k * k > in[i] * 3;
  out[i] = found ? 1 : 0;
}
