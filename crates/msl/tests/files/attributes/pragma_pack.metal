// test check
// options: -W
#include <metal_stdlib>
using namespace metal;

#pragma pack(3)  // warning: expected #pragma pack parameter to be '1', '2', '4', '8', or '16'
#pragma pack 2  // warning: missing '(' after '#pragma pack' - ignoring
#pragma pack(2  // warning: missing ')' after '#pragma pack' - ignoring
#pragma pack(sideways)  // warning: unknown action for '#pragma pack' - ignored
#pragma pack(push, a, b, 1)  // warning: expected integer or identifier in '#pragma pack' - ignored
#pragma pack(pop)  // warning: #pragma pack(pop, ...) failed: stack empty
#pragma pack(show)  // warning: value of #pragma pack(show) == 0
struct Natural { char a; int b; };
static_assert(sizeof(Natural) == 8, "");
#define SMALL 1
#pragma pack(push, outer, SMALL)
#pragma pack(push)
#pragma pack(2)
struct Two { char a; int b; };
static_assert(sizeof(Two) == 6, "");
#pragma pack(pop, outer)
struct NaturalAgain { char a; int b; };
static_assert(sizeof(NaturalAgain) == 8, "");
template <typename T> struct Later { char a; T b; };
_Pragma("pack(push, 1)")
template <typename T> struct Packed { char a; T b; };
struct Around {
  char a;
#pragma pack(push, 4)
  struct Nested { char a; long b; } b;
#pragma pack(pop)
  int c;
};
_Pragma("pack(pop)")
static_assert(sizeof(Later<int>) == 8 && sizeof(Packed<int>) == 5 && sizeof(Packed<float4>) == 17, "");
static_assert(sizeof(Around::Nested) == 12 && sizeof(Around) == 17, "");
#pragma pack(push, 1)  // warning: unterminated '#pragma pack (push, ...)' at end of file
kernel void k() {}
