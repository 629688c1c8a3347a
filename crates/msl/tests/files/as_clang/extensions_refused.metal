// test check
// options: --std metal4.0
// Extensions of GNU, literals and declarators: refused, as by clang.
namespace c3 { struct S {}; int f(S a, int b) { return a ?: b; } }  // error: value of type 'S' is not contextually convertible to 'bool'
namespace c29 { static_assert(__builtin_types_compatible_p(int, int), ""); }  // error: expected '(' for function-style cast or type construction
namespace c52 { typeof(1) f() { return 1; } }  // error: C++ requires a type specifier for all declarations
namespace c58 { int f(int a) { return a <? 3; } }  // error: expected expression
namespace c66 { int f() { return ''; } }  // error: empty character constant
namespace c67 { int f() { return 1i; } }  // error: invalid suffix 'i' on integer constant
namespace c68 { int f() { return 08; } }  // error: invalid digit '8' in octal constant
namespace c69 { int f() { return 0xG; } }  // error: invalid suffix 'xG' on integer constant
namespace c72 { float f() { return 1.5ff; } }  // error: invalid suffix 'ff' on floating constant
namespace c89 { int f() { short long x; return 1; } }  // error: cannot combine with previous 'short' declaration specifier
namespace c90 { int f() { unsigned float x; return 1; } }  // error: cannot combine with previous 'unsigned' declaration specifier
namespace c91 { int f() { int int x; return 1; } }  // error: cannot combine with previous 'int' declaration specifier
namespace c92 { f() { return 1; } }  // error: C++ requires a type specifier for all declarations
namespace c93 { const f() { return 1; } }  // error: C++ requires a type specifier for all declarations
namespace c95 { struct { int a; } f(); }  // error: '(unnamed type)' cannot be defined in the result type of a function
namespace c96 { int f(struct S { int a; } s); }  // error: types may not be defined here
namespace c97 { struct S { int a; } f() { return {1}; } }  // error: 'S' cannot be defined in the result type of a function
namespace c99 { int f() -> int { return 1; } }  // error: function with trailing return type must specify return type 'auto'
namespace c106 { int f()[3]; }  // error: function cannot return type 'int [3]'
namespace c107 { int f()(); }  // error: function cannot return type 'int ()'
namespace c108 { int a()[3] { } }  // error: function cannot return type 'int [3]'
