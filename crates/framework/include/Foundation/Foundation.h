// The part of Foundation that programs with Metal use, for Objective-C. docs/framework.md lists what works.
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

#ifdef __OBJC__

@class NSString, NSDictionary, NSData, NSURL, NSError;
@class NSArray<__covariant T>, NSEnumerator<T>;
typedef struct _NSZone NSZone;

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
typedef NSString *NSExceptionName;
typedef NSString *NSFileAttributeKey;
typedef NSString *NSFileAttributeType;

@protocol NSObject
- (BOOL)isEqual:(id)object;
@property(readonly) NSUInteger hash;
@property(readonly) Class superclass;
- (Class)class;
- (instancetype)self;
- (id)performSelector:(SEL)selector;
- (BOOL)isProxy;
- (BOOL)isKindOfClass:(Class)cls;
- (BOOL)isMemberOfClass:(Class)cls;
- (BOOL)conformsToProtocol:(Protocol *)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
@property(readonly, copy) NSString *description;
@property(readonly, copy) NSString *debugDescription;
@end

@protocol NSCopying
- (id)copyWithZone:(NSZone *)zone;
@end

@protocol NSMutableCopying
- (id)mutableCopyWithZone:(NSZone *)zone;
@end

typedef struct {
  unsigned long state;
  id __unsafe_unretained *itemsPtr;
  unsigned long *mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)length;
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject> {
  Class isa;
}
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
+ (Class)superclass;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
+ (BOOL)isSubclassOfClass:(Class)cls;
+ (BOOL)conformsToProtocol:(Protocol *)protocol;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
- (id)mutableCopy;
- (void)doesNotRecognizeSelector:(SEL)selector;
@end

@interface NSNull : NSObject <NSCopying>
+ (NSNull *)null;
@end

@interface NSAutoreleasePool : NSObject
+ (void)addObject:(id)object;
- (void)addObject:(id)object;
- (void)drain;
@end

@interface NSString : NSObject <NSCopying, NSMutableCopying>
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
@property(readonly) const char *UTF8String;
@property(readonly) const char *fileSystemRepresentation;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *stringByDeletingLastPathComponent;
@property(readonly, copy) NSString *stringByStandardizingPath;
@property(readonly) NSInteger integerValue;
@property(readonly) int intValue;
@property(readonly) double doubleValue;
@property(readonly) BOOL boolValue;
+ (instancetype)string;
+ (instancetype)stringWithString:(NSString *)string;
+ (instancetype)stringWithUTF8String:(const char *)string;
+ (instancetype)stringWithCString:(const char *)string encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithFormat:(NSString *)format, ...;
+ (instancetype)stringWithContentsOfFile:(NSString *)path encoding:(NSStringEncoding)encoding error:(NSError **)error;
+ (NSString *)pathWithComponents:(NSArray<NSString *> *)components;
- (instancetype)initWithUTF8String:(const char *)string;
- (instancetype)initWithCString:(const char *)string encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
- (instancetype)initWithString:(NSString *)string;
- (instancetype)initWithData:(NSData *)data encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString *)format, ...;
- (const char *)cStringUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString *)other;
- (NSComparisonResult)compare:(NSString *)other;
- (BOOL)hasPrefix:(NSString *)prefix;
- (BOOL)hasSuffix:(NSString *)suffix;
- (BOOL)containsString:(NSString *)other;
- (NSString *)stringByAppendingString:(NSString *)other;
- (NSString *)stringByAppendingPathComponent:(NSString *)component;
- (NSString *)stringByAppendingPathExtension:(NSString *)extension;
- (NSString *)stringByTrimmingCharactersInSet:(id)set;
- (NSArray<NSString *> *)componentsSeparatedByString:(NSString *)separator;
- (NSString *)substringWithRange:(NSRange)range;
- (NSString *)substringToIndex:(NSUInteger)end;
- (NSString *)substringFromIndex:(NSUInteger)start;
@end

@interface NSConstantString : NSString
@end

@interface NSMutableString : NSString
- (void)appendString:(NSString *)string;
- (void)appendFormat:(NSString *)format, ...;
@end

@interface NSCharacterSet : NSObject
@property(class, readonly, copy) NSCharacterSet *whitespaceCharacterSet;
@property(class, readonly, copy) NSCharacterSet *whitespaceAndNewlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *newlineCharacterSet;
@end

@interface NSScanner : NSObject
+ (instancetype)scannerWithString:(NSString *)string;
@property(copy) NSCharacterSet *charactersToBeSkipped;
- (BOOL)scanString:(NSString *)string intoString:(NSString **)result;
- (BOOL)scanUpToString:(NSString *)string intoString:(NSString **)result;
@end

@interface NSArray<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly) T firstObject;
@property(readonly) T lastObject;
+ (instancetype)array;
+ (instancetype)arrayWithObject:(T)object;
+ (instancetype)arrayWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)arrayWithObjects:(T)first, ...;
+ (instancetype)arrayWithArray:(NSArray<T> *)array;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
- (instancetype)initWithArray:(NSArray<T> *)array;
- (T)objectAtIndex:(NSUInteger)index;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
- (BOOL)containsObject:(T)object;
- (NSUInteger)indexOfObject:(T)object;
- (NSEnumerator *)objectEnumerator;
@end

@interface NSMutableArray<T> : NSArray<T>
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
- (void)insertObject:(T)object atIndex:(NSUInteger)index;
- (void)removeObject:(T)object;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)removeLastObject;
- (void)removeAllObjects;
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(T)object;
- (void)setObject:(T)object atIndexedSubscript:(NSUInteger)index;
@end

