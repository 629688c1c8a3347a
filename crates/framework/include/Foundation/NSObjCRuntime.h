// Types, macros and functions of Foundation.
#pragma once

#include <Availability.h>
#include <Block.h>
#include <CoreFoundation/CoreFoundation.h>
#include <TargetConditionals.h>
#include <assert.h>
#include <dispatch/dispatch.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <objc/message.h>
#include <objc/runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C"
#else
#define FOUNDATION_EXPORT extern
#endif
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#define NS_SWIFT_NAME(...)
#define NS_DESIGNATED_INITIALIZER
#define NS_RETURNS_INNER_POINTER
#define NS_AVAILABLE(...)
#define NS_REFINED_FOR_SWIFT
#define NS_STRING_ENUM
#define NS_TYPED_ENUM
#define NS_REQUIRES_SUPER

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef unsigned short unichar;
#define NSIntegerMax LONG_MAX
#define NSUIntegerMax ULONG_MAX
enum { NSNotFound = LONG_MAX };

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;

static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}

typedef struct {
  NSInteger majorVersion;
  NSInteger minorVersion;
  NSInteger patchVersion;
} NSOperatingSystemVersion;

typedef NS_ENUM(NSInteger, NSComparisonResult) {
  NSOrderedAscending = -1,
  NSOrderedSame = 0,
  NSOrderedDescending = 1
};

typedef NSUInteger NSStringEncoding;
enum { NSASCIIStringEncoding = 1, NSUTF8StringEncoding = 4, NSUnicodeStringEncoding = 10 };

#define NS_INLINE static inline
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel))
#define NS_FORMAT_FUNCTION(at, from) __attribute__((format(__NSString__, at, from)))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_DEPRECATED(...)
#define NS_CLOSED_ENUM NS_ENUM
#define NS_ERROR_ENUM(type, name) NS_ENUM(NSInteger, name)
#define NS_NOESCAPE __attribute__((noescape))

#ifndef MIN
#define MIN(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define ABS(a) ({ __typeof__(a) a_ = (a); a_ < 0 ? -a_ : a_; })
#endif

static inline NSUInteger NSMaxRange(NSRange range) { return range.location + range.length; }

static inline BOOL NSEqualRanges(NSRange left, NSRange right) {
  return left.location == right.location && left.length == right.length;
}

static inline BOOL NSLocationInRange(NSUInteger location, NSRange range) {
  return location >= range.location && location - range.location < range.length;
}

#ifdef __OBJC__

@class NSString;

#ifdef __BLOCKS__
typedef NSComparisonResult (^NSComparator)(id left, id right);
#endif

FOUNDATION_EXPORT void NSLog(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT void NSLogv(NSString *format, va_list arguments) NS_FORMAT_FUNCTION(1, 0);
FOUNDATION_EXPORT NSString *NSStringFromClass(Class cls);
FOUNDATION_EXPORT NSString *NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT NSString *NSStringFromProtocol(Protocol *protocol);
FOUNDATION_EXPORT NSString *NSStringFromRange(NSRange range);
FOUNDATION_EXPORT Class NSClassFromString(NSString *name);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString *name);

#define NSAssert(condition, text, ...) \
  do { \
    if (__builtin_expect(!(condition), 0)) \
      [NSException raise:NSInternalInconsistencyException format:(text), ##__VA_ARGS__]; \
  } while (0)
#define NSCAssert NSAssert
#define NSParameterAssert(condition) NSAssert((condition), @"Invalid parameter not satisfying: %s", #condition)
#define NSCParameterAssert NSParameterAssert

#endif
