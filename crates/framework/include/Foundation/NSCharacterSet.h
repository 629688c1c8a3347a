#pragma once

#include <Foundation/NSString.h>

#ifdef __OBJC__

@interface NSCharacterSet : NSObject
@property(class, readonly, copy) NSCharacterSet *whitespaceCharacterSet;
@property(class, readonly, copy) NSCharacterSet *whitespaceAndNewlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *newlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *decimalDigitCharacterSet;
@property(class, readonly, copy) NSCharacterSet *letterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *alphanumericCharacterSet;
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters;
@property(readonly, copy) NSCharacterSet *invertedSet;
- (BOOL)characterIsMember:(unichar)character;
@end

#endif
