// test check
#include "missing.h"  // error: 'missing.h' file not found
#include <metal_stdlb>  // error: 'metal_stdlb' file not found
kernel void k() {}
