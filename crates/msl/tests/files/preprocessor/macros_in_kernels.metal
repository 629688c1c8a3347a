// test check
// options: -D TILE=8 -D DEBUG -D NAME=from_command_line -D EMPTY=
#include <metal_stdlib>
using namespace metal;

#define SQUARE(x) ((x) * (x))
#define STRINGIFY(x) #x
#define EXPANDED(x) STRINGIFY(x)
#define PASTE(a, b) a##b
#define PASTE_EXPANDED(a, b) PASTE(a, b)
#define KERNEL(name, type) kernel void name##_##type(device type *out) { out[0] = type(1); }
#define SUM(first, ...) sum_of(first, __VA_ARGS__)
#define LOG(format, ...) (format, ##__VA_ARGS__)
#define OPTIONAL(...) f(0 __VA_OPT__(, ) __VA_ARGS__)
#define SELF SELF_VALUE
#define SELF_VALUE 3
#define MULTI_LINE(x) \
  do {                \
    x += 1;           \
  } while (0)
KERNEL(fill, float)
KERNEL(fill, half)
#undef KERNEL
int sum_of(int a, int b, int c) { return a + b + c; }
int f(int a, int b = 0) { return a + b; }
#if defined(DEBUG) && TILE == 8 && !defined(MISSING) && MISSING == 0
constant int configured = 1;
#elif TILE > 8
#error not here
#else
#error nor here
#endif
#ifdef DEBUG
#ifndef MISSING
constant int nested = EMPTY 2;
#endif
#endif
#if 0
this is not even tokens ' " @
#endif
#if (1 << 4) == 16 && (TILE * 2 >= 16 ? 1 : 0) && 'a' == 97 && 0x10 == 16 && -1 < 0u == 0
constant int arithmetic = 3;
#endif
#if __METAL_VERSION__ >= 310 && defined(__METAL__) && defined __METAL_MACOS__ | 1
constant int version = __METAL_VERSION__;
#endif
constant int line = __LINE__;
constant char *constant file = __FILE__;
int from_command_line(int x) { return x; }
kernel void uses(device int *out) {
  int x = 2;
  MULTI_LINE(x);
  out[0] = SQUARE(x + 1) + PASTE(configu, red) + PASTE_EXPANDED(PASTE(ne, sted), ) + SUM(1, 2, 3) + SELF + arithmetic + version + line;
  out[1] = NAME(1) + OPTIONAL() + OPTIONAL(1) + (LOG(1), LOG(1, 2)) + int(sizeof(EXPANDED(TILE))) + f(TILE);
  out[2] = file[0];
}
