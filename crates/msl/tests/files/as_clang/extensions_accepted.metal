// test check
// options: --std metal4.0
// Extensions of GNU, literals and declarators: accepted, as by clang.
namespace c0 { int f(int a, int b) { return a ?: b; } }
namespace c1 { float f(int a, float b) { return a ?: b; } }
namespace c2 { int f(thread int *p, thread int *q) { return *(p ?: q); } }
namespace c4 { int f(int a) { return ({ int b = a; b + 1; }); } }
namespace c23 { int4 f(float4 a) { return __builtin_convertvector(a, int4); } }
namespace c30 { struct S { int n; int a[0]; }; static_assert(sizeof(S) == 4, ""); }
namespace c31 { struct S { struct { int a; int b; }; int c; }; int f() { S s = {{1, 2}, 3}; return s.a; } }
namespace c32 { struct S { union { struct { float x, y; }; float v[2]; }; }; float f() { S s; s.x = 1; return s.v[0]; } }
namespace c33 { struct P { int a, b; }; int f() { return ((P){1, 2}).a; } }
namespace c34 { struct P { int a, b; }; int g(P p) { return p.a; } int f() { return g((P){.a = 1, .b = 2}); } }
namespace c35 { int f(int x) { switch (x) { case 1 ... 5: return 1; case 6 ... 9: return 2; default: return 3; } } }
namespace c36 { __attribute__((always_inline)) int f(int x) { return x; } }
namespace c37 { int f(int x) __attribute__((always_inline)); int f(int x) { return x; } }
namespace c38 { static inline __attribute__((always_inline, const)) int f(int x) { return x; } }
namespace c39 { inline int __attribute__((noinline)) f(int x) { return x; } }
namespace c40 { struct __attribute__((packed)) S { char a; int b; }; static_assert(sizeof(S) == 5, ""); }
namespace c41 { struct S { char a; int b; } __attribute__((packed)); static_assert(sizeof(S) == 5, ""); }
namespace c42 { struct S { char a; int b __attribute__((packed)); }; static_assert(sizeof(S) == 5, ""); }
namespace c43 { struct __attribute__((aligned(16))) S { char a; }; static_assert(sizeof(S) == 16, ""); }
namespace c44 { struct alignas(16) S { char a; }; static_assert(alignof(S) == 16, ""); }
namespace c45 { struct S { char a; } __attribute__((aligned(16))); static_assert(alignof(S) == 16, ""); }
namespace c46 { typedef int T __attribute__((aligned(16))); static_assert(alignof(T) == 16, ""); }
namespace c47 { typedef float F4 __attribute__((ext_vector_type(4))); F4 f(F4 a) { return a.xyzw * 2; } }
namespace c48 { void f(int x __attribute__((unused))) { int y __attribute__((unused)); } }
namespace c49 { [[nodiscard]] int f(); void g() { f(); (void)f(); } }
namespace c50 { [[noreturn]] void f() { for (;;) {} } }
namespace c51 { [[gnu::always_inline]] int f() { return 1; } }
namespace c54 { int f(int x) { return __extension__ x; } }
namespace c55 { __inline__ int f() { return 1; } __inline int g() { return 1; } }
namespace c56 { int f(const int x, __const int y) { return x; } }
namespace c57 { int f(thread int *__restrict p, thread int *__restrict__ q) { return *p; } }
namespace c59 { int f() { return 0b101 + 1'000 + 0x1p3f; } }
namespace c60 { constant char s[] = "abc"; static_assert(sizeof(s) == 4, ""); }
namespace c63 { int f() { return __LINE__ + __COUNTER__ + sizeof(__FILE__); } }
namespace c64 { int f() { return 'ab'; } }
namespace c65 { int f() { return 'a' + '\n' + '\x41' + '\101' + '\u0041'; } }
namespace c71 { float f() { return 1.f + .5f + 1e3f + 1E-3f; } }
namespace c73 { int f() { return __is_same(int, int) + __is_class(int) + __is_trivially_copyable(int); } }
namespace c74 { int f() { return __alignof__(int) + __alignof(int) + _Alignof(int); } }
namespace c75 { _Static_assert(1, "x"); }
namespace c80 { int f() { int x = 1; x <<= 2; x >>= 1; x ^= 3; x |= 1; x &= 7; x %= 3; return x; } }
namespace c81 { int f() { int x = 1; return x and not x or x bitand 1 xor 2; } }
namespace c83 { int f() { return int(1.5f) + (int)1.5f + static_cast<int>(1.5f) + int{1}; } }
namespace c84 { int f() { return (int){1}; } }
namespace c85 { unsigned f() { return unsigned(1) + (unsigned int)1; } }
namespace c87 { long long f() { long long int x = 1; unsigned long long y = 2; return x + y; } }
namespace c88 { int f() { signed char c = 1; unsigned char d = 2; short int s = 3; return c + d + s; } }
namespace c94 { int f() { typedef int T; T x = 1; return x; } }
namespace c98 { auto f() -> int { return 1; } }
namespace c101 { int f(int a[3], int b[]) { return a[0]; } }
namespace c102 { int f(int, int) { return 1; } }
namespace c103 { int (f)(int x) { return x; } }
namespace c104 { int f(int (*g)(int)) { return g(1); } }
namespace c105 { int f(int g(int)) { return g(1); } }
