// Mixtures of experts: which vectors are multiplied with the matrix of which expert.
//
// The matrices of all experts of a layer are one after the other, each in the layout of tiles.metal. A product with them
// takes tiles of vectors, each for one expert, from a table that another kernel wrote: the device alone knows which experts
// are used, and only their matrices are read.
#ifndef METALWORKS_EXPERT_TILES_METAL
#define METALWORKS_EXPERT_TILES_METAL

#include "tiles.metal"

constant bool EXPERTS [[function_constant(60)]]; // a product with the matrices of several experts, by a table of tiles

// Vectors that one expert takes: `count` of them, 0 for a tile that is not used.
struct ExpertTile {
    uint expert;
    uint count;
    uint x; // row of the first vector
    uint y; // row of its result
};

// Structs are copied member by member between address spaces.
inline ExpertTile load_tile(device const ExpertTile* tiles, uint i) {
    return ExpertTile{tiles[i].expert, tiles[i].count, tiles[i].x, tiles[i].y};
}

inline void store_tile(device ExpertTile* tiles, uint i, ExpertTile tile) {
    tiles[i].expert = tile.expert;
    tiles[i].count = tile.count;
    tiles[i].x = tile.x;
    tiles[i].y = tile.y;
}

// Bytes of a matrix of the format F in the layout of tiles.metal: the distance from one expert to the next.
template <typename F>
inline ulong matrix_bytes(uint rows, uint columns) {
    ulong stored = TILED ? (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS : rows;
    return stored * (columns / F::BLOCK) * F::BYTES;
}

#endif
