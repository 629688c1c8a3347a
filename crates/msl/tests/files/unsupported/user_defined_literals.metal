// test check
constexpr int operator""_k(unsigned long x) { return int(x) * 1000; }  // error: user-defined literals are not supported in Metal
kernel void k(device int *out) {
  out[0] = 3_k;  // error: invalid suffix '_k' on integer constant
}
