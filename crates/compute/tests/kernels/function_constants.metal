#include <metal_stdlib>
using namespace metal;

constant bool A_BOOL [[function_constant(0)]];
constant char A_CHAR [[function_constant(1)]];
constant uchar A_UCHAR [[function_constant(2)]];
constant short A_SHORT [[function_constant(3)]];
constant ushort A_USHORT [[function_constant(4)]];
constant int AN_INT [[function_constant(5)]];
constant uint A_UINT [[function_constant(6)]];
constant half A_HALF [[function_constant(7)]];
constant float A_FLOAT [[function_constant(8)]];
constant float4 A_FLOAT4 [[function_constant(9)]];
constant ushort2 A_USHORT2 [[function_constant(10)]];
constant long A_LONG [[function_constant(11)]];
constant bool3 A_BOOL3 [[function_constant(12)]];

kernel void every_type(device float *out [[buffer(0)]]) {
  out[0] = A_BOOL ? 1 : 0;
  out[1] = A_CHAR;
  out[2] = A_UCHAR;
  out[3] = A_SHORT;
  out[4] = A_USHORT;
  out[5] = AN_INT;
  out[6] = A_UINT;
  out[7] = A_HALF;
  out[8] = A_FLOAT;
  out[9] = A_FLOAT4.x + A_FLOAT4.w;
  out[10] = A_USHORT2.y;
  out[11] = float(A_LONG >> 32);
  out[12] = A_BOOL3.x * 4 + A_BOOL3.y * 2 + A_BOOL3.z;
}

constant int COUNT [[function_constant(20)]];
constant int COUNT_OR_FIVE = is_function_constant_defined(COUNT) ? COUNT : 5;
constant bool HAS_EXTRA [[function_constant(21)]];
constant bool NO_EXTRA = !HAS_EXTRA;

kernel void loop_bound(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  int sum = 0;
  for (int k = 0; k < COUNT_OR_FIVE; k++) sum += in[i] * k;
  out[i] = sum;
}

// Constants choose arguments, branches and cases.
kernel void optional_arguments(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                               device const int *extra [[buffer(2), function_constant(HAS_EXTRA)]],
                               constant int &other [[buffer(3), function_constant(NO_EXTRA)]],
                               uint i [[thread_position_in_grid]]) {
  int r = in[i];
  if (HAS_EXTRA) r += extra[i] * 100;
  else r -= other;
  switch (COUNT_OR_FIVE) {
    case 5: r += 100000; break;
    case 6: r += 200000; break;
    default: break;
  }
  out[i] = r;
}

constant uint TILE [[function_constant(22)]];
constant uint TILE_OR_EIGHT = is_function_constant_defined(TILE) ? TILE : 8;

// A tile no larger than its array, which is as large as any.
kernel void tile(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  int values[32];
  for (uint k = 0; k < TILE_OR_EIGHT; k++) values[k] = in[(i + k) % 64];
  int sum = 0;
  for (uint k = 0; k < TILE_OR_EIGHT; k++) sum += values[TILE_OR_EIGHT - 1 - k] * int(k);
  out[i] = sum;
}

struct Row {
  int values[3];
  constexpr const constant int &operator[](size_t at) const constant { return values[at]; }
  constexpr const thread int &operator[](size_t at) const thread { return values[at]; }
};
struct Grid {
  Row rows[2];
};

// As SPIRV-Cross writes arrays of specialization constants: their methods take constant memory.
constant Row FIRST = Row{{COUNT_OR_FIVE, 1, 2}};
constant Grid GRID = Grid{{Row{{COUNT_OR_FIVE, 10, 20}}, Row{{30, COUNT_OR_FIVE, 50}}}};
constant int CORNER = GRID.rows[1][1];

kernel void arrays_of_constants(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + FIRST[0] * 100 + FIRST[2] * 1000 + GRID.rows[0][1] * 10000 + CORNER;
}

constant int NUMBERS[4] = {1, 2, 3, 4};
constant int COUNTS[4] = {COUNT_OR_FIVE, COUNT_OR_FIVE + 1, COUNT_OR_FIVE * 2, -COUNT_OR_FIVE};
constant array<int, 4> ARRAY = {COUNT_OR_FIVE, 6, COUNT_OR_FIVE - 3, 8};
constant float ROOT = sqrt(float(COUNT_OR_FIVE * COUNT_OR_FIVE));
constant float ROOTS[2] = {ROOT, exp2(ROOT)};
constant float2x2 MATRIX = float2x2(ROOT, 2, 3, COUNT_OR_FIVE);
struct Fields {
  uint a : 5;
  uint b : 11;
  uchar c;
  half d;
  float3 e;
};
constant Fields FIELDS[2] = {{1, uint(COUNT_OR_FIVE), 3, half(COUNT_OR_FIVE), float3(COUNT_OR_FIVE)}, {4, 5, 6, 7, 8}};

int at(constant int *numbers, uint index) { return numbers[index]; }

// Each thread reads another element, also through pointers that may be to constants of both kinds.
kernel void constants_by_address(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
  uint k = in[i] % 4;
  constant int *either = k % 2 ? COUNTS : NUMBERS;
  constant float *root = k < 2 ? &ROOT : &ROOTS[1];
  int r = COUNTS[k] + 100 * ARRAY[k] + either[k] + at(COUNTS, 3 - k);
  r += int(ROOTS[k % 2]) + int(*root) + int(MATRIX[k / 2][k % 2]);
  constant Fields &fields = FIELDS[k % 2];
  out[i] = r + int(fields.b) * 1000 + fields.c + int(fields.d) + int(fields.e[k % 3]);
}
