// test check
#include <metal_stdlib>
using namespace metal;

struct Vector {
  float x, y;
  float length2() const { return dot2(); }
  thread Vector &scale(float k) { x *= k; y *= k; return *this; }
  static Vector unit() { return {1, 0}; }
  template <typename T> T as() const { return T(x); }
  float late() const;
  float operator()(int i) const { return i == 0 ? x : y; }
  static constexpr constant int dimensions = 2;
  static constant float table[2];
 private:
  float dot2() const { return x * x + this->y * y; }
};
float Vector::late() const { return x + dimensions; }
constant float Vector::table[2] = {1, 2};

class Account {
  int balance;
 public:
  Account(int b) : balance(b) {}
  int get() const { return balance; }
  friend int peek(Account a);
  friend struct Auditor;
 protected:
  int secret;
};
int peek(Account a) { return a.balance + a.secret; }
struct Auditor { static int audit(Account a) { return a.balance; } };

kernel void methods(device float *out) {
  Vector v = {3, 4};
  v.scale(2).scale(3);
  out[0] = v.length2() + Vector::unit().x + v.as<float>() + float(v.template as<int>()) + v.late() + v(1);
  out[1] = float(Vector::dimensions + v.dimensions) + Vector::table[1];
  static_assert(Vector::dimensions == 2, "");
  Account a(5);
  out[2] = float(a.get() + peek(a) + Auditor::audit(a));
}
