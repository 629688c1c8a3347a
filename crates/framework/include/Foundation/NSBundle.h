#pragma once

#include <Foundation/NSURL.h>

#ifdef __OBJC__

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
@property(readonly, copy) NSDictionary *infoDictionary;
@end

#endif
