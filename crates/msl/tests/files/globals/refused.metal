// test check
#include <metal_stdlib>
using namespace metal;

int a = 1;  // error: program scope variable must reside in constant address space
const int b = 1;  // error: program scope variable must reside in constant address space
constexpr int c = 1;  // error: program scope variable must reside in constant address space
static float d;  // error: program scope variable must reside in constant address space
device float e;  // error: program scope variable must reside in constant address space
thread float f;  // error: program scope variable must reside in constant address space
constant int g;  // error: must be initialized
constant float h[4];  // error: must be initialized
namespace n { int i = 1; }  // error: program scope variable must reside in constant address space
int next();
constant int j = next();  // error: constant
struct S { static int k; static constant int l; };  // error: constant address space
float4 v(1);  // error: program scope variable must reside in constant address space
constant int m = g2;  // error: undeclared identifier 'g2'
constant float w = 1;
constant float x = w * 2;
constexpr constant float y = x + w;
constant device float *p = nullptr;  // error: address spaces // error: program scope variable
