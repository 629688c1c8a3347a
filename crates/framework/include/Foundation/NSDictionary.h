#pragma once

#include <Foundation/NSArray.h>

#ifdef __OBJC__

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
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first, ... NS_REQUIRES_NIL_TERMINATION;
- (instancetype)initWithObjectsAndKeys:(id)first, ... NS_REQUIRES_NIL_TERMINATION;
- (V)valueForKey:(NSString *)key;
- (void)getObjects:(V __unsafe_unretained[])objects andKeys:(K __unsafe_unretained[])keys count:(NSUInteger)count;
- (void)getObjects:(V __unsafe_unretained[])objects andKeys:(K __unsafe_unretained[])keys;
+ (instancetype)dictionaryWithObjects:(NSArray<V> *)objects forKeys:(NSArray<K> *)keys;
- (instancetype)initWithDictionary:(NSDictionary<K, V> *)dictionary;
- (BOOL)isEqualToDictionary:(NSDictionary<K, V> *)other;
#ifdef __BLOCKS__
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(K key, V object, BOOL *stop))block;
#endif
@end

@interface NSMutableDictionary<K, V> : NSDictionary<K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)object forKey:(id<NSCopying>)key;
- (void)setObject:(V)object forKeyedSubscript:(id<NSCopying>)key;
- (void)removeObjectForKey:(K)key;
- (void)removeAllObjects;
- (void)setValue:(V)value forKey:(NSString *)key;
- (void)setDictionary:(NSDictionary<K, V> *)dictionary;
- (void)removeObjectsForKeys:(NSArray<K> *)keys;
- (void)addEntriesFromDictionary:(NSDictionary<K, V> *)other;
@end

#endif
