// test check
#include <metal_stdlib>
using namespace metal;

#define BAD(x) ((x) + undeclared)
#define OUTER(x) BAD(x)
#define DECLARE(type) type variable
kernel void k(device int *out) {
  out[0] = BAD(1);  // error: undeclared identifier 'undeclared'
  out[1] = OUTER(1);  // error: undeclared identifier 'undeclared'
  out[2] = OUTER(missing) + 1;  // error: undeclared identifier 'missing' // error: undeclared identifier 'undeclared'
  DECLARE(Unknown);  // error: unknown type name 'Unknown'
}
