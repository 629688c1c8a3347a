// Foundation as programs with Metal use it, by the headers alone.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

@interface Runner : NSObject
@property(nonatomic, strong) NSMutableDictionary<NSString *, NSNumber *> *counts;
- (void)note:(NSString *)name;
@end

@implementation Runner
@synthesize counts = _counts;
- (instancetype)init {
  if ((self = [super init])) _counts = [NSMutableDictionary new];
  return self;
}
- (void)note:(NSString *)name {
  NSParameterAssert(name);
  _counts[name] = @(_counts[name].intValue + 1);
}
- (void)dealloc {
  [_counts release];
  [super dealloc];
}
@end

int main(void) {
  @autoreleasepool {
    Runner *runner = [[Runner new] autorelease];
    for (NSString *name in @[ @"gemv", @"norm", @"gemv" ]) [runner note:name];
    NSArray<NSString *> *names = [runner.counts.allKeys sortedArrayUsingSelector:@selector(compare:)];
    NSLog(@"names %@", [names componentsJoinedByString:@" "]);

    NSMutableArray<NSNumber *> *numbers = [NSMutableArray arrayWithObjects:@3, @1, @2, @1, nil];
    [numbers sortUsingComparator:^NSComparisonResult(id left, id right) {
      return [left compare:right];
    }];
    __block int sum = 0;
    [numbers enumerateObjectsUsingBlock:^(NSNumber *number, NSUInteger index, BOOL *stop) {
      sum += number.intValue * (int)(index + 1);
      *stop = index == 2;
    }];
    NSLog(@"sorted %@ sum %d last %@", [numbers componentsJoinedByString:@","], sum,
          numbers.reverseObjectEnumerator.nextObject);
    __block int total = 0;
    [runner.counts enumerateKeysAndObjectsUsingBlock:^(NSString *key, NSNumber *count, BOOL *stop) {
      (void)stop;
      total += count.intValue * (int)key.length;
    }];
    NSLog(@"total %d equal %d", total, [@{ @"a" : @1 } isEqualToDictionary:@{ @"a" : @1 }]);

    NSLog(@"%@ %@ %@ %d", NSStringFromClass([runner class]), NSStringFromSelector(@selector(note:)),
          NSStringFromRange(NSMakeRange(2, 3)), NSClassFromString(@"Runner") == [Runner class]);
    NSDate *begin = [NSDate date];
    [NSThread sleepForTimeInterval:0.001];
    NSLog(@"later %d", -begin.timeIntervalSinceNow > 0);
    @try {
      [runner note:nil];
    } @catch (NSException *exception) {
      NSLog(@"caught %@: %@", exception.name, exception.reason);
    }

    dispatch_data_t part = dispatch_data_create_subrange(dispatch_data_empty, 0, 8);
    NSLog(@"main %s %d", dispatch_queue_get_label(dispatch_get_main_queue()), (int)dispatch_data_get_size(part));
    dispatch_release(part);

    id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
    NSLog(@"times %d counters %@", [device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary],
          device.counterSets.firstObject.name);
  }
  return 0;
}
