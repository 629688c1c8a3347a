// test check
#include <metal_stdlib>
using namespace metal;

struct Base {
  int x;
  int f() const { return x; }
  static int s() { return 1; }
};
class ByDefault : Base {
  int y;
 public:
  int own() const { return x + f(); }
};
struct Private : private Base {
  using Base::x;
  int sum() const { return f(); }
};
struct Protected : protected Base {};
struct Below : Private {
  int g() const { return f(); }  // error: 'f' is a private member of 'Base'
};
struct BelowProtected : Protected {
  int g() const { return f() + x; }
};
struct Public : Base {};

int take(Base b) { return b.x; }
int take_reference(const thread Base &b) { return b.x; }

struct Left { int x; int f() { return 1; } };
struct Right { int x; int f() { return 2; } };
struct Both : Left, Right {};
struct UpperLeft : Base {};
struct UpperRight : Base {};
struct Diamond : UpperLeft, UpperRight {};
struct Chosen : Left, Right {
  using Left::x;
  int f() { return Right::f(); }
};

struct Numbers {
  operator int() const { return 1; }
  operator float() const { return 2; }
};

kernel void k(device int *o) {
  ByDefault d;
  o[0] = d.x;  // error: 'x' is a private member of 'Base'
  o[1] = d.f();  // error: 'f' is a private member of 'Base'
  o[2] = d.own();
  Protected p;
  o[3] = p.x;  // error: 'x' is a protected member of 'Base'
  Private q;
  o[4] = q.sum();
  Base a = q;  // error: cannot cast 'Private' to its private base class 'Base'
  thread Base &b = d;  // error: cannot cast 'ByDefault' to its private base class 'Base'
  thread Base *c = &p;  // error: cannot cast 'Protected' to its protected base class 'Base'
  o[5] = take(q);  // error: cannot cast 'Private' to its private base class 'Base'
  Public fine;
  o[6] = take(fine) + take_reference(fine) + fine.f();
  BelowProtected below;
  o[7] = below.g();
  Both both;
  o[8] = both.x;  // error: member 'x' found in multiple base classes of different types
  o[9] = both.f();  // error: member 'f' found in multiple base classes of different types
  o[10] = both.Left::x + both.Right::f();
  Diamond diamond;
  o[11] = diamond.x;  // error: non-static member 'x' found in multiple base-class subobjects of type 'Base'
  Base e = diamond;  // error: ambiguous conversion from derived class 'Diamond' to base class 'Base'
  Chosen chosen;
  o[12] = chosen.x + chosen.f();
  Numbers n;
  int i = n;
  float r = n;
  long l = n;  // error: conversion from 'Numbers' to 'long' is ambiguous
}
