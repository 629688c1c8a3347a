// Block formats of GGUF, exactly as files store them, and the decoder of each.
//
//   format  bytes  numbers  value of a number
//   Q8_0       34       32  d·q                 q signed, 8 bits
//   AFFINE8    36       32  d·q + m             q 8 bits; not in GGUF files: MLX's 6 and 8 bits become it
//   Q4_0       18       32  d·(q − 8)           q 4 bits
//   Q4_1       20       32  d·q + m             q 4 bits
//   Q5_0       22       32  d·(q − 16)          q 5 bits, the highest in qh
//   Q5_1       24       32  d·q + m             q 5 bits, the highest in qh
//   MXFP4      17       32  d·E2M1(q)           q 4 bits, a float; d a power of two, its exponent in a byte
//   IQ4_NL     18       32  d·curve[q]          q 4 bits, an index into a table of 16 values
//   Q2_K       84      256  d·s·q − dmin·m      q 2 bits; for every 16 numbers a scale s and a minimum m of 4 bits
//   Q3_K      110      256  d·s·(q − 4)         q 3 bits, the highest in qh; for every 16 numbers s, signed, 6 bits
//   Q4_K      144      256  d·s·q − dmin·m      q 4 bits; for every 32 numbers a scale s and a minimum m of 6 bits
//   Q5_K      176      256  d·s·q − dmin·m      q 5 bits, the highest in qh
//   Q6_K      210      256  d·s·(q − 32)        q 6 bits, the highest two in qh; for every 16 numbers s, signed, 8 bits
//   IQ4_XS    136      256  d·s·curve[q]        as IQ4_NL; for every 32 numbers s, signed, 6 bits
//
// In blocks of 32, the low nibbles of qs[0…15] are the numbers 0…15 and the high nibbles 16…31. In Q4_K and Q5_K, every
// 32 bytes of qs are 64 numbers: the low nibbles first. In Q6_K, every 64 bytes of ql and 32 of qh are 128 numbers.
//
// A decoder returns four weights of a block at a time from either layout of tiles.metal, or one. GROUP consecutive weights
// share a scale and an offset:
//
//     weight = scale · (q - CENTER) + offset
//
// q is the stored unsigned integer, or the integer that a table has for it. For products with bytes (packed.metal), a
// decoder returns four q in the bytes of a word. For products with numbers it returns v = 1 + q / 2^BITS, and the scale
// and offset for v: v is built by placing q's bits below the exponent of 1.0, which is one shift and one logical
// operation, where a conversion would take another. A kernel that sums v·x over a group adds offset·Σx once.
//
// To add a format, write its decoder and add it to a list at the end; the Rust side is in src/formats.
#ifndef METALWORKS_QUANTIZE_METAL
#define METALWORKS_QUANTIZE_METAL

#include <metal_stdlib>
#include "tiles.metal"
using namespace metal;

// 1 + q / 2^bits, where q is the `bits` bits of `word` from bit `from` on.
inline float unit_float(uint word, int from, int bits) {
    int left = 23 - bits - from;
    uint moved = left >= 0 ? word << left : word >> -left;
    uint mask = ((1u << bits) - 1) << (23 - bits);
    return as_type<float>((moved & mask) | 0x3f800000u);
}

// Four numbers of `bits` bits, one at bit `from` of each byte.
inline float4 unit_floats(uint word, int from, int bits) {
    return float4(unit_float(word, from, bits), unit_float(word, from + 8, bits),
                  unit_float(word, from + 16, bits), unit_float(word, from + 24, bits));
}

// Members of each decoder:
//   BLOCK, BYTES      numbers and bytes per block
//   GROUP             consecutive weights that share scale and offset
//   SPAN              consecutive weights whose words are shared by shifting them: their kernel knows all shifts
//   values(b, g, i)   v of the weights of unit i of group g: four of BlockUnits, one (x) of BlockNumbers
//   affine(b, g)      scale and offset of group g, for v
// and of each but Plain:
//   BITS, CENTER      bits of q, and the q that stands for 0 without an offset
//   bytes(b, g, i)    q of the weights of unit i of group g
//   scales(b, g)      scale and offset of group g, for q - CENTER
//   TOGETHER          columns that share words: more than 32 where a word has bits of distant groups
//   bytes_together(b, n, k, q)   q of the columns k … k + 3 of each 32 of the n-th TOGETHER columns of the block

