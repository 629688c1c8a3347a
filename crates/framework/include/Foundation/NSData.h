#pragma once

#include <Foundation/NSObject.h>

#ifdef __OBJC__

@interface NSData : NSObject <NSCopying>
@property(readonly) NSUInteger length;
@property(readonly) const void *bytes;
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free;
- (instancetype)initWithBytesNoCopy:(void *)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free;
#ifdef __BLOCKS__
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                        deallocator:(void (^)(void *bytes, NSUInteger length))deallocator;
#endif
- (instancetype)initWithData:(NSData *)data;
- (void)getBytes:(void *)buffer length:(NSUInteger)length;
- (BOOL)isEqualToData:(NSData *)other;
@end

#endif
