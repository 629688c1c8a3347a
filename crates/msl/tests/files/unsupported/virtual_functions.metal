// test check
#include <metal_stdlib>
using namespace metal;

struct Shape {
  virtual float area() const;  // error: virtual functions are not supported in Metal
};
