// test check
// options: -W
#include <metal_stdlib>
using namespace metal;

struct Pair { int a, b; };
void conditions(int a, int b, thread Pair &p) {
  if (a = b) a = 1;  // warning: using the result of an assignment as a condition without parentheses
  if ((a = b)) a = 1;
  while (a = b) break;  // warning: using the result of an assignment as a condition without parentheses
  do a = 1; while (a = b);  // warning: using the result of an assignment as a condition without parentheses
  if (a < b < 3) a = 2;  // warning: chained comparison 'X < Y < Z' does not behave the same as a mathematical expression
  if ((a < b) == (b < 3)) a = 2;
  if (a & b == 3) a = 2;  // warning: & has lower precedence than ==; == will be evaluated first
  if ((a & b) == 3) a = 2;
  a = a;  // warning: explicitly assigning value of variable to itself
  p.a = p.a;  // warning: explicitly assigning value of field to itself
  p.a = p.b;
}
int plain(int n) {
  int x;
  int y = x + 1;  // warning: variable 'x' is uninitialized when used here
  float4 v;
  float4 w;
  w.x = 1;
  bool c;
  (void)c;
  int self = self;  // warning: variable 'self' is uninitialized when used within its own initialization
  return y + int(v.x) + int(w.x) + self;  // warning: variable 'v' is uninitialized when used here
}
void by_address(thread int *);
void by_reference(thread int &);
int addresses() {
  int a, b;
  by_address(&a);
  by_reference(b);
  int sum;
  sum += a;  // warning: variable 'sum' is uninitialized when used here
  int count;
  ++count;  // warning: variable 'count' is uninitialized when used here
  return sum + b + count;
}
int one_branch(int n) {
  int x;
  if (n > 1) x = 1;  // warning: variable 'x' is used uninitialized whenever 'if' condition is false
  n += 1;
  if (n > 2) n += 2;
  return x + n;
}
int branches(int n) {
  int x;
  if (n > 1) x = 1;
  int y;
  if (n > 2) y = 1; else y = 2;
  int z;
  if (n > 3) return 0; else z = 3;
  int r;
  if (n > 3) r = 1;
  if (n > 3) n += r;
  int q;
  if (n > 4) { n = 1; } else { q = 2; }  // warning: variable 'q' is used uninitialized whenever 'if' condition is true
  return x + y + z + q;
}
int loops(int n) {
  int last;
  for (int i = 0; i < n; ++i) last = i;
  int first;
  for (int i = 0; i < n; ++i) { if (i == 0) first = i; n += first; }
  int found;
  while (true) { found = n; if (found > 3) break; n += 1; }
  int never;
  for (int i = 0; i < n; ++i) n += never;  // warning: variable 'never' is uninitialized when used here
  int once;
  do { once = n; } while (once < 3);
  return last + first + found + once;
}
int switches(int n) {
  int x, y;
  switch (n) { case 0: x = 1; y = 1; break; case 1: x = 2; default: x = 3; break; }
  int z;
  switch (n) { case 0: return 1; default: n += z; }  // warning: variable 'z' is uninitialized when used here
  return x + y;
}
int lambdas(int n) {
  int x;
  bool b = n > 1 && (x = 2) > 1;
  return b ? x : 0;
}
template <typename T> T generic(T n) {
  T x;
  return n + x;  // warning: variable 'x' is uninitialized when used here
}
kernel void k(device int *out) { out[0] = plain(1) + generic(1) + int(generic(2.0f)); }
