// test check
// Points of curves, since Metal 3.1.
#include <metal_stdlib>
using namespace metal;
kernel void k(device float3 *p, device half *h, constant float &t) {
  p[0] = bezier(t, p[1], p[2], p[3]) + bezier(t, p[1], p[2], p[3], p[4]) + bezier_derivative(t, p[1], p[2], p[3]);
  p[0] += bezier_second_derivative(t, p[1], p[2], p[3]) + bezier_second_derivative(t, p[1], p[2], p[3], p[4]);
  p[0] += bspline(t, p[1], p[2], p[3]) + bspline_derivative(t, p[1], p[2], p[3]) + bspline_derivative(t, p[1], p[2], p[3], p[4]);
  p[0] += hermite_second_derivative(t, p[1], p[2], p[3], p[4]) + bezier_derivative(t, p[1], p[2], p[3], p[4]);
  p[1] = bspline(t, p[1], p[2], p[3], p[4]) + bspline_second_derivative(t, p[1], p[2], p[3]);
  p[2] = hermite(t, p[1], p[2], p[3], p[4]) + hermite_derivative(t, p[1], p[2], p[3], p[4]);
  p[3] = catmull_rom(t, p[1], p[2], p[3], p[4]) + catmull_rom_derivative(t, p[1], p[2], p[3], p[4]);
  h[0] = catmull_rom_second_derivative(h[1], h[2], h[3], h[4], h[5]);
}
