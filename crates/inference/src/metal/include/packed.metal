// Activations in eight bits, for products of bytes: blocks of 32 numbers with a scale.
//
//     number = scale · q,   scale = max |number| / 127,   q = number / scale, rounded
//
// A rounded number is off by at most half a scale, 1/254 of the largest of its block. A block with an infinity or a NaN is
// NaN, and so is one with a number of 10^36 or more. With weight = d · (q' - CENTER) + offset, the product of a block is
//
//     Σ weight · number = d · scale · (Σ q' · q - CENTER · Σ q) + offset · scale · Σ q
//
// whose sums of integers are exact: 32 · 255 · 127 fits 20 bits.
#ifndef METALWORKS_PACKED_METAL
#define METALWORKS_PACKED_METAL

#include "common.metal"

// Numbers of a block.
constant constexpr uint PACKED_NUMBERS = 32;

// A kernel writes blocks instead of numbers.
constant bool PACKED_Y [[function_constant(31)]];
constant bool NUMBERS_Y = !PACKED_Y;

// Aligned, so that a GPU loads 16 bytes at a time.
struct alignas(16) PackedBlock {
    float scale;
    float scaled_sum;           // scale · Σ q
    int low_sum;                // Σ q of the first 16
    int high_sum;               // Σ q of the others
    uint q[PACKED_NUMBERS / 4]; // signed bytes
};

constant constexpr uint PACKED_BYTES = sizeof(PackedBlock);

// Largest of a block of numbers that are all rounded to 0: below it, 127 / largest is infinite or inexact. A block with a
// larger number than the other is NaN: 127 · number may be infinite.
constant constexpr float NEGLIGIBLE = 1e-30f, MOST = 1e36f;

// Packs one number of each lane.
inline void pack(float number, device PackedBlock* block, uint lane) {
    // As integers, so that NaN is the largest: fast math assumes that there is none.
    uint bits = simd_max(as_type<uint>(number) & 0x7fffffffu);
    float largest = as_type<float>(bits);
    bool is_finite = bits < as_type<uint>(MOST), is_something = is_finite && largest > NEGLIGIBLE;
    int q = is_something ? int(rint(number * (127.0f / largest))) : 0;
    // A product, which is rounded the same everywhere.
    float scale = is_something ? largest * (1.0f / 127.0f) : is_finite ? 0.0f : not_a_number<float>();
    int low_sum = simd_sum(lane < PACKED_NUMBERS / 2 ? q : 0), sum = simd_sum(q);
    ((device char*)block->q)[lane] = char(q);
    block->scale = scale;
    block->scaled_sum = scale * float(sum);
    block->low_sum = low_sum;
    block->high_sum = sum - low_sum;
}

// Σ a[i] · b[i] + sum, of the four bytes of two words: unsigned of a, signed of b. Compilers have an instruction for it.
inline int dot_bytes(uint a, uint b, int sum) {
    uchar4 left = as_type<uchar4>(a);
    char4 right = as_type<char4>(b);
    return sum + int(left.x) * int(right.x) + int(left.y) * int(right.y) + int(left.z) * int(right.z) +
           int(left.w) * int(right.w);
}

// Two numbers as bfloat, rounded to nearest, the first one in the lower half.
inline uint bfloat_pair(float first, float second) {
    return (as_type<uint>(first) + 0x8000u) >> 16 | ((as_type<uint>(second) + 0x8000u) & 0xffff0000u);
}

// a[0] · b[0] + a[1] · b[1] + sum, of two pairs of bfloat. Compilers have an instruction for it.
inline float dot_pair(uint a, uint b, float sum) {
    return sum + as_type<float>(a << 16) * as_type<float>(b << 16) +
           as_type<float>(a & 0xffff0000u) * as_type<float>(b & 0xffff0000u);
}

#endif
