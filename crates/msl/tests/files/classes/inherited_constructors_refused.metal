// test check
#include <metal_stdlib>
using namespace metal;

struct Base { int a; Base(int a) : a(a) {} explicit Base(float f) : a(int(f)) {} private: Base(int, int) {} };
struct Other { Other(int) {} };
struct Derived : Base { using Base::Base; };  // error: no matching constructor for initialization of 'Base'
struct Middle : Derived {
  using Other::Other;  // error: 'Other' is not a direct base of 'Middle', cannot inherit constructors
  using Base::Base;  // error: 'Base' is not a direct base of 'Middle', cannot inherit constructors
};

void f() {
  Derived a(1, 2, 3);  // error: no matching constructor for initialization of 'Derived'
  Derived b = {1, 2};  // error: is a private member of 'Base'
  Base base(1);
  Derived c(base);  // error: no matching constructor for initialization of 'Derived'
  Derived d = {};
}
