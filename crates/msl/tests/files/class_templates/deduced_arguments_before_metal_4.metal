// test check
template <typename T> struct Box { T value; Box(T value) : value(value) {} };

kernel void k(device float *out) {
  Box a(1.0f);  // error: use of class template 'Box' requires template arguments
  out[0] = Box(2.0f).value;  // error: use of class template 'Box' requires template arguments
}
