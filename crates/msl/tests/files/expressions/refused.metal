// test check
#include <metal_stdlib>
using namespace metal;

struct S { int a; };
kernel void refused(device int *i, device float *f, device S *s, constant int &c) {
  i[0] = f[0] % f[1];  // error: invalid operands to binary expression ('float' and 'float')
  i[0] = f[0] << 1;  // error: invalid operands to binary expression
  i[0] = f[0] & 1;  // error: invalid operands to binary expression
  i[0] = ~f[0];  // error: invalid argument type 'float' to unary expression
  f[0] %= 2;  // error: invalid operands
  i[0] = i + i;  // error: invalid operands to binary expression
  i[0] = i * 2;  // error: invalid operands to binary expression
  i[0] = *i[0];  // error: indirection requires pointer operand
  i[0] = &1;  // error: cannot take the address of an rvalue of type 'int'
  1 = i[0];  // error: not assignable
  i[0] + 1 = 2;  // error: not assignable
  i[0]++ = 2;  // error: not assignable
  ++1;  // error: not assignable
  i[0] = s[0] == s[1];  // error: invalid operands to binary expression
  i[0] = true ? s[0] : 1;  // error: ('S' and 'int')
  i[0] = s[0];  // error: S
  i = 3;  // error: assigning to
  i[f[0]] = 1;  // error: array subscript is not an integer
  i[0] = sizeof(Missing);  // error: Missing
  i[0] = -i;  // error: invalid argument type
  i[0] = !s[0];  // error: 'S'
  f[0] = f[0](1);  // error: not a function
  i[0] = i - f;  // error: ('device int *' and 'device float *')
  i[0] = i < f;  // error: ('device int *' and 'device float *')
  i[0] = i == 1;  // error: ('device int *' and 'int')
  s + 1 = nullptr;  // error: not assignable
  c = 1;  // error: read-only
  i[0] = int(1, 2);  // error: int
  i[0] = sizeof(void);  // error: void
  i->a = 1;  // error: not a structure or union
  s.a = 1;  // error: did you mean to use '->'
}
