// Messages. Cast the functions to the type of the method before a call.
#pragma once

#include <objc/objc.h>

#ifdef __cplusplus
extern "C" {
#endif

id objc_msgSend(id receiver, SEL selector, ...);
#if defined(__x86_64__)
void objc_msgSend_stret(id receiver, SEL selector, ...);
long double objc_msgSend_fpret(id receiver, SEL selector, ...);
#endif

#ifdef __cplusplus
}
#endif
