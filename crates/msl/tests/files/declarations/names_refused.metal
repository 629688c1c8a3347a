// test check
#include <metal_stdlib>
using namespace metal;

constant int table[2] = {1, 2};
constant int table[3] = {1, 2, 3};  // error: redefinition of 'table'
constant float table2 = 1;
void table2() {}  // error: redefinition
struct Point { float x; };
typedef int Point;  // error: redefinition
struct S { int count; };
Unknown global();  // error: unknown type name 'Unknown'
constant Unknown value = 1;  // error: unknown type name 'Unknown'
flaot misspelled();  // error: did you mean 'float'?
constant int later_used = later;  // error: undeclared identifier 'later'
constant int later = 1;
typedef Missing Alias;  // error: unknown type name 'Missing'
void take(Missing m, int n);  // error: unknown type name 'Missing'

kernel void refused(device float *output, uint index [[thread_position_in_grid]]) {
  outptu[index] = 1;  // error: undeclared identifier 'outptu'; did you mean 'output'?
  output[idnex] = 1;  // error: undeclared identifier 'idnex'; did you mean 'index'?
  S s;
  s.cuont = 1;  // error: no member named 'cuont' in 'S'; did you mean 'count'?
  output[0] = sqr(2.0f);  // error: undeclared identifier 'sqr'
  output[1] = clmap(1.0f, 0.0f, 1.0f);  // error: undeclared identifier 'clmap'; did you mean 'clamp'?
  Piont p;  // error: unknown type name 'Piont'; did you mean 'Point'?
  metal::missing(1);  // error: no member named 'missing' in namespace 'metal'
  missing::f();  // error: undeclared identifier 'missing'
  index::f();  // error: index
  int x = x_undefined + y_undefined;  // error: x_undefined // error: y_undefined
  float float_variable = Point;  // error: Point
  output = 1;  // error: assigning to
}
