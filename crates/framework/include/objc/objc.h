// Types of the Objective-C runtime.
#pragma once

#include <Availability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __OBJC__
typedef struct objc_selector *SEL;
#else
typedef struct objc_class *Class;
typedef struct objc_object {
  Class isa;
} *id;
typedef struct objc_selector *SEL;
#endif

// As on Macs with Apple's chips.
typedef bool BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)

#ifdef __cplusplus
#define nil nullptr
#define Nil nullptr
#else
#define nil ((void *)0)
#define Nil ((void *)0)
#endif

typedef id (*IMP)(id, SEL, ...);