// Members that follow from others.
template <typename F>
struct Quantized {
    static constant constexpr uint TOGETHER = 32;
    static void bytes_together(BlockUnits b, uint n, uint column, thread uint* q) {
        q[0] = F::bytes(b, (32 * n + column) / F::GROUP, column % F::GROUP / 4);
    }
    template <typename B>
    static float2 affine(B b, uint g) {
        float2 scales = F::scales(b, g);
        return float2(scales.x * float(1u << F::BITS), scales.y - scales.x * float((1u << F::BITS) + F::CENTER));
    }
};

// 34 bytes: half d; char q[32].   weight = d · q
struct q8_0 : Quantized<q8_0> {
    static constant constexpr uint BLOCK = 32, BYTES = 34, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 8, CENTER = 128;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        return unit_floats(b.numbers(2 + B::NUMBERS * i) ^ 0x80808080u, 0, 8);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return b.word(2 + 4 * i) ^ 0x80808080u;
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), 0.0f);
    }
};

// 36 bytes: half d, m; uchar q[32].   weight = d · q + m
struct affine8 : Quantized<affine8> {
    static constant constexpr uint BLOCK = 32, BYTES = 36, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 8, CENTER = 0;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        return unit_floats(b.numbers(4 + B::NUMBERS * i), 0, 8);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return b.word(4 + 4 * i);
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), b.scale(2));
    }
};

// 18 bytes: half d; uchar q[16], low halves are weights 0 … 15, high halves 16 … 31.   weight = d · (q - 8)
struct q4_0 : Quantized<q4_0> {
    static constant constexpr uint BLOCK = 32, BYTES = 18, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 4, CENTER = 8;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        return unit_floats(b.numbers(2 + k % 16), k / 16 * 4, 4);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return b.word(2 + 4 * i % 16) >> (i / 4 * 4) & 0x0f0f0f0fu;
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), 0.0f);
    }
};

// 20 bytes: half d, m; uchar q[16] as above.   weight = d · q + m
struct q4_1 : Quantized<q4_1> {
    static constant constexpr uint BLOCK = 32, BYTES = 20, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 4, CENTER = 0;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        return unit_floats(b.numbers(4 + k % 16), k / 16 * 4, 4);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return b.word(4 + 4 * i % 16) >> (i / 4 * 4) & 0x0f0f0f0fu;
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), b.scale(2));
    }
};

// Spreads four bits of `word`, from bit `from` on: one to each byte of the result, at bit 4.
inline uint fifth_bits(uint word, uint from) {
    uint bits = word >> from;
    return (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}

// 22 bytes: half d; uint h; uchar q[16] as above, the fifth bit of weight k is bit k of h.   weight = d · (q - 16)
struct q5_0 : Quantized<q5_0> {
    static constant constexpr uint BLOCK = 32, BYTES = 22, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 5, CENTER = 16;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        uint low = b.numbers(6 + k % 16) >> (k / 16 * 4) & 0x0f0f0f0fu;
        return unit_floats(low | fifth_bits(b.word(2), k), 0, 5);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return (b.word(6 + 4 * i % 16) >> (i / 4 * 4) & 0x0f0f0f0fu) | fifth_bits(b.word(2), 4 * i);
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), 0.0f);
    }
};

// 24 bytes: half d, m; uint h; uchar q[16] as above.   weight = d · q + m
struct q5_1 : Quantized<q5_1> {
    static constant constexpr uint BLOCK = 32, BYTES = 24, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 5, CENTER = 0;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        uint low = b.numbers(8 + k % 16) >> (k / 16 * 4) & 0x0f0f0f0fu;
        return unit_floats(low | fifth_bits(b.word(4), k), 0, 5);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return (b.word(8 + 4 * i % 16) >> (i / 4 * 4) & 0x0f0f0f0fu) | fifth_bits(b.word(4), 4 * i);
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), b.scale(2));
    }
};

