// Foundation's values, and the exceptions of its collections, with automatic reference counting.
#import <Foundation/Foundation.h>

static int failures = 0;
#define CHECK(...) \
  do { \
    if (!(__VA_ARGS__)) { \
      failures++; \
      printf("line %d: %s\n", __LINE__, #__VA_ARGS__); \
    } \
  } while (0)

@interface NSObject (Unknown)
- (void)frobnicate;
@end

typedef struct {
  int a;
  double b;
} Pair;

/// The name of the exception that a block throws.
static NSString *thrown(void (^block)(void)) {
  @try {
    block();
  } @catch (NSException *exception) {
    return exception.name;
  }
  return @"none";
}

static void literals(void) {
  NSNumber *character = @'a', *small = @((short)-3), *byte = @((unsigned char)200), *word = @((unsigned short)65535);
  CHECK(character.charValue == 'a' && small.shortValue == -3 && byte.unsignedCharValue == 200);
  CHECK(word.unsignedShortValue == 65535);
  Pair pair = {1, 2.5}, back = {0, 0};
  [[NSValue valueWithBytes:&pair objCType:@encode(Pair)] getValue:&back];
  CHECK(back.a == 1 && back.b == 2.5);
  CHECK([NSValue valueWithPointer:&pair].pointerValue == &pair);
  CHECK(NSEqualRanges([NSValue valueWithRange:NSMakeRange(2, 3)].rangeValue, NSMakeRange(2, 3)));
  CHECK([[NSUUID UUID].UUIDString length] == 36 && [[NSUUID alloc] initWithUUIDString:@"x"] == nil);
}

static void texts(void) {
  CHECK([@"ABC" caseInsensitiveCompare:@"abc"] == NSOrderedSame);
  CHECK([@"v10" compare:@"v9" options:NSNumericSearch] == NSOrderedDescending);
  CHECK([@"hello World" rangeOfString:@"WORLD" options:NSCaseInsensitiveSearch].location == 6);
  CHECK([[@"a b" stringByReplacingCharactersInRange:NSMakeRange(1, 1) withString:@"_"] isEqualToString:@"a_b"]);
  NSString *numbered = [NSString stringWithFormat:@"%2$@ %1$d %3$.1f", 7, @"b", 0.5];
  CHECK([numbered isEqualToString:@"b 7 0.5"]);
  NSURL *url = [NSURL fileURLWithPath:@"/tmp/a b.metal"];
  CHECK([url.pathExtension isEqualToString:@"metal"] && [url.URLByDeletingLastPathComponent.path isEqualToString:@"/tmp"]);
  NSMutableData *data = [NSMutableData dataWithLength:4];
  [data appendBytes:"ab" length:2];
  ((char *)data.mutableBytes)[0] = 'x';
  CHECK(data.length == 6 && ((const char *)data.bytes)[0] == 'x');
  CHECK([[data subdataWithRange:NSMakeRange(4, 2)] isEqualToData:[@"ab" dataUsingEncoding:NSUTF8StringEncoding]]);
  NSError *error = [NSError errorWithDomain:@"D" code:3 userInfo:@{NSLocalizedDescriptionKey : @"why"}];
  CHECK([error.description isEqualToString:@"Error Domain=D Code=3 \"why\" UserInfo={NSLocalizedDescription=why}"]);
}

static void collections(void) {
  NSMutableArray *array = [@[ @3, @1, @2 ] mutableCopy];
  [array exchangeObjectAtIndex:0 withObjectAtIndex:2];
  CHECK([array indexOfObjectPassingTest:^BOOL(NSNumber *own, NSUInteger index, BOOL *stop) { return own.intValue == 1; }] == 1);
  CHECK([thrown(^{ (void)array[7]; }) isEqualToString:NSRangeException]);
  CHECK([thrown(^{ [array addObject:(id)nil]; }) isEqualToString:NSInvalidArgumentException]);
  CHECK([thrown(^{ id nothing = nil; (void)@{@"key" : nothing}; }) isEqualToString:NSInvalidArgumentException]);
  CHECK([thrown(^{ [@"abc" substringFromIndex:4]; }) isEqualToString:NSRangeException]);
  CHECK([thrown(^{ for (NSNumber *own in array) { [array addObject:own]; } }) isEqualToString:NSGenericException]);
  NSMutableDictionary *pairs = [@{@"a" : @1} mutableCopy];
  CHECK([thrown(^{ for (id key in pairs) { pairs[@"b"] = key; } }) isEqualToString:NSGenericException]);
  // A message that is not understood is an exception, too.
  CHECK([thrown(^{ [(id)array frobnicate]; }) isEqualToString:NSInvalidArgumentException]);
}

static void threads(void) {
  __block int ran = 0;
  NSThread *thread = [[NSThread alloc] initWithBlock:^{ ran = ![NSThread isMainThread]; }];
  [thread start];
  while (!thread.isFinished) {
    [NSThread sleepForTimeInterval:0.001];
  }
  CHECK(ran && [NSThread currentThread] == [NSThread mainThread]);
}

int main(void) {
  @autoreleasepool {
    literals();
    texts();
    collections();
    threads();
    // Objects of libdispatch are counted automatically.
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    dispatch_async(dispatch_queue_create("own", DISPATCH_QUEUE_SERIAL), ^{ dispatch_semaphore_signal(done); });
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
