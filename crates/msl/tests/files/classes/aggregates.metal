// test check
#include <metal_stdlib>
using namespace metal;

struct Public { int a, b; int sum() const { return a + b; } };
class Hidden { int a, b; };
struct Partly { int a; private: int b; };
struct Protected { protected: int a; };
struct Initialized { private: int a = 3; public: int get() const { return a; } };
struct OfPublic : Public { int c; };
struct Inherits : private Public { int c; };

constant Public p = {1, 2};

void f() {
  Public a = {1, 2}, b{1};
  Hidden none = {}, zero{};
  Hidden c = {1, 2};  // error: no matching constructor for initialization of 'Hidden'
  Partly d{1};  // error: no matching constructor for initialization of 'Partly'
  Protected e = {1};  // error: no matching constructor for initialization of 'Protected'
  Initialized g{};
  OfPublic i = {{1, 2}, 3};  // error: no matching constructor for initialization of 'OfPublic'
  Inherits h = {{1, 2}, 3};  // error: no matching constructor for initialization of 'Inherits'
  int sum = g.get() + a.sum() + p.a;
}
