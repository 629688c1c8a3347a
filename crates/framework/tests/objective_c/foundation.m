// Foundation's strings, formats, collections, locks and files.
#include "declarations.h"

int getpid(void);
void NSLog(NSString *format, ...);
NSString *NSTemporaryDirectory(void);
extern NSString *const NSFileType, *const NSFileTypeRegular;
typedef struct { NSUInteger location, length; } NSRange;

@interface NSString (More)
+ (NSString *)pathWithComponents:(NSArray *)parts;
+ (id)stringWithContentsOfFile:(NSString *)path encoding:(NSUInteger)encoding error:(id *)error;
- (id)stringByAppendingFormat:(NSString *)format, ...;
- (id)componentsSeparatedByString:(NSString *)separator;
- (id)stringByTrimmingCharactersInSet:(id)set;
- (id)stringByDeletingLastPathComponent;
- (id)stringByAppendingPathComponent:(NSString *)name;
- (id)stringByAppendingPathExtension:(NSString *)name;
- (id)stringByReplacingOccurrencesOfString:(NSString *)old withString:(NSString *)by;
- (id)substringToIndex:(NSUInteger)end;
- (id)substringFromIndex:(NSUInteger)start;
- (NSRange)rangeOfString:(NSString *)other;
- (int)intValue;
- (double)doubleValue;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically encoding:(NSUInteger)encoding error:(id *)error;
@end
@interface NSArray (More)
- (id)componentsJoinedByString:(NSString *)separator;
@end
@interface NSMutableArray (More)
- (void)removeObject:(id)object;
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index;
@end
@interface NSMutableDictionary : NSDictionary
+ (id)dictionary;
- (void)setObject:(id)object forKeyedSubscript:(id)key;
- (void)removeObjectForKey:(id)key;
@end
@interface NSSet : NSObject
+ (id)setWithArray:(NSArray *)array;
+ (id)setWithObjects:(id)first, ...;
- (NSUInteger)count;
- (BOOL)containsObject:(id)object;
- (NSUInteger)countByEnumeratingWithState:(State *)state objects:(id *)objects count:(NSUInteger)count;
@end
@interface NSMutableSet : NSSet
+ (id)set;
- (void)addObject:(id)object;
- (void)removeObject:(id)object;
@end
@interface NSLock : NSObject
- (void)lock;
- (void)unlock;
- (BOOL)tryLock;
@end
@interface NSCharacterSet : NSObject
+ (id)whitespaceCharacterSet;
@end
@interface NSScanner : NSObject
+ (id)scannerWithString:(NSString *)text;
- (void)setCharactersToBeSkipped:(id)set;
- (BOOL)scanString:(NSString *)text intoString:(NSString **)to;
- (BOOL)scanUpToString:(NSString *)text intoString:(NSString **)to;
- (BOOL)isAtEnd;
@end
@interface NSFileManager : NSObject
+ (id)defaultManager;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (id)attributesOfItemAtPath:(NSString *)path error:(id *)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(id *)error;
@end

@interface NSDate : NSObject
+ (id)date;
+ (id)dateWithTimeIntervalSinceNow:(double)seconds;
- (double)timeIntervalSinceDate:(id)other;
- (double)timeIntervalSince1970;
@end
@interface NSThread : NSObject
+ (void)sleepForTimeInterval:(double)seconds;
+ (BOOL)isMainThread;
@end
@interface NSCondition : NSLock
- (void)wait;
- (BOOL)waitUntilDate:(id)date;
- (void)signal;
@end
id dispatch_get_global_queue(long class, unsigned long flags);
void dispatch_async(id queue, void (^block)(void));

// Two threads take turns; a wait without a signal ends at its date.
static void threads(void) {
  NSDate *before = [NSDate date];
  NSCondition *condition = [NSCondition new];
  __block int turns = 0;
  __block BOOL is_main = 1;
  [condition lock];
  dispatch_async(dispatch_get_global_queue(0, 0), ^{
    [condition lock];
    is_main = [NSThread isMainThread];
    for (int at = 0; at < 10; at++) {
      turns++;
      [condition signal];
      while (turns % 2) [condition wait];
    }
    turns = -1;
    [condition signal];
    [condition unlock];
  });
  while (turns >= 0) {
    if (turns % 2) { turns++; [condition signal]; }
    [condition wait];
  }
  CHECK(![condition waitUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.001]]);
  [condition unlock];
  [condition release];
  CHECK([NSThread isMainThread] && !is_main);
  [NSThread sleepForTimeInterval:0.001];
  CHECK([[NSDate date] timeIntervalSinceDate:before] > 0.002 && [before timeIntervalSince1970] > 1e9);
}

