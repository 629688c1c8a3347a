// test check
// options: -W
#include <metal_stdlib>
using namespace metal;

enum class Kind : uchar { A, B, C, D };

kernel void k(device int *x, uint i [[thread_position_in_grid]]) {
  switch (x[i]) {
    case 1 ... 5: x[i] = 1; break;
    case 7: x[i] = 2; break;
    case 'a' ... 'z': x[i] = 3; break;
    case -4 ... -2: x[i] = 4; break;
    default: x[i] = 0;
  }
  switch (Kind(x[i])) {
    case Kind::A ... Kind::B: x[i] = 1; break;
    default: break;
  }
  switch (x[i]) {
    case 1 ... 5: break;
    case 4 ... 6: break;  // error: duplicate case value '4'  // error: duplicate case value '5'
    case 9 ... 8: break;  // warning: empty case range specified
    case 10 ... x[0]: break;  // error: case value is not a constant expression
    case 100 ... 100000: break;  // error: case range has more than 4096 values
    default: break;
  }
}
