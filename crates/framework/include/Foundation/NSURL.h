#pragma once

#include <Foundation/NSString.h>

#ifdef __OBJC__

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
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initWithString:(NSString *)string;
- (instancetype)initFileURLWithFileSystemRepresentation:(const char *)path
                                            isDirectory:(BOOL)directory
                                          relativeToURL:(NSURL *)base;
@property(readonly, copy) NSURL *absoluteURL;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, copy) NSString *relativePath;
@property(readonly, copy) NSString *relativeString;
@property(readonly, copy) NSString *scheme;
@property(readonly, copy) NSURL *URLByDeletingLastPathComponent;
@property(readonly, copy) NSURL *URLByDeletingPathExtension;
@property(readonly, copy) NSURL *URLByStandardizingPath;
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component isDirectory:(BOOL)directory;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end

#endif
