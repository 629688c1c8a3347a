#include <metal_stdlib>
using namespace metal;

// Per-lane walks through memory, sorting in private memory, and side effects under divergent control.

kernel void binary_search(device const int *sorted [[buffer(0)]], device const int *wanted [[buffer(1)]],
                          device int *out [[buffer(2)]], constant int &n [[buffer(3)]],
                          uint i [[thread_position_in_grid]]) {
  int low = 0, high = n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (sorted[middle] < wanted[i]) low = middle + 1;
    else high = middle;
  }
  out[i] = low;
}

struct Node {
  int value;
  int next;
};

// Walks until the end of the list or until a negative value.
kernel void linked_list(device const Node *nodes [[buffer(0)]], device const int *heads [[buffer(1)]],
                        device int *sums [[buffer(2)]], device int *visits [[buffer(3)]],
                        uint i [[thread_position_in_grid]]) {
  int sum = 0, count = 0;
  for (int at = heads[i]; at >= 0; at = nodes[at].next) {
    if (nodes[at].value < 0) break;
    sum += nodes[at].value;
    count++;
  }
  sums[i] = sum;
  visits[i] = count;
}

kernel void bubble_sort(device int *values [[buffer(0)]], device uint *swaps [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  int v[9];
  for (int k = 0; k < 9; k++) v[k] = values[i * 9 + k];
  uint count = 0;
  bool again;
  do {
    again = false;
    for (int k = 1; k < 9; k++) {
      if (v[k - 1] > v[k]) {
        int t = v[k];
        v[k] = v[k - 1];
        v[k - 1] = t;
        again = true;
        count++;
      }
    }
  } while (again);
  for (int k = 0; k < 9; k++) values[i * 9 + k] = v[k];
  swaps[i] = count;
}

kernel void insertion_sort(device int *values [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  short v[16];
  for (int k = 0; k < 16; k++) v[k] = short(values[i * 16 + k]);
  for (int k = 1; k < 16; k++) {
    short x = v[k];
    int at = k;
    for (; at > 0 && v[at - 1] > x; at--) v[at] = v[at - 1];
    v[at] = x;
  }
  for (int k = 0; k < 16; k++) values[i * 16 + k] = v[k];
}

// A stack machine: each lane interprets its own program.
kernel void stack_machine(device const uchar *code [[buffer(0)]], device const uint *starts [[buffer(1)]],
                          device int *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  int stack[8];
  int top = 0;
  uint pc = starts[i];
  for (int steps = 0; steps < 100; steps++) {
    uchar op = code[pc++];
    if (op < 100) { stack[top++] = op; continue; }
    switch (op) {
      case 100: top--; stack[top - 1] += stack[top]; break;
      case 101: top--; stack[top - 1] *= stack[top]; break;
      case 102: stack[top] = stack[top - 1]; top++; break;
      case 103: { int t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; break; }
      case 104: if (stack[--top] > 0) pc -= code[pc]; else pc++; break;
      case 105: stack[top - 1] -= 1; break;
      default: out[i] = stack[top - 1]; return;
    }
  }
  out[i] = -1;
}

kernel void histogram_of_divisors(device atomic_uint *counts [[buffer(0)]], device uint *last [[buffer(1)]],
                                  uint i [[thread_position_in_grid]]) {
  uint n = i + 1;
  for (uint d = 1; d <= n; d++) {
    if (n % d) continue;
    atomic_fetch_add_explicit(&counts[d], 1u, memory_order_relaxed);
    last[i] = d == n ? last[i] : d;
    if (d > 20) return;
  }
}

// Levenshtein distance of two short words per lane: a two-dimensional walk over a private row.
kernel void edit_distance(device const uchar *a [[buffer(0)]], device const uchar *b [[buffer(1)]],
                          device int *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  device const uchar *x = a + i * 8, *y = b + i * 8;
  uchar row[9];
  int m = 0, n = 0;
  while (m < 8 && x[m]) m++;
  while (n < 8 && y[n]) n++;
  for (int k = 0; k <= n; k++) row[k] = uchar(k);
  for (int p = 1; p <= m; p++) {
    uchar corner = row[0];
    row[0] = uchar(p);
    for (int q = 1; q <= n; q++) {
      uchar above = row[q];
      uchar cost = x[p - 1] == y[q - 1] ? corner : uchar(min(min(row[q - 1], above), corner) + 1);
      corner = above;
      row[q] = cost;
    }
  }
  out[i] = row[n];
}
