// The block formats of GGUF, exactly as files store them, and what a number of each is worth.
//
//   format  bytes  numbers  worth of a number
//   Q8_0       34       32  d·q                 q signed, 8 bits
//   Q4_0       18       32  d·(q − 8)           q 4 bits
//   Q4_1       20       32  d·q + m             q 4 bits
//   Q5_0       22       32  d·(q − 16)          q 5 bits, the highest in qh
//   Q5_1       24       32  d·q + m             q 5 bits, the highest in qh
//   Q4_K      144      256  d·s·q − dmin·m      q 4 bits; for every 32 numbers a scale s and a minimum m of 6 bits
//   Q5_K      176      256  d·s·q − dmin·m      q 5 bits, the highest in qh
//   Q6_K      210      256  d·s·(q − 32)        q 6 bits, the highest two in qh; for every 16 numbers s, signed, 8 bits
//
// In blocks of 32, the low halves of qs[0…15] are the numbers 0…15 and the high halves 16…31. In Q4_K and Q5_K, every 32
// bytes of qs are 64 numbers: the low halves first. In Q6_K, every 64 bytes of ql and 32 of qh are 128 numbers.
//
// Blocks are 2 bytes aligned; what they contain is read as bytes and halves, never as wider words.
//
// `dequantize(block, i)` is the number i of a block, for every format and for plain numbers, so that a kernel can be a
// template over the format. With i known but for the lane it is a few instructions; scales are loaded again for each
// number unless the compiler sees that they are the same, so loops over a block keep them outside where it matters.
#ifndef METALWORKS_QUANTIZE_METAL
#define METALWORKS_QUANTIZE_METAL

#include <metal_stdlib>
using namespace metal;

struct block_q8_0 {
    half d;
    char qs[32];
};

struct block_q4_0 {
    half d;
    uchar qs[16];
};

struct block_q4_1 {
    half d;
    half m;
    uchar qs[16];
};

struct block_q5_0 {
    half d;
    uchar qh[4];
    uchar qs[16];
};

struct block_q5_1 {
    half d;
    half m;
    uchar qh[4];
    uchar qs[16];
};

struct block_q4_K {
    half d;
    half dmin;
    uchar scales[12];
    uchar qs[128];
};

struct block_q5_K {
    half d;
    half dmin;
    uchar scales[12];
    uchar qh[32];
    uchar qs[128];
};

struct block_q6_K {
    uchar ql[128];
    uchar qh[64];
    char scales[16];
    half d;
};

static_assert(sizeof(block_q8_0) == 34, "as GGUF stores it");
static_assert(sizeof(block_q4_0) == 18, "as GGUF stores it");
static_assert(sizeof(block_q4_1) == 20, "as GGUF stores it");
static_assert(sizeof(block_q5_0) == 22, "as GGUF stores it");
static_assert(sizeof(block_q5_1) == 24, "as GGUF stores it");
static_assert(sizeof(block_q4_K) == 144, "as GGUF stores it");
static_assert(sizeof(block_q5_K) == 176, "as GGUF stores it");
static_assert(sizeof(block_q6_K) == 210, "as GGUF stores it");

// How many numbers an element of a row holds: BlockSize<block_q4_0>::value is 32, that of half is 1.
template <typename Block>
struct BlockSize {
    static constant constexpr uint value = 32;
};
template <>
struct BlockSize<block_q4_K> {
    static constant constexpr uint value = 256;
};
template <>
struct BlockSize<block_q5_K> {
    static constant constexpr uint value = 256;
};
template <>
struct BlockSize<block_q6_K> {
    static constant constexpr uint value = 256;
};
template <>
struct BlockSize<float> {
    static constant constexpr uint value = 1;
};
template <>
struct BlockSize<half> {
    static constant constexpr uint value = 1;
};
template <>
struct BlockSize<bfloat> {
    static constant constexpr uint value = 1;
};

// The 4 bits of number i < 32 in 16 bytes.
inline uint nibble(device const uchar* qs, uint i) {
    return (uint(qs[i & 15]) >> (i & 16 ? 4 : 0)) & 15;
}

// Scale (x) and minimum (y) of the 32 numbers `group` < 8 of a Q4_K or Q5_K block: eight pairs of 6 bits in 12 bytes. The
// first four have a byte each; the last four have their low 4 bits in the last four bytes and the rest above the first.
inline uint2 scale_and_minimum(device const uchar* scales, uint group) {
    if (group < 4) {
        return uint2(scales[group] & 63, scales[group + 4] & 63);
    }
    uint low = scales[group + 4];
    return uint2((low & 15) | (uint(scales[group - 4]) >> 6 << 4), (low >> 4) | (uint(scales[group]) >> 6 << 4));
}

inline float dequantize(device const float& number, uint) {
    return number;
}

inline float dequantize(device const half& number, uint) {
    return float(number);
}

inline float dequantize(device const bfloat& number, uint) {
    return float(number);
}

inline float dequantize(device const block_q8_0& block, uint i) {
    return float(block.d) * float(block.qs[i]);
}

inline float dequantize(device const block_q4_0& block, uint i) {
    return float(block.d) * float(int(nibble(block.qs, i)) - 8);
}

inline float dequantize(device const block_q4_1& block, uint i) {
    return float(block.d) * float(nibble(block.qs, i)) + float(block.m);
}

inline float dequantize(device const block_q5_0& block, uint i) {
    uint high = (uint(block.qh[i >> 3]) >> (i & 7)) & 1;
    return float(block.d) * float(int(nibble(block.qs, i) | high << 4) - 16);
}

inline float dequantize(device const block_q5_1& block, uint i) {
    uint high = (uint(block.qh[i >> 3]) >> (i & 7)) & 1;
    return float(block.d) * float(nibble(block.qs, i) | high << 4) + float(block.m);
}

inline float dequantize(device const block_q4_K& block, uint i) {
    uint group = i >> 5;
    uint2 parts = scale_and_minimum(block.scales, group);
    uint q = (uint(block.qs[(group >> 1) * 32 + (i & 31)]) >> ((group & 1) * 4)) & 15;
    return float(block.d) * float(parts.x) * float(q) - float(block.dmin) * float(parts.y);
}

inline float dequantize(device const block_q5_K& block, uint i) {
    uint group = i >> 5;
    uint2 parts = scale_and_minimum(block.scales, group);
    uint low = (uint(block.qs[(group >> 1) * 32 + (i & 31)]) >> ((group & 1) * 4)) & 15;
    uint high = (uint(block.qh[i & 31]) >> group) & 1;
    return float(block.d) * float(parts.x) * float(low | high << 4) - float(block.dmin) * float(parts.y);
}

inline float dequantize(device const block_q6_K& block, uint i) {
    // 128 numbers are four quarters of 32: low and high halves of 2 × 32 bytes of ql, and two bits each of 32 of qh.
    uint part = i >> 7;
    uint quarter = (i >> 5) & 3;
    uint at = i & 31;
    uint low = (uint(block.ql[part * 64 + (quarter & 1) * 32 + at]) >> ((quarter >> 1) * 4)) & 15;
    uint high = (uint(block.qh[part * 32 + at]) >> (quarter * 2)) & 3;
    return float(block.d) * float(block.scales[i >> 4]) * float(int(low | high << 4) - 32);
}

#endif
