#pragma once

#include <Foundation/NSString.h>

#ifdef __OBJC__

@interface NSUUID : NSObject <NSCopying>
@property(readonly, copy) NSString *UUIDString;
+ (instancetype)UUID;
- (instancetype)initWithUUIDString:(NSString *)string;
@end

#endif
