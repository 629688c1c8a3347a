// test reflect
// A branch that a template argument excludes uses neither its function constants nor its threadgroup memory.
#include <metal_stdlib>
using namespace metal;

constant int short_steps [[function_constant(1)]];
constant int long_steps [[function_constant(2)]];
constant bool reversed [[function_constant(3)]];

template <bool is_long>
[[kernel]] void sort(device int *values, uint i [[thread_position_in_grid]]) {
  if (is_long) {
    threadgroup int large[256];
    large[i] = values[i];
  } else {
    threadgroup int small[32];
    small[i] = values[i];
  }
  values[i] = is_long ? long_steps : short_steps;
  if (is_long && reversed) {
    values[i] = 0;
  }
}

template [[host_name("sort_short")]] [[kernel]] decltype(sort<false>) sort<false>;
template [[host_name("sort_long")]] [[kernel]] decltype(sort<true>) sort<true>;

// reflect:
// {
//   "function_constants": [
//     { "index": 1, "name": "short_steps", "required": true, "type": "int" },
//     { "index": 2, "name": "long_steps", "required": true, "type": "int" },
//     { "index": 3, "name": "reversed", "required": true, "type": "bool" }
//   ],
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "values", "type": "device int *"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ],
//       "function_constants": [ 1 ], "line": 25, "name": "sort_short", "static_threadgroup_memory": 128,
//       "threadgroup_memory": [ { "align": 4, "name": "small", "size": 128, "type": "int [32]" } ]
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "values", "type": "device int *"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ],
//       "function_constants": [ 2, 3 ], "line": 26, "name": "sort_long", "static_threadgroup_memory": 1024,
//       "threadgroup_memory": [ { "align": 4, "name": "large", "size": 1024, "type": "int [256]" } ]
//     }
//   ]
// }
