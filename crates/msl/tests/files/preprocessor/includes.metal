// test check
// options: -I include
#include <metal_stdlib>
#include "shapes.h"
#include "shapes.h"
#include "nested/outer.h"
#include <angled.h>
#define HEADER "computed.h"
#include HEADER
using namespace metal;
#if __has_include("shapes.h") && !__has_include("missing.h")
kernel void k(device float *out) { Circle c = {1}; out[0] = area(c) + OUTER + INNER + ANGLED + COMPUTED; }
#endif
