// test check
kernel void refused(device float *out) {
  out[0] = metal::sin(1.0f);  // error: metal
  out[1] = sin(1.0f);  // error: undeclared identifier 'sin'
}
