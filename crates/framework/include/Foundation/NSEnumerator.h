#pragma once

#include <Foundation/NSObject.h>

#ifdef __OBJC__

@interface NSEnumerator<T> : NSObject <NSFastEnumeration>
- (T)nextObject;
@property(readonly, copy) NSArray<T> *allObjects;
@end

#endif