// A byte of all ones for each byte of `word` that has the bit `from`, zeros for the others.
inline uint byte_mask(uint word, uint from) {
    uint bits = word >> from & 0x01010101u;
    return (bits << 8) - bits;
}

// The numbers of E2M1 (sign, two bits of exponent, one of mantissa) of four nibbles, one in each byte: doubled, plus 12.
// Magnitudes 0, 1, 2, 3, 4, 6, 8, 12: from 4 on, the lower two bits count twice, and another two if both are set.
// Arithmetic on four bytes at a time takes less than four reads of a table.
inline uint e2m1_bytes(uint nibbles) {
    uint is_large = nibbles >> 2 & 0x01010101u;
    uint low = nibbles & (is_large | is_large << 1);
    uint magnitudes = (nibbles & 0x07070707u) + low + ((low & low >> 1) & 0x01010101u) * 2u;
    return magnitudes + 0x0c0c0c0cu - 2u * (magnitudes & byte_mask(nibbles, 3));
}

// 17 bytes: uchar e; uchar q[16] as in Q4_0.   weight = 2^(e - 128) · 2 E2M1(q)
struct mxfp4 : Quantized<mxfp4> {
    static constant constexpr uint BLOCK = 32, BYTES = 17, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 5, CENTER = 12;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        return unit_floats(e2m1_bytes(b.odd_numbers(1 + k % 16) >> (k / 16 * 4) & 0x0f0f0f0fu), 0, 5);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return e2m1_bytes(b.odd_numbers(1 + 4 * i % 16) >> (i / 4 * 4) & 0x0f0f0f0fu);
    }
    template <typename B>
    static float2 scales(B b, uint) {
        uint e = b.byte(0);
        // The smallest two have no exponent of their own in float.
        return float2(as_type<float>(e < 2 ? 0x00200000u << e : (e - 1) << 23), 0.0f);
    }
};

// Selects bits: those of `one` for ones of the mask, of `zero` for zeros.
inline uint select_bits(uint mask, uint zero, uint one) {
    return zero ^ (mask & (zero ^ one));
}

// The values of the curve of IQ4_NL for four nibbles, one in each byte, plus 128:
//   -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
// A tree of choices by the bits of the nibbles, all four at a time. CPUs and GPUs have an instruction for a choice.
inline uint curve_bytes(uint nibbles) {
    uint bit0 = byte_mask(nibbles, 0), bit1 = byte_mask(nibbles, 1);
    uint part0 = select_bits(bit1, select_bits(bit0, 0x01010101u, 0x18181818u), select_bits(bit0, 0x2d2d2d2du, 0x3f3f3f3fu));
    uint part1 = select_bits(bit1, select_bits(bit0, 0x4f4f4f4fu, 0x5d5d5d5du), select_bits(bit0, 0x6a6a6a6au, 0x76767676u));
    uint part2 = select_bits(bit1, select_bits(bit0, 0x81818181u, 0x8d8d8d8du), select_bits(bit0, 0x99999999u, 0xa6a6a6a6u));
    uint part3 = select_bits(bit1, select_bits(bit0, 0xb5b5b5b5u, 0xc5c5c5c5u), select_bits(bit0, 0xd9d9d9d9u, 0xf1f1f1f1u));
    uint bit2 = byte_mask(nibbles, 2), bit3 = byte_mask(nibbles, 3);
    return select_bits(bit3, select_bits(bit2, part0, part1), select_bits(bit2, part2, part3));
}

