// test check
#include "inner.h"
#define OUTER 1
