// test check
// options: -I include
#include "mistaken.h"
kernel void k(device int *out) { out[0] = mistaken(); }
