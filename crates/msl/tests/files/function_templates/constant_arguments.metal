// test check
// The `const` of a variable in constant memory is no part of a deduced type: its address space makes it read-only.
#include <metal_stdlib>
using namespace metal;

template <typename T, uint N>
void copy(thread T (&to)[N], constant T (&from)[N]) {
  for (uint i = 0; i < N; i++) to[i] = from[i];
}

template <typename T, uint N, uint M>
void copy(thread T (&to)[N][M], constant T (&from)[N][M]) {
  for (uint i = 0; i < N; i++) copy(to[i], from[i]);
}

template <typename T>
T read(constant T *from, T otherwise) {
  return from ? *from : otherwise;
}

template <typename T>
void write(constant T &to) {
  to = 1;  // error: read-only
}

constant float row[4] = {1, 2, 3, 4};
constant float rows[2][2] = {{1, 2}, {3, 4}};

kernel void k(device float *o) {
  float a[4];
  copy(a, row);
  float b[2][2];
  copy(b, rows);
  o[0] = a[1] + b[1][0] + read(&row[1], 2.0f);
  write(row[1]);
}