// 18 bytes: half d; uchar q[16] as in Q4_0.   weight = d · curve[q]
struct iq4_nl : Quantized<iq4_nl> {
    static constant constexpr uint BLOCK = 32, BYTES = 18, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 8, CENTER = 128;
    template <typename B>
    static float4 values(B b, uint, uint i) {
        uint k = B::NUMBERS * i;
        return unit_floats(curve_bytes(b.numbers(2 + k % 16) >> (k / 16 * 4)), 0, 8);
    }
    static uint bytes(BlockUnits b, uint, uint i) {
        return curve_bytes(b.word(2 + 4 * i % 16) >> (i / 4 * 4));
    }
    template <typename B>
    static float2 scales(B b, uint) {
        return float2(b.scale(0), 0.0f);
    }
};

// 136 bytes: half d; ushort high; uint low; uchar q[128], of each 16 bytes as in Q4_0. The scale of group g has its lower
// four bits in the nibble g of low, the upper two at bit 2g of high.   weight = d · (scale - 32) · curve[q]
struct iq4_xs : Quantized<iq4_xs> {
    static constant constexpr uint BLOCK = 256, BYTES = 136, GROUP = 32, SPAN = 32;
    static constant constexpr uint BITS = 8, CENTER = 128;
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        uint k = B::NUMBERS * i;
        return unit_floats(curve_bytes(b.numbers(8 + 16 * g + k % 16) >> (k / 16 * 4)), 0, 8);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        return curve_bytes(b.word(8 + 16 * g + 4 * i % 16) >> (i / 4 * 4));
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        uint low = b.word(4) >> (4 * g) & 15u, high = b.half_word(2) >> (2 * g) & 3u;
        return float2(b.scale(0) * float(int(low | high << 4) - 32), 0.0f);
    }
};

// Q2_K and Q3_K: of each 128 weights, the quarter r has two bits at bit 2r of 32 bytes of q. In tiles, the block's scales
// come first, then those of the groups: they are read first. Then, for each four columns of Q3_K, follow the word of h[] and
// the two words of q[].

// 84 bytes: uchar scales[16], of each the low nibble a scale, the high one a minimum; uchar q[64]; half d, dmin.
// weight = d · scale · q - dmin · minimum
struct q2_K : Quantized<q2_K> {
    static constant constexpr uint BLOCK = 256, BYTES = 84, GROUP = 16, SPAN = 128, TOGETHER = 128;
    static constant constexpr uint BITS = 2, CENTER = 0;
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        return unit_floats(b.numbers((TILED ? 20 : 16) + g / 8 * 32 + g % 2 * 16 + B::NUMBERS * i) >> (g / 2 % 4 * 2), 0, 2);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        return b.word((TILED ? 20 : 16) + g / 8 * 32 + g % 2 * 16 + 4 * i) >> (g / 2 % 4 * 2) & 0x03030303u;
    }
    static void bytes_together(BlockUnits b, uint n, uint column, thread uint* q) {
        uint word = b.word((TILED ? 20 : 16) + 32 * n + column);
        for (uint r = 0; r < 4; r++) {
            q[r] = word >> (2 * r) & 0x03030303u;
        }
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        uint packed = b.word((TILED ? 4 : 0) + g / 4 * 4) >> (g % 4 * 8);
        return float2(b.scale(TILED ? 0 : 80) * float(packed & 15u), -b.scale(TILED ? 2 : 82) * float(packed >> 4 & 15u));
    }
};

