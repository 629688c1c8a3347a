// test check
#include "cycle.h"  // error: #include nested too deeply
