// test check
// options: -W
#include <metal_stdlib>
using namespace metal;

struct alignas(3) Three { int x; };  // error: requested alignment is not a power of 2
struct __attribute__((aligned(0))) Zero { int x; };  // error: requested alignment is not a power of 2
struct alignas(-4) Negative { int x; };  // error: requested alignment is not a power of 2
struct alignas(1 << 29) Large { int x; };  // error: requested alignment must be 268435456 bytes or smaller
struct alignas(2) Weak { int x; };  // error: requested alignment is less than minimum alignment of 4 for type 'Weak'
struct alignas(0) Nothing { int x; };
struct __attribute__((aligned(2))) Fine { int x; };
static_assert(alignof(Fine) == 4, "");
struct __attribute__((aligned)) Most { char x; };
static_assert(alignof(Most) == 16, "");
struct Members {
  alignas(1) float f;  // error: requested alignment is less than minimum alignment of 4 for type 'float'
  alignas(8) uint bits : 3;  // error: 'alignas' attribute cannot be applied to a bit-field
  __attribute__((aligned(8, 16))) int two;  // error: 'aligned' attribute takes no more than 1 argument
  alignas(1.5f) int fraction;  // error: 'alignas' attribute requires an integer constant
};
alignas(2) constant float table = 1;  // error: requested alignment is less than minimum alignment of 4
typedef float lowered __attribute__((aligned(2)));  // error: 'aligned' cannot lower the alignment of 'float' from 4
typedef float aligned_float __attribute__((aligned(16)));
struct Array { aligned_float a[4]; };  // error: size of array element of type 'aligned_float' (4 bytes) is not a multiple of its alignment (16 bytes)
template <typename T> using aligned_to __attribute__((aligned(16))) = T;  // error: attribute 'aligned' on an alias template is not supported
template <int N> struct Buffer { alignas(N) float data[4]; };
template struct Buffer<16>;
static_assert(alignof(Buffer<16>) == 16, "");
void k(device float *out, int n) {
  alignas(n) float local = 1;  // error: 'alignas' attribute requires an integer constant
  out[0] = local + sizeof(Buffer<32>);
}