// 110 bytes: uchar h[32], q[64], scales[12]; half d. The third bit of weight k is bit k / 32 of h[k % 32]. The scale of
// group g has its lower four bits in a nibble of scales[g % 8], the low one up to group 7, and its upper two bits at bit
// 2 (g / 4) of scales[8 + g % 4].   weight = d · (scale - 32) · (q - 4)
struct q3_K : Quantized<q3_K> {
    static constant constexpr uint BLOCK = 256, BYTES = 110, GROUP = 16, SPAN = 128, TOGETHER = 256;
    static constant constexpr uint BITS = 3, CENTER = 4;
    // Low bits of the columns `column` … `column` + 3 of the four quarters of half n.
    template <typename B>
    static uint low(B b, uint n, uint column) {
        return b.numbers(TILED ? 18 + 3 * column + 4 * n : 32 + 32 * n + column);
    }
    // High bits of the same columns, of all quarters.
    template <typename B>
    static uint high(B b, uint column) {
        return b.numbers(TILED ? 14 + 3 * column : column);
    }
    template <typename B>
    static uint integers(B b, uint g, uint i) {
        uint n = g / 8, r = g / 2 % 4, column = g % 2 * 16 + B::NUMBERS * i;
        uint lower = low(b, n, column) >> (2 * r) & 0x03030303u;
        return lower | (high(b, column) >> (4 * n + r) & 0x01010101u) << 2;
    }
    static void bytes_together(BlockUnits b, uint, uint column, thread uint* q) {
        uint upper = high(b, column);
        for (uint n = 0; n < 2; n++) {
            uint lower = low(b, n, column);
            for (uint r = 0; r < 4; r++) {
                q[4 * n + r] = (lower >> (2 * r) & 0x03030303u) | (upper >> (4 * n + r) & 0x01010101u) << 2;
            }
        }
    }
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        return unit_floats(integers(b, g, i), 0, 3);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        return integers(b, g, i);
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        uint start = TILED ? 2 : 96, byte = g % 4 * 8;
        uint low = b.word(start + g % 8 / 4 * 4) >> (byte + g / 8 * 4) & 15u;
        uint high = b.word(start + 8) >> (byte + g / 4 * 2) & 3u;
        return float2(b.scale(TILED ? 0 : 108) * float(int(low | high << 4) - 32), 0.0f);
    }
};

// The scale and the minimum of group g of Q4_K and Q5_K, six bits each, packed in the 12 bytes from 4 on:
//   bytes 0 … 3    scales of the groups 0 … 3; their upper two bits belong to the scales of the groups 4 … 7
//   bytes 4 … 7    minima, likewise
//   bytes 8 … 11   of the groups 4 … 7 the lower four bits: scales in the low halves, minima in the high halves
template <typename B>
inline float2 packed_scale_and_minimum(B b, uint g) {
    // Without branches, for kernels that loop over groups.
    bool is_early = g < 4;
    uint shift = 8 * (g % 4), low_mask = is_early ? 63u : 15u, high_mask = is_early ? 0u : 0x30u;
    uint scale = b.word(is_early ? 4 : 12) >> shift, minimum = b.word(is_early ? 8 : 12) >> (is_early ? shift : shift + 4);
    return float2((scale & low_mask) | (b.word(4) >> (shift + 2) & high_mask),
                  (minimum & low_mask) | (b.word(8) >> (shift + 2) & high_mask));
}

// 144 bytes: half d, dmin; uchar scales[12]; uchar q[128]: of each 32 bytes, the low nibbles are one group, the high
// nibbles the next.   weight = d · scale · q - dmin · minimum
struct q4_K : Quantized<q4_K> {
    static constant constexpr uint BLOCK = 256, BYTES = 144, GROUP = 32, SPAN = 64, TOGETHER = 64;
    static constant constexpr uint BITS = 4, CENTER = 0;
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        return unit_floats(b.numbers(16 + g / 2 * 32 + B::NUMBERS * i) >> (g % 2 * 4), 0, 4);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        return b.word(16 + g / 2 * 32 + 4 * i) >> (g % 2 * 4) & 0x0f0f0f0fu;
    }
    static void bytes_together(BlockUnits b, uint n, uint column, thread uint* q) {
        uint word = b.word(16 + 32 * n + column);
        q[0] = word & 0x0f0f0f0fu;
        q[1] = word >> 4 & 0x0f0f0f0fu;
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        float2 packed = packed_scale_and_minimum(b, g);
        return float2(b.scale(0) * packed.x, -b.scale(2) * packed.y);
    }
};

