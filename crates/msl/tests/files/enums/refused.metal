// test check
#include <metal_stdlib>
using namespace metal;

enum Color { red, green };
enum class Mode { quick, slow };
enum Color { blue };  // error: redefinition of 'Color'
enum Twice { a, b, a };  // error: redefinition of
enum Bad { c = 1.5f };  // error: enumerator
int n();
enum Dynamic { e = n() };  // error: enumerator value is not a constant expression
enum class Wide : uchar { x = 256 };  // error: 256
enum class Floating : float { y };  // error: invalid underlying type

kernel void refused(device int *out) {
  Color c = 1;  // error: cannot initialize
  c = 2;  // error: assigning to
  c++;  // error: increment
  Mode m = Mode::medium;  // error: no member named 'medium' in 'Mode'
  int i = Mode::quick;  // error: cannot initialize
  out[0] = Mode::quick + 1;  // error: invalid operands to binary expression
  Mode k = quick;  // error: undeclared identifier 'quick'
  Mode l = Color::red;  // error: cannot initialize
  if (m) {}  // error: bool
  out[1] = m == 1;  // error: invalid operands to binary expression
}
enum class Before : uchar { A };
Before before() { return Before{1}; }  // error: cannot initialize a variable of type 'Before' with an rvalue of type 'int'
