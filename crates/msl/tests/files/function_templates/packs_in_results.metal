// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

template <typename F, typename... Args>
auto call(F f, Args... args) -> decltype(f(args...)) {
  return f(args...);
}

template <typename T, typename... Rest>
auto sum(T first, Rest... rest) -> decltype((first + ... + rest)) {
  return (first + ... + rest);
}

kernel void k(device int *o) {
  o[0] = call([](int a, int b) { return a * b; }, 3, 4);
  static_assert(is_same_v<decltype(sum(1, 2.0f)), float>, "");
  o[1] = sum(1, 2, 3);
  o[2] = call(3, 4);  // error: no matching function for call to 'call'
}
