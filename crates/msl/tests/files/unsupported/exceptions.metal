// test check
#include <metal_stdlib>
using namespace metal;

void thrower() {
  throw 1;  // error: cannot use 'throw' with exceptions disabled
}
void catcher() {
  try { thrower(); }  // error: cannot use 'try' with exceptions disabled
  catch (int) {}
}
