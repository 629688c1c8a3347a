// <stdint.h>: the integer types are native to the compiler; here are their limits.
#pragma once
#include <metal_constants>
