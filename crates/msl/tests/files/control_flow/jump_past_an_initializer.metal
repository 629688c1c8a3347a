// test check
#include <metal_stdlib>
using namespace metal;

void jump(int n) {
  switch (n) {
    case 0: int y = 1; break;
    case 1: break;  // error: cannot jump from switch statement to this case label
  }
}
