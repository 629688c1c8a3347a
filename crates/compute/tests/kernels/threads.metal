#include <metal_stdlib>
using namespace metal;

// Positions of a thread, in every form of every attribute. Numbers are laid out by the thread's position in the grid.
static uint place(uint3 position, uint3 grid) { return (position.z * grid.y + position.y) * grid.x + position.x; }

kernel void triples(device uint *out [[buffer(0)]], uint3 position [[thread_position_in_grid]],
                    uint3 local [[thread_position_in_threadgroup]], uint3 group [[threadgroup_position_in_grid]],
                    uint3 grid [[threads_per_grid]], uint3 size [[threads_per_threadgroup]],
                    uint3 groups [[threadgroups_per_grid]], uint3 asked [[dispatch_threads_per_threadgroup]]) {
  device packed_uint3 *mine = (device packed_uint3 *)out + place(position, grid) * 7;
  mine[0] = position;
  mine[1] = local;
  mine[2] = group;
  mine[3] = grid;
  mine[4] = size;
  mine[5] = groups;
  mine[6] = asked;
}

kernel void short_triples(device uint *out [[buffer(0)]], ushort3 position [[thread_position_in_grid]],
                          ushort3 local [[thread_position_in_threadgroup]],
                          ushort3 group [[threadgroup_position_in_grid]], ushort3 grid [[threads_per_grid]],
                          ushort3 size [[threads_per_threadgroup]], ushort3 groups [[threadgroups_per_grid]],
                          ushort3 asked [[dispatch_threads_per_threadgroup]]) {
  device packed_uint3 *mine = (device packed_uint3 *)out + place(uint3(position), uint3(grid)) * 7;
  mine[0] = uint3(position);
  mine[1] = uint3(local);
  mine[2] = uint3(group);
  mine[3] = uint3(grid);
  mine[4] = uint3(size);
  mine[5] = uint3(groups);
  mine[6] = uint3(asked);
}

kernel void pairs(device uint *out [[buffer(0)]], uint2 position [[thread_position_in_grid]],
                  uint2 local [[thread_position_in_threadgroup]], uint2 group [[threadgroup_position_in_grid]],
                  uint2 grid [[threads_per_grid]], uint2 size [[threads_per_threadgroup]],
                  uint2 groups [[threadgroups_per_grid]], uint2 asked [[dispatch_threads_per_threadgroup]]) {
  device packed_uint3 *mine = (device packed_uint3 *)out + (position.y * grid.x + position.x) * 7;
  mine[0] = uint3(position, 0);
  mine[1] = uint3(local, 0);
  mine[2] = uint3(group, 0);
  mine[3] = uint3(grid, 1);
  mine[4] = uint3(size, 1);
  mine[5] = uint3(groups, 1);
  mine[6] = uint3(asked, 1);
}

kernel void scalars(device uint *out [[buffer(0)]], uint position [[thread_position_in_grid]],
                    ushort local [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                    uint grid [[threads_per_grid]], ushort size [[threads_per_threadgroup]],
                    uint groups [[threadgroups_per_grid]], uint asked [[dispatch_threads_per_threadgroup]]) {
  device packed_uint3 *mine = (device packed_uint3 *)out + position * 7;
  mine[0] = uint3(position, 0, 0);
  mine[1] = uint3(local, 0, 0);
  mine[2] = uint3(group, 0, 0);
  mine[3] = uint3(grid, 1, 1);
  mine[4] = uint3(size, 1, 1);
  mine[5] = uint3(groups, 1, 1);
  mine[6] = uint3(asked, 1, 1);
}

kernel void numbers(device uint *out [[buffer(0)]], uint3 position [[thread_position_in_grid]],
                    uint3 grid [[threads_per_grid]], uint index [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]], ushort in_quad [[thread_index_in_quadgroup]],
                    uint width [[threads_per_simdgroup]], ushort width2 [[thread_execution_width]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]], ushort simdgroups [[simdgroups_per_threadgroup]],
                    uint quad [[quadgroup_index_in_threadgroup]], uint quads [[quadgroups_per_threadgroup]],
                    uint asked_simdgroups [[dispatch_simdgroups_per_threadgroup]],
                    ushort asked_quads [[dispatch_quadgroups_per_threadgroup]]) {
  device uint *mine = out + place(position, grid) * 11;
  mine[0] = index;
  mine[1] = lane;
  mine[2] = in_quad;
  mine[3] = width;
  mine[4] = width2;
  mine[5] = simdgroup;
  mine[6] = simdgroups;
  mine[7] = quad;
  mine[8] = quads;
  mine[9] = asked_simdgroups;
  mine[10] = asked_quads;
}