@interface NSSet<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<T> *allObjects;
+ (instancetype)set;
+ (instancetype)setWithArray:(NSArray<T> *)array;
+ (instancetype)setWithObject:(T)object;
- (BOOL)containsObject:(T)object;
@end

@interface NSMutableSet<T> : NSSet<T>
- (void)addObject:(T)object;
- (void)removeObject:(T)object;
@end

@interface NSDictionary<__covariant K, __covariant V> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<K> *allKeys;
@property(readonly, copy) NSArray<V> *allValues;
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObject:(V)object forKey:(id<NSCopying>)key;
+ (instancetype)dictionaryWithObjects:(const V[])objects forKeys:(const K[])keys count:(NSUInteger)count;
+ (instancetype)dictionaryWithDictionary:(NSDictionary<K, V> *)dictionary;
- (instancetype)initWithObjects:(const V[])objects forKeys:(const K[])keys count:(NSUInteger)count;
- (V)objectForKey:(K)key;
- (V)objectForKeyedSubscript:(K)key;
- (NSEnumerator *)keyEnumerator;
- (NSEnumerator *)objectEnumerator;
@end

@interface NSMutableDictionary<K, V> : NSDictionary<K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)object forKey:(id<NSCopying>)key;
- (void)setObject:(V)object forKeyedSubscript:(id<NSCopying>)key;
- (void)removeObjectForKey:(K)key;
- (void)removeAllObjects;
@end

@interface NSEnumerator<T> : NSObject <NSFastEnumeration>
- (T)nextObject;
@property(readonly, copy) NSArray<T> *allObjects;
@end

@interface NSValue : NSObject <NSCopying>
@property(readonly) const char *objCType;
@end

@interface NSNumber : NSValue
@property(readonly) BOOL boolValue;
@property(readonly) char charValue;
@property(readonly) short shortValue;
@property(readonly) int intValue;
@property(readonly) unsigned int unsignedIntValue;
@property(readonly) long longValue;
@property(readonly) unsigned long unsignedLongValue;
@property(readonly) long long longLongValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@property(readonly) NSInteger integerValue;
@property(readonly) NSUInteger unsignedIntegerValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
@property(readonly, copy) NSString *stringValue;
+ (NSNumber *)numberWithBool:(BOOL)value;
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithUnsignedInt:(unsigned int)value;
+ (NSNumber *)numberWithLong:(long)value;
+ (NSNumber *)numberWithUnsignedLong:(unsigned long)value;
+ (NSNumber *)numberWithLongLong:(long long)value;
+ (NSNumber *)numberWithUnsignedLongLong:(unsigned long long)value;
+ (NSNumber *)numberWithInteger:(NSInteger)value;
+ (NSNumber *)numberWithUnsignedInteger:(NSUInteger)value;
+ (NSNumber *)numberWithFloat:(float)value;
+ (NSNumber *)numberWithDouble:(double)value;
- (BOOL)isEqualToNumber:(NSNumber *)other;
- (NSComparisonResult)compare:(NSNumber *)other;
@end

@interface NSData : NSObject <NSCopying>
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes;
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
@end

@interface NSURL : NSObject <NSCopying>
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *absoluteString;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly) const char *fileSystemRepresentation;
@property(readonly, getter=isFileURL) BOOL fileURL;
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)directory;
+ (instancetype)URLWithString:(NSString *)string;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component;
@end

FOUNDATION_EXPORT NSErrorDomain const NSCocoaErrorDomain;
FOUNDATION_EXPORT NSErrorDomain const NSPOSIXErrorDomain;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedDescriptionKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSUnderlyingErrorKey;

@interface NSError : NSObject <NSCopying>
@property(readonly, copy) NSErrorDomain domain;
@property(readonly) NSInteger code;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSString *localizedDescription;
@property(readonly, copy) NSString *localizedFailureReason;
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)userInfo;
- (instancetype)initWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary *)userInfo;
@end

FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;

@interface NSException : NSObject
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString *reason;
@property(readonly, copy) NSDictionary *userInfo;
+ (NSException *)exceptionWithName:(NSExceptionName)name reason:(NSString *)reason userInfo:(NSDictionary *)userInfo;
- (void)raise;
@end

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end

@interface NSLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
@end

@interface NSBundle : NSObject
@property(class, readonly) NSBundle *mainBundle;
@property(readonly, copy) NSString *bundlePath;
@property(readonly, copy) NSString *resourcePath;
@property(readonly, copy) NSURL *bundleURL;
@property(readonly, copy) NSURL *resourceURL;
@property(readonly, copy) NSString *bundleIdentifier;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (instancetype)bundleWithPath:(NSString *)path;
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)extension;
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)extension;
@end

FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeSymbolicLink;

@interface NSFileManager : NSObject
@property(class, readonly) NSFileManager *defaultManager;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path error:(NSError **)error;
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path error:(NSError **)error;
@end

@interface NSProcessInfo : NSObject
@property(class, readonly) NSProcessInfo *processInfo;
@property(readonly, copy) NSArray<NSString *> *arguments;
@property(readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property(readonly, copy) NSString *processName;
@property(readonly) int processIdentifier;
@property(readonly) NSUInteger processorCount;
@property(readonly) NSUInteger activeProcessorCount;
@property(readonly) unsigned long long physicalMemory;
@property(readonly) NSTimeInterval systemUptime;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
@property(readonly, copy) NSString *operatingSystemVersionString;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end

#endif
