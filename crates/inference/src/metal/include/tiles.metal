// The two layouts of a matrix in memory, for kernels that take 32 rows at a time. quantize.metal has the formats.
//
// A row of K weights is K / BLOCK blocks of BYTES bytes; K is a multiple of BLOCK. The function constant TILED selects
// the layout:
//
//     blocks   GGUF's own: row after row, block after block. Units are at odd addresses, adjacent rows far apart.
//     tiles    32 rows at a time: first block of each of the 32 rows, then second block, … The 32 blocks of a tile are
//              cut into units, 8- and 16-bit scales and 32-bit words, in the order of the block (except in Q2_K, Q3_K
//              and Q6_K); each unit is stored for the 32 rows side by side. So lanes that are rows load whole cache
//              lines, every word of a tile is aligned, and the matrix has the same size as before (N rounded up to
//              32; missing rows are 0).
//
// Unit o of a block is at  tile + 32 · o + row % 32 · sizeof(unit),  where o is its offset in the block.
#ifndef METALWORKS_TILES_METAL
#define METALWORKS_TILES_METAL

#include <metal_stdlib>
using namespace metal;

constant bool TILED [[function_constant(29)]];

// Rows of a tile.
constant constexpr uint TILE_ROWS = 32;

// A word at any even address.
inline uint unaligned_word(device const uchar* at) {
    device const ushort* halves = (device const ushort*)at;
    return uint(halves[0]) | uint(halves[1]) << 16;
}

// A word at any address.
inline uint odd_word(device const uchar* at) {
    return uint(at[0]) | uint(at[1]) << 8 | uint(at[2]) << 16 | uint(at[3]) << 24;
}

// A block of one row, in either layout.
struct BlockUnits {
    device const uchar* start; // of the tile, or of the block
    uint lane;                 // the row in its tile

    // Consecutive numbers, one in each byte of the word at `offset`.
    static constant constexpr uint NUMBERS = 4;
    uint numbers(uint offset) const {
        return word(offset);
    }

    // The same in a block with an odd number of bytes.
    uint odd_numbers(uint offset) const {
        return TILED ? word(offset) : odd_word(start + offset);
    }

    uint byte(uint offset) const {
        return TILED ? (start + TILE_ROWS * offset)[lane] : start[offset];
    }

    uint half_word(uint offset) const {
        return TILED ? ((device const ushort*)(start + TILE_ROWS * offset))[lane] : *(device const ushort*)(start + offset);
    }

    uint word(uint offset) const {
        return TILED ? ((device const uint*)(start + TILE_ROWS * offset))[lane] : unaligned_word(start + offset);
    }

    float scale(uint offset) const {
        return TILED ? float(((device const half*)(start + TILE_ROWS * offset))[lane])
                     : float(*(device const half*)(start + offset));
    }
};

// A block in the layout `blocks`, number by number: lanes that stand for consecutive numbers read consecutive bytes.
struct BlockNumbers {
    device const uchar* start;

    // One number, in the byte at `offset`.
    static constant constexpr uint NUMBERS = 1;
    uint numbers(uint offset) const {
        return start[offset];
    }

    uint odd_numbers(uint offset) const {
        return start[offset];
    }

    uint byte(uint offset) const {
        return start[offset];
    }

    uint half_word(uint offset) const {
        return *(device const ushort*)(start + offset);
    }

    uint word(uint offset) const {
        return unaligned_word(start + offset);
    }

    float scale(uint offset) const {
        return float(*(device const half*)(start + offset));
    }
};

// A row of a matrix. The tile has its own field, so that it is uniform for lanes that are the rows of one tile.
struct Row {
    uint tile;
    uint lane;
};

// Block `block` of a row, of a matrix with `columns` columns of the format F.
template <typename F>
inline BlockUnits block_units(device const uchar* matrix, uint columns, Row row, uint block) {
    ulong blocks = columns / F::BLOCK;
    ulong first = TILED ? (row.tile * blocks + block) * TILE_ROWS
                        : (ulong(row.tile) * TILE_ROWS + row.lane) * blocks + block;
    return BlockUnits{matrix + first * F::BYTES, row.lane};
}

#endif
