// test check
// Each call has twice as many arguments: the pack ends at 4,096, long before 1,024 instantiations.
template <typename... T> int f(int n, T... t) {
  return f(n, t..., t...);  // error: no matching function for call to 'f'
}
kernel void k(device int *o) { o[0] = f(1, 2); }
