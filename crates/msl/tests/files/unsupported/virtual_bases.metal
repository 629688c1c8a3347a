// test check
#include <metal_stdlib>
using namespace metal;

struct Base {};
struct Derived : virtual Base {};  // error: virtual base classes are not supported in Metal
