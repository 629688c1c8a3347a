#pragma once

#include <Foundation/NSCharacterSet.h>

#ifdef __OBJC__

@interface NSScanner : NSObject
+ (instancetype)scannerWithString:(NSString *)string;
@property(copy) NSCharacterSet *charactersToBeSkipped;
- (BOOL)scanString:(NSString *)string intoString:(NSString **)result;
- (BOOL)scanUpToString:(NSString *)string intoString:(NSString **)result;
- (instancetype)initWithString:(NSString *)string;
@property(readonly, copy) NSString *string;
@property(readonly, getter=isAtEnd) BOOL atEnd;
@property NSUInteger scanLocation;
- (BOOL)scanCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)result;
- (BOOL)scanUpToCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)result;
- (BOOL)scanInt:(int *)result;
@end

#endif