static void strings(void) {
  IS(([NSString stringWithFormat:@"%d %5.2f|%-4s|%@ %c%% %lu %#x %p", -3, 2.5, "ab", @"köln", 'x', 1ul << 40, 255, (void *)16]),
     "-3  2.50|ab  |köln x% 1099511627776 0xff 0x10");
  // More arguments than there are registers.
  IS(([NSString stringWithFormat:@"%d%d%d%d%d%d %g%g%g%g%g%g%g%g%g%g %s", 1, 2, 3, 4, 5, 6, 1., 2., 3., 4., 5., 6., 7., 8., 9., 0.5, "end"]),
     "123456 1234567890.5 end");
  IS(([NSString stringWithFormat:@"%*d|%.*f|%hhd|%@", 4, 7, 1, 0.25, 257, (id)0]), "   7|0.2|1|(null)");
  IS(([@"a" stringByAppendingFormat:@"%@%i", @"b", 1]), "ab1");
  NSMutableString *text = [[NSMutableString new] autorelease];
  for (int at = 0; at < 3; at++) { [text appendString:@"line"]; [text appendFormat:@"%d,", at]; }
  IS(text, "line0,line1,line2,");
  NSArray *parts = [text componentsSeparatedByString:@","];
  CHECK([parts count] == 4);
  IS([parts componentsJoinedByString:@" "], "line0 line1 line2 ");
  IS([@" \t a b  " stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceCharacterSet]], "a b");
  IS([@"aXbX" stringByReplacingOccurrencesOfString:@"X" withString:@"--"], "a--b--");
  IS([@"grüße" substringToIndex:3], "grü");
  IS([@"grüße" substringFromIndex:3], "ße");
  CHECK([@"grüße" rangeOfString:@"ß"].location == 3);
  CHECK([@" 42 apples" intValue] == 42 && [@"2.5e1x" doubleValue] == 25);
  IS(([NSString pathWithComponents:@[@"/", @"a", @"b.c"]]), "/a/b.c");
  IS([[@"/a/b" stringByDeletingLastPathComponent] stringByAppendingPathExtension:@"x"], "/a.x");
  NSLog(@"a line of %s", "NSLog");
}

static void collections(void) {
  NSArray *array = [NSArray arrayWithObjects:@"one", @"two", @"three and more", (id)0];
  CHECK([array count] == 3);
  NSDictionary *dictionary = [NSDictionary dictionaryWithObjectsAndKeys:@1, @"one", @2, @"two", (id)0];
  CHECK([dictionary count] == 2 && [dictionary[@"two"] intValue] == 2);
  NSMutableDictionary *many = [NSMutableDictionary dictionary];
  for (int at = 0; at < 100; at++) many[[NSString stringWithFormat:@"key %d", at]] = @(at);
  CHECK([many count] == 100 && [many[@"key 73"] intValue] == 73 && !many[@"key 100"]);
  many[@"key 73"] = @0;
  [many removeObjectForKey:@"key 1"];
  CHECK([many count] == 99 && [many[@"key 73"] intValue] == 0 && [many[@"key 2"] intValue] == 2);
  NSMutableArray *mutable = [[array mutableCopy] autorelease];
  mutable[0] = @"two";
  [mutable removeObject:[NSString stringWithUTF8String:"two"]];
  CHECK([mutable count] == 1);
  NSMutableSet *set = [NSMutableSet set];
  for (id item in @[@"a", @"b", @"a", @"three and more"]) [set addObject:item];
  CHECK([set count] == 3 && [set containsObject:array[2]] && ![set containsObject:@"c"]);
  [set removeObject:@"a"];
  NSUInteger count = 0;
  for (id item in set) count += [item length];
  CHECK(count == 1 + 14);
  CHECK(([[NSSet setWithArray:@[@"b", @"three and more"]] isEqual:set]));
  CHECK(([[NSSet setWithObjects:@"x", @"x", (id)0] count] == 1));
}

static void scans(void) {
  NSScanner *scanner = [NSScanner scannerWithString:@"  #include \"common.h\""];
  [scanner setCharactersToBeSkipped:[NSCharacterSet whitespaceCharacterSet]];
  NSString *name = 0;
  CHECK([scanner scanString:@"#" intoString:0] && [scanner scanString:@"include" intoString:0]);
  CHECK([scanner scanString:@"\"" intoString:0] && [scanner scanUpToString:@"\"" intoString:&name]);
  IS(name, "common.h");
  CHECK(![scanner scanString:@"x" intoString:0] && ![scanner isAtEnd]);
}

static void files(void) {
  id error = 0, manager = [NSFileManager defaultManager];
  NSString *path = [NSTemporaryDirectory() stringByAppendingPathComponent:[NSString stringWithFormat:@"framework-%d.txt", getpid()]];
  CHECK([@"some text" writeToFile:path atomically:1 encoding:4 error:&error]);
  CHECK([manager isReadableFileAtPath:path]);
  CHECK([[manager attributesOfItemAtPath:path error:&error][NSFileType] isEqual:NSFileTypeRegular]);
  IS([NSString stringWithContentsOfFile:path encoding:4 error:&error], "some text");
  CHECK([manager removeItemAtPath:path error:&error] && ![manager isReadableFileAtPath:path]);
  CHECK(![manager removeItemAtPath:path error:&error] && error);
  NSLock *lock = [[NSLock new] autorelease];
  [lock lock];
  CHECK(![lock tryLock]);
  [lock unlock];
  CHECK([lock tryLock]);
  [lock unlock];
}

int main(void) {
  @autoreleasepool {
    strings();
    collections();
    scans();
    files();
    threads();
  }
  return failures;
}
