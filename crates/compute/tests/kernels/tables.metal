#include <metal_stdlib>
using namespace metal;

// Tables in the program, enumerations, and names. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

constant int PRIMES[8] = {2, 3, 5, 7, 11, 13, 17, 19};
constant int4 ROWS[4] = {int4(0, 1, 2, 3), int4(10, 2, 0, 0), int4(20, 3, 0, 0), int4(30, 4, 0, 0)};
struct Entry { char name; short value; float weight; };
constant Entry ENTRIES[3] = {{1, 5, 100.0f}, {2, 6, 200.0f}, {3, 7, 300.0f}};
constant int GRID[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
constant half HALVES[4] = {1.0h, 3.0h, 5.0h, 7.0h};
constant char CHARS[4] = {-1, 2, -3, 4};

PER_THREAD(constant_table_per_lane) { out[i] = PRIMES[in[i] & 7] + PRIMES[7]; }
PER_THREAD(table_of_vectors) {
  int4 row = ROWS[in[i] & 3];
  out[i] = row.x + row.y;
}
PER_THREAD(table_of_structs) {
  constant Entry &entry = ENTRIES[in[i] % 3];
  out[i] = entry.value + int(entry.weight);
}
PER_THREAD(two_dimensional_table) { out[i] = GRID[in[i] % 3][in[i] % 4] * 2; }
PER_THREAD(table_of_half_and_char) { out[i] = int(HALVES[in[i] & 3]) + CHARS[in[i] & 3]; }
PER_THREAD(pointer_to_a_table) {
  constant int *p = in[i] & 1 ? PRIMES : GRID[1];
  out[i] = in[i] & 1 ? p[in[i] & 7] : p[2];
}

static constexpr int square(int x) { return x * x; }
constexpr constant int SUM = square(1) + square(2) + square(3) + square(4);
PER_THREAD(computed_constants) {
  constexpr int sum = SUM;
  int sized[sum > 20 ? 2 : 1] = {};
  out[i] = in[i] + sum + sized[in[i] & 1];
}

enum Fruit { APPLE = 1, PEAR, PLUM = 40, CHERRY };
enum Small : uchar { NONE, ONE, TWO, THREE };
PER_THREAD(enumerations) {
  Fruit fruit = APPLE;
  Small small = Small(in[i] & 3);
  switch (small) {
    case NONE: break;
    case ONE: fruit = PEAR; break;
    case TWO: fruit = PLUM; break;
    case THREE: fruit = CHERRY; break;
  }
  out[i] = fruit * 10 + small;
}

enum class Colour : int { red = 100, green = 200, blue = 300 };
static int value_of(Colour c) {
  switch (c) {
    case Colour::red: return 100;
    case Colour::green: return 200;
    default: return static_cast<int>(c);
  }
}
PER_THREAD(enum_classes) {
  Colour c = in[i] % 3 == 0 ? Colour::red : in[i] % 3 == 1 ? Colour::green : Colour::blue;
  out[i] = value_of(c);
}

namespace outer {
static int f(int x) { return x * 2; }
namespace inner {
static int f(int x) { return x * 3; }
}
}
PER_THREAD(namespaces) {
  using namespace outer;
  out[i] = f(in[i]) + inner::f(in[i]);
}

#define TWICE(x) ((x) * 2)
#define JOIN(a, b) a##b
#define COUNT(...) COUNT_(__VA_ARGS__, 3, 2, 1)
#define COUNT_(a, b, c, n, ...) n
PER_THREAD(macros) {
  int JOIN(var, iable) = in[i] + 1;
  out[i] = TWICE(variable) + COUNT(x, y, z) * 11;
}

PER_THREAD(local_types) {
  struct Pair { int a, b; int sum() const { return a + b; } };
  typedef Pair Both;
  using Number = int;
  Both pair = {in[i], 5};
  Number nine = 9;
  out[i] = pair.sum() + nine;
}

constant char NAME[] = "kernel";
PER_THREAD(string_of_characters) { out[i] = NAME[in[i] % 6]; }

struct Mixed { char c; float3 v; };
PER_THREAD(sizes) {
  out[i] = in[i] + int(sizeof(float)) + int(sizeof(float3)) + int(sizeof(packed_float3)) + int(alignof(float2)) +
           int(sizeof(Mixed)) - 8;
}