// 176 bytes: half d, dmin; uchar scales[12]; uchar h[32]; uchar q[128] as above; the fifth bit of weight k of group g
// is bit g of h[k].   weight = d · scale · q - dmin · minimum
//
// In tiles, for each four columns of a group, the word of h[] is followed by the four words of q[].
struct q5_K : Quantized<q5_K> {
    static constant constexpr uint BLOCK = 256, BYTES = 176, GROUP = 32, SPAN = 64, TOGETHER = 256;
    static constant constexpr uint BITS = 5, CENTER = 0;
    // Low bits of the columns `column` … `column` + 3, of the groups 2 · pair and 2 · pair + 1.
    template <typename B>
    static uint low(B b, uint pair, uint column) {
        return b.numbers(TILED ? 20 + 5 * column + 4 * pair : 48 + 32 * pair + column);
    }
    // High bits of the same columns, of all groups.
    template <typename B>
    static uint high(B b, uint column) {
        return b.numbers(TILED ? 16 + 5 * column : 16 + column);
    }
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        uint column = B::NUMBERS * i;
        uint lower = low(b, g / 2, column) >> (g % 2 * 4) & 0x0f0f0f0fu;
        return unit_floats(lower | (high(b, column) >> g & 0x01010101u) << 4, 0, 5);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        uint lower = low(b, g / 2, 4 * i) >> (g % 2 * 4) & 0x0f0f0f0fu;
        return lower | (high(b, 4 * i) >> g & 0x01010101u) << 4;
    }
    static void bytes_together(BlockUnits b, uint, uint column, thread uint* q) {
        uint upper = high(b, column);
        for (uint pair = 0; pair < 4; pair++) {
            uint lower = low(b, pair, column);
            q[2 * pair] = (lower & 0x0f0f0f0fu) | (upper >> (2 * pair) & 0x01010101u) << 4;
            q[2 * pair + 1] = (lower >> 4 & 0x0f0f0f0fu) | (upper >> (2 * pair + 1) & 0x01010101u) << 4;
        }
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        float2 packed = packed_scale_and_minimum(b, g);
        return float2(b.scale(0) * packed.x, -b.scale(2) * packed.y);
    }
};

// 210 bytes: uchar low[128], high[64]; char scales[16]; half d. Of each 128 weights, the quarter r has its low four
// bits in low[32 · (r % 2) …], low or high nibbles, and the upper two in the bits 2r of high.   weight = d · scale · (q
// - 32)
//
// In tiles, the block's scale and the groups' scales come first. Then, for each four columns of a quarter, follow the
// word of low[] that two quarters share, the word of the other two, and the word of high[]: a product reads a tile
// sequentially. In the order of the block it would read three places at a time, which CPUs do not prefetch. Q3_K and Q5_K
// are laid out likewise.
struct q6_K : Quantized<q6_K> {
    static constant constexpr uint BLOCK = 256, BYTES = 210, GROUP = 16, SPAN = 128, TOGETHER = 128;
    static constant constexpr uint BITS = 6, CENTER = 32;
    // Low bits of the columns `column` … `column` + 3, of the quarters `odd` and `odd` + 2 of half n.
    template <typename B>
    static uint low(B b, uint n, uint odd, uint column) {
        return b.numbers(TILED ? 18 + 96 * n + 3 * column + 4 * odd : 64 * n + 32 * odd + column);
    }
    // High bits of the same columns, of all quarters.
    template <typename B>
    static uint high(B b, uint n, uint column) {
        return b.numbers(TILED ? 26 + 96 * n + 3 * column : 128 + 32 * n + column);
    }
    template <typename B>
    static float4 values(B b, uint g, uint i) {
        uint n = g / 8, r = g / 2 % 4, column = g % 2 * 16 + B::NUMBERS * i;
        uint lower = low(b, n, r % 2, column) >> (r / 2 * 4) & 0x0f0f0f0fu;
        uint upper = high(b, n, column) >> (2 * r) & 0x03030303u;
        return unit_floats(lower | upper << 4, 0, 6);
    }
    static uint bytes(BlockUnits b, uint g, uint i) {
        uint n = g / 8, r = g / 2 % 4, column = g % 2 * 16 + 4 * i;
        uint lower = low(b, n, r % 2, column) >> (r / 2 * 4) & 0x0f0f0f0fu;
        return lower | (high(b, n, column) >> (2 * r) & 0x03030303u) << 4;
    }
    static void bytes_together(BlockUnits b, uint n, uint column, thread uint* q) {
        uint even = low(b, n, 0, column), odd = low(b, n, 1, column), upper = high(b, n, column);
        q[0] = (even & 0x0f0f0f0fu) | (upper & 0x03030303u) << 4;
        q[1] = (odd & 0x0f0f0f0fu) | (upper >> 2 & 0x03030303u) << 4;
        q[2] = (even >> 4 & 0x0f0f0f0fu) | (upper >> 4 & 0x03030303u) << 4;
        q[3] = (odd >> 4 & 0x0f0f0f0fu) | (upper >> 6 & 0x03030303u) << 4;
    }
    template <typename B>
    static float2 scales(B b, uint g) {
        int scale = int(b.word((TILED ? 2 : 192) + g / 4 * 4) << (24 - g % 4 * 8)) >> 24;
        return float2(b.scale(TILED ? 0 : 208) * float(scale), 0.0f);
    }
};

