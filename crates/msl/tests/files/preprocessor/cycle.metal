// test check
// options: -I include
#include "cycle.h"
