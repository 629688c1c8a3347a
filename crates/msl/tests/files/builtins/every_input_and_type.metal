// test check
#include <metal_stdlib>
using namespace metal;

kernel void grid_scalars(uint a [[thread_position_in_grid]], uint b [[thread_position_in_threadgroup]],
                         uint c [[threadgroup_position_in_grid]], uint d [[threadgroups_per_grid]],
                         uint e [[threads_per_grid]], uint f [[threads_per_threadgroup]],
                         uint g [[dispatch_threads_per_threadgroup]]) {}
kernel void grid_shorts(ushort a [[thread_position_in_grid]], ushort b [[thread_position_in_threadgroup]],
                        ushort c [[threadgroup_position_in_grid]], ushort d [[threadgroups_per_grid]],
                        ushort e [[threads_per_grid]], ushort f [[threads_per_threadgroup]],
                        ushort g [[dispatch_threads_per_threadgroup]]) {}
kernel void grid_pairs(uint2 a [[thread_position_in_grid]], uint2 b [[thread_position_in_threadgroup]],
                       uint2 c [[threadgroup_position_in_grid]], uint2 d [[threadgroups_per_grid]],
                       uint2 e [[threads_per_grid]], uint2 f [[threads_per_threadgroup]],
                       uint2 g [[dispatch_threads_per_threadgroup]]) {}
kernel void grid_triples(uint3 a [[thread_position_in_grid]], uint3 b [[thread_position_in_threadgroup]],
                         uint3 c [[threadgroup_position_in_grid]], uint3 d [[threadgroups_per_grid]],
                         uint3 e [[threads_per_grid]], uint3 f [[threads_per_threadgroup]],
                         uint3 g [[dispatch_threads_per_threadgroup]]) {}
kernel void grid_short_pairs(ushort2 a [[thread_position_in_grid]], ushort2 b [[thread_position_in_threadgroup]],
                             ushort2 c [[threadgroup_position_in_grid]], ushort2 d [[threadgroups_per_grid]],
                             ushort2 e [[threads_per_grid]], ushort2 f [[threads_per_threadgroup]],
                             ushort2 g [[dispatch_threads_per_threadgroup]]) {}
kernel void grid_short_triples(ushort3 a [[thread_position_in_grid]], ushort3 b [[thread_position_in_threadgroup]],
                               ushort3 c [[threadgroup_position_in_grid]], ushort3 d [[threadgroups_per_grid]],
                               ushort3 e [[threads_per_grid]], ushort3 f [[threads_per_threadgroup]],
                               ushort3 g [[dispatch_threads_per_threadgroup]]) {}
kernel void numbers(uint a [[thread_index_in_threadgroup]], uint b [[thread_index_in_simdgroup]],
                    uint c [[thread_index_in_quadgroup]], uint d [[thread_execution_width]],
                    uint e [[threads_per_simdgroup]], uint f [[simdgroup_index_in_threadgroup]],
                    uint g [[simdgroups_per_threadgroup]], uint h [[dispatch_simdgroups_per_threadgroup]],
                    uint i [[quadgroup_index_in_threadgroup]], uint j [[quadgroups_per_threadgroup]],
                    uint k [[dispatch_quadgroups_per_threadgroup]]) {}
kernel void shorts(ushort a [[thread_index_in_threadgroup]], ushort b [[thread_index_in_simdgroup]],
                   ushort c [[thread_index_in_quadgroup]], ushort d [[thread_execution_width]],
                   ushort e [[threads_per_simdgroup]], ushort f [[simdgroup_index_in_threadgroup]],
                   ushort g [[simdgroups_per_threadgroup]], ushort h [[dispatch_simdgroups_per_threadgroup]],
                   ushort i [[quadgroup_index_in_threadgroup]], ushort j [[quadgroups_per_threadgroup]],
                   ushort k [[dispatch_quadgroups_per_threadgroup]]) {}
kernel void scalar_beside_vector(uint3 a [[thread_position_in_grid]], uint b [[thread_index_in_threadgroup]],
                                 const uint3 c [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]]) {}
kernel void other_spellings(uint32_t a [[thread_position_in_grid]], vec<uint, 3> b [[threads_per_grid]],
                            unsigned int c [[threads_per_threadgroup]], uint16_t d [[thread_index_in_simdgroup]],
                            metal::uint3 e [[threadgroup_position_in_grid]]) {}
kernel void both_kinds(uint a [[thread_position_in_grid]], ushort b [[thread_position_in_threadgroup]]) {}