// Plain numbers; 32 of them are a block, in units of one number.
template <typename T>
struct Plain {
    static constant constexpr uint BLOCK = 32, BYTES = 32 * sizeof(T), GROUP = 32, SPAN = 32, TOGETHER = 32;
    static float number(BlockUnits b, uint i) {
        device const uchar* at = b.start + i * sizeof(T) * (TILED ? TILE_ROWS : 1);
        return float(((device const T*)at)[TILED ? b.lane : 0]);
    }
    static float4 values(BlockUnits b, uint, uint i) {
        return float4(number(b, 4 * i), number(b, 4 * i + 1), number(b, 4 * i + 2), number(b, 4 * i + 3));
    }
    static float4 values(BlockNumbers b, uint, uint i) {
        return float4(float(((device const T*)b.start)[i]));
    }
    template <typename B>
    static float2 affine(B, uint) {
        return float2(1.0f, 0.0f);
    }
};

// Weights `first` … `first` + 3 of a block; `first` is a multiple of four.
template <typename F>
inline float4 dequantize(BlockUnits block, uint first) {
    uint group = first / F::GROUP;
    float2 affine = F::affine(block, group);
    return affine.x * F::values(block, group, first % F::GROUP / 4) + affine.y;
}

// Weight `first` + `lane` of a block in the layout `blocks`, where `first` is a multiple of 32 and the same for all lanes:
// then so are group, scale and offset, unless groups are shorter.
template <typename F>
inline float dequantize_lane(device const uchar* block, uint first, uint lane) {
    BlockNumbers numbers = {block};
    uint group = first / F::GROUP + (F::GROUP < 32 ? lane / F::GROUP : 0);
    float2 affine = F::affine(numbers, group);
    return affine.x * F::values(numbers, group, F::GROUP < 32 ? lane % F::GROUP : lane).x + affine.y;
}

// Lists of all formats, by their names in kernel names and their decoders, for an X(name, F) that instantiates kernels.
#define PLAIN_FORMATS(X) X("f32", Plain<float>) X("f16", Plain<half>) X("bf16", Plain<bfloat>)
#define Q8_FORMATS(X) X("q8_0", q8_0) X("affine8", affine8)
#define Q4_FORMATS(X) X("q4_0", q4_0) X("q4_1", q4_1)
#define TABLE_FORMATS(X) X("mxfp4", mxfp4) X("iq4_nl", iq4_nl) X("iq4_xs", iq4_xs)
#define Q5_FORMATS(X) X("q5_0", q5_0) X("q5_1", q5_1)
#define LOW_BITS(X) X("q2_K", q2_K) X("q3_K", q3_K)
#define K_QUANTS(X) X("q4_K", q4_K) X("q5_K", q5_K) X("q6_K", q6_K)
#define ALL_FORMATS(X) PLAIN_FORMATS(X) Q8_FORMATS(X) Q4_FORMATS(X) Q5_FORMATS(X) TABLE_FORMATS(X) LOW_BITS(X) K_QUANTS(X)

#endif
