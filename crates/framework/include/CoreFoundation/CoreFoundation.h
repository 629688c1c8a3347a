// Names of Core Foundation that headers mention. There are no functions.
#pragma once

#include <TargetConditionals.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef double CFTimeInterval;
typedef long CFIndex;
typedef const void *CFTypeRef;
typedef const struct __CFString *CFStringRef;
