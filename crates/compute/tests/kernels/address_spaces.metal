#include <metal_stdlib>
using namespace metal;

// Pointers and references into every address space, and what lies there.

struct Params {
  int scale;
  float2 offset;
  packed_float3 weights;
  uchar flags[4];
  half tail;
};

// Constant references, by value and by pointer, of one struct.
kernel void constant_arguments(constant Params &p [[buffer(0)]], constant Params *many [[buffer(1)]],
                               device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  Params copy = p;
  constant Params *mine = many + i % 3;
  out[i] = float(p.scale) + copy.offset.y + mine->weights[2] + float(mine->flags[i & 3]) + float(mine->tail);
}

static void add_to(device int *where, int n) { *where += n; }
static void add_to(threadgroup int *where, int n) { *where += n; }
static void add_to(thread int *where, int n) { *where += n; }
static int read(constant int &x) { return x; }
static int read(const device int &x) { return x * 10; }
static int read(const thread int &x) { return x * 100; }
static int read(const threadgroup int &x) { return x * 1000; }

kernel void one_function_per_space(constant int *c [[buffer(0)]], device int *d [[buffer(1)]],
                                   device int *out [[buffer(2)]], threadgroup int *t [[threadgroup(0)]],
                                   uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  int x = 1;
  t[l] = int(l);
  add_to(&x, 2);
  add_to(d + i, 3);
  add_to(&t[l], 4);
  out[i] = read(c[i & 1]) + read(d[i]) + read(x) + read(t[l]);
}

struct Record {
  int id;
  float3 position;
  char tag;
  short values[3];
};

// A struct in device memory: member by member, whole, and through a pointer that differs per lane.
kernel void device_structs(device Record *records [[buffer(0)]], device const uint *order [[buffer(1)]],
                           device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  device Record &mine = records[order[i]];
  Record copy = mine;
  mine.values[i % 3] = short(copy.id);
  mine.position.y = copy.position.x;
  mine.tag = 'x';
  copy.id = -1;
  device Record *p = &mine;
  p->id += 1;
  out[i] = copy.position.z + float(p->values[i % 3]) + float(copy.tag) + float(copy.values[2]);
}

// Loads and stores of every width, aligned to their own size only.
kernel void every_width(device const uchar *in [[buffer(0)]], device uchar *out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + 1;
  ((device ushort *)(out + 256))[i] = ((device const ushort *)in)[i] + 1;
  ((device uint *)(out + 1024))[i] = ((device const uint *)in)[i] + 1;
  ((device ulong *)(out + 2048))[i] = ((device const ulong *)in)[i] + 1;
  ((device uint2 *)(out + 3072))[i] = ((device const uint2 *)in)[i].yx;
  ((device uint4 *)(out + 4096))[i] = ((device const uint4 *)in)[i].wzyx;
  ((device packed_ushort3 *)(out + 6144))[i] = ((device const packed_ushort3 *)in)[i];
  ((device float3 *)(out + 7168))[i] = float3(uchar3(in[i], 1, 2));
}

// Contiguous, strided, reversed, gathered, all lanes at one place.
kernel void access_patterns(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                            constant int &stride [[buffer(2)]], uint i [[thread_position_in_grid]],
                            uint n [[threads_per_grid]]) {
  int r = in[i];
  r += 2 * in[n - 1 - i];
  r += 3 * in[i * 2];
  r += 4 * in[i * 3 + 1];
  r += 5 * in[int(i) * stride];
  r += 6 * in[i ^ 5];
  r += 7 * in[in[i] & 63];
  r += 8 * in[7];
  r += 9 * in[i / 4];
  r += 10 * in[i & 3];
  out[i * 2] = r;
  out[i * 2 + 1] = in[2 * n - i];
}

kernel void chars_at_odd_places(device const char *in [[buffer(0)]], device short *out [[buffer(1)]],
                                uint i [[thread_position_in_grid]]) {
  device const char *p = in + 1 + i * 3;
  char3 v = char3(p[0], p[1], p[2]);
  packed_char3 packed = ((device const packed_char3 *)(in + 1))[i];
  out[i] = short(v.x) * 2 + v.y + v.z + packed.z;
}

// A pointer to a pointer, a reference to a pointer, an array of pointers.
static void advance(device int *thread &p, int n) { p += n; }

kernel void pointers_to_pointers(device int *in [[buffer(0)]], device int *out [[buffer(1)]],
                                 uint i [[thread_position_in_grid]]) {
  device int *p = in;
  advance(p, int(i) + 1);
  device int *thread *q = &p;
  device int *choice[2] = {in, in + 1};
  out[i] = **q + (*q)[-1] * 100 + choice[i & 1][i] * 10000;
  *q = nullptr;
  if (!p) out[i]++;
}

// Values in threadgroup memory: structs, arrays of arrays, vectors.
struct Shared {
  float3 v;
  short s[2];
};

kernel void threadgroup_values(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                               uint l [[thread_index_in_threadgroup]]) {
  threadgroup Shared shared[32];
  threadgroup int grid[4][8];
  threadgroup uchar bytes[32];
  shared[l].v = float3(l, l + 1, l + 2);
  shared[l].s[l & 1] = short(l * 2);
  grid[l / 8][l % 8] = int(l) * 3;
  bytes[31 - l] = uchar(l);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint other = (l * 7 + 3) & 31;
  threadgroup Shared *p = shared + other;
  out[i] = int(p->v.y) + p->s[other & 1] + grid[other / 8][other % 8] * 100 + bytes[l] * 100000;
}

// One of two buffers, per lane and by turns.
kernel void one_of_two_buffers(device const int *a [[buffer(0)]], device const int *b [[buffer(1)]],
                               device int *even [[buffer(2)]], device int *odd [[buffer(3)]],
                               uint i [[thread_position_in_grid]]) {
  device const int *p = i % 3 == 0 ? a : b;
  device const int *q = a, *r = b;
  int sum = p[i];
  for (uint k = 0; k < i % 5; k++) {
    sum = sum * 3 + q[k];
    device const int *t = q;
    q = r;
    r = t;
  }
  device int *to = i & 1 ? odd : even;
  to[i / 2] = sum + *(i % 4 == 0 ? &a[i + 1] : &b[i]);
}

// Copies of large structs between all address spaces, some at an index per lane.
struct Block {
  half scale;
  uchar quants[31];
  short2 pair;
  float tail[5];
};

static float weigh(Block b) {
  float sum = 0;
  for (int k = 0; k < 31; k++) sum += float(b.quants[k]) * float(k + 1);
  return sum * float(b.scale) + float(b.pair.y) + b.tail[4];
}

kernel void large_structs(device const Block *in [[buffer(0)]], device Block *out [[buffer(1)]],
                          device float *weights [[buffer(2)]], constant Block *table [[buffer(3)]],
                          uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                          uint size [[threads_per_threadgroup]]) {
  threadgroup Block shared[64];
  Block mine = in[i];
  shared[l] = mine;
  mine.quants[i % 31] = 200;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Block other = shared[size - 1 - l];
  Block both[2] = {mine, other};
  out[i] = both[i & 1];
  Block fixed = table[i % 3];
  weights[i] = weigh(mine) + weigh(shared[l]) * 2 + weigh(fixed) * 4;
}
