// test check
#include <metal_stdlib>
using namespace metal;

struct S {
  ~S() {}  // error: destructor
};
