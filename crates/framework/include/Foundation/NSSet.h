#pragma once

#include <Foundation/NSArray.h>

#ifdef __OBJC__

@interface NSSet<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<T> *allObjects;
+ (instancetype)set;
+ (instancetype)setWithArray:(NSArray<T> *)array;
+ (instancetype)setWithObject:(T)object;
- (BOOL)containsObject:(T)object;
+ (instancetype)setWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)setWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)setWithSet:(NSSet<T> *)set;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
- (instancetype)initWithArray:(NSArray<T> *)array;
- (instancetype)initWithSet:(NSSet<T> *)set;
- (T)member:(T)object;
- (T)anyObject;
- (NSEnumerator<T> *)objectEnumerator;
@end

@interface NSMutableSet<T> : NSSet<T>
- (void)addObject:(T)object;
- (void)removeObject:(T)object;
+ (instancetype)setWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObjectsFromArray:(NSArray<T> *)array;
- (void)unionSet:(NSSet<T> *)other;
- (void)minusSet:(NSSet<T> *)other;
- (void)intersectSet:(NSSet<T> *)other;
- (void)removeAllObjects;
@end

#endif
