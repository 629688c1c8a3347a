#pragma once

#include <Foundation/NSEnumerator.h>
#include <Foundation/NSString.h>

#ifdef __OBJC__

@interface NSArray<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
@property(readonly) T firstObject;
@property(readonly) T lastObject;
+ (instancetype)array;
+ (instancetype)arrayWithObject:(T)object;
+ (instancetype)arrayWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)arrayWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)arrayWithArray:(NSArray<T> *)array;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
- (instancetype)initWithArray:(NSArray<T> *)array;
- (T)objectAtIndex:(NSUInteger)index;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
- (BOOL)containsObject:(T)object;
- (NSUInteger)indexOfObject:(T)object;
- (NSEnumerator *)objectEnumerator;
- (instancetype)initWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
- (void)getObjects:(T __unsafe_unretained[])objects range:(NSRange)range;
- (void)getObjects:(T __unsafe_unretained[])objects;
- (NSString *)componentsJoinedByString:(NSString *)separator;
- (NSArray<T> *)arrayByAddingObject:(T)object;
- (NSArray<T> *)subarrayWithRange:(NSRange)range;
- (BOOL)isEqualToArray:(NSArray<T> *)other;
- (NSUInteger)indexOfObjectIdenticalTo:(T)object;
- (NSArray<T> *)arrayByAddingObjectsFromArray:(NSArray<T> *)other;
- (void)makeObjectsPerformSelector:(SEL)selector;
- (NSEnumerator<T> *)reverseObjectEnumerator;
- (NSArray<T> *)sortedArrayUsingSelector:(SEL)comparator;
#ifdef __BLOCKS__
- (NSArray<T> *)sortedArrayUsingComparator:(NSComparator)comparator;
- (void)enumerateObjectsUsingBlock:(void (^)(T object, NSUInteger index, BOOL *stop))block;
- (NSUInteger)indexOfObjectPassingTest:(BOOL (^)(T object, NSUInteger index, BOOL *stop))predicate;
#endif
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
- (void)addObjectsFromArray:(NSArray<T> *)array;
- (void)removeObjectIdenticalTo:(T)object;
- (void)exchangeObjectAtIndex:(NSUInteger)first withObjectAtIndex:(NSUInteger)second;
- (void)setArray:(NSArray<T> *)array;
- (void)sortUsingSelector:(SEL)comparator;
#ifdef __BLOCKS__
- (void)sortUsingComparator:(NSComparator)comparator;
#endif
@end

#endif
