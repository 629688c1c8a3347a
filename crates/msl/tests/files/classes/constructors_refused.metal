// test check
#include <metal_stdlib>
using namespace metal;

struct Explicit { int n; explicit Explicit(int k) : n(k) {} };
struct NoDefault { int n; NoDefault(int k) : n(k) {} };
struct Deleted { int n; Deleted() = delete; Deleted(int k) : n(k) {} };
struct Aggregate { int a; float b; };
void take(Explicit e);

kernel void refused(device int *out) {
  Explicit a = 1;  // error: no viable conversion
  Explicit b = {1};  // error: explicit
  take(1);  // error: no matching function for call to 'take'
  NoDefault c;  // error: no matching constructor for initialization of 'NoDefault'
  NoDefault d(1, 2);  // error: no matching constructor for initialization of 'NoDefault'
  NoDefault e[2];  // error: no matching constructor for initialization of 'NoDefault'
  Deleted f;  // error: deleted
  Aggregate g = {1, 2, 3};  // error: excess elements
  Aggregate h = {.c = 1};  // error: 'c'
  Aggregate i(1, 2);  // error: no matching constructor for initialization of 'Aggregate'
  Aggregate j = 1;  // error: no viable conversion
  Aggregate k = {1.5f, 2};  // error: narrow
  Aggregate l = {.a = {1, 2}};  // error: excess elements
}

struct BadMember {
  int a;
  BadMember() : b(1) {}  // error: 'b'
  BadMember(int x) : a(x, x) {}  // error: excess elements
  BadMember(float x) : a("no") {}  // error: cannot initialize
};
struct HasReference { thread int &r; HasReference(thread int &x) : r(x) {} };
struct HasConst { const int n; };
kernel void members() {
  HasConst c = {1};
  c.n = 2;  // error: read-only
  HasConst d;  // error: implicitly-deleted
}
