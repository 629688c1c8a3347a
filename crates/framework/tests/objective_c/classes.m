// Classes, categories, protocols and properties that clang emits.
#include "declarations.h"

static int loaded, initialized;

@protocol Numbered
- (int)number;
@end
@protocol Counted <Numbered>
- (int)count;
@optional
- (int)other;
@end

@interface Base : NSObject <Counted> {
  char first;
  double second;
  int third : 3;
  int fourth : 4;
}
@property (nonatomic, retain) id thing;
@property (copy) id text;
@property int plain;
+ (int)answer;
@end

@implementation Base
+ (void)load { loaded++; }
+ (void)initialize { initialized++; }
+ (int)answer { return 42; }
- (id)init { first = 1; second = 0.5; third = 2; fourth = 5; return self; }
- (int)number { return first + third + fourth + (second == 0.5); }
- (int)count { return 1; }
- (void)dealloc { self.thing = 0; self.text = 0; [super dealloc]; }
@end

@interface Derived : Base {
  char last;
  __attribute__((vector_size(16))) float wide;
}
@end
@implementation Derived
- (id)init { if ((self = [super init])) { last = 10; wide[3] = 7; } return self; }
- (int)number { return [super number] + last + (int)wide[3]; }
@end

@interface NSObject (Extra)
- (int)extra;
+ (int)extra;
@end
@implementation NSObject (Extra)
+ (void)load { loaded += 10; }
- (int)extra { return 7; }
+ (int)extra { return 8; }
@end

@interface NSArray (Length)
- (NSUInteger)count;
@end

@compatibility_alias Alias Derived;

int main(void) {
  @autoreleasepool {
    CHECK(loaded == 11);
    CHECK(initialized == 0);
    CHECK([Base answer] == 42);
    CHECK(initialized == 1);
    Derived *derived = [Alias new];
    // A class without the method inherits it, and receives the message for itself.
    CHECK(initialized == 2);
    CHECK([Derived answer] == 42);
    CHECK([derived number] == 9 + 10 + 7);
    CHECK([derived extra] == 7);
    CHECK([Derived extra] == 8);
    CHECK([derived conformsToProtocol:@protocol(Counted)]);
    CHECK([derived conformsToProtocol:@protocol(Numbered)]);
    CHECK(![[[NSObject new] autorelease] conformsToProtocol:@protocol(Numbered)]);
    CHECK([derived respondsToSelector:@selector(count)]);
    CHECK(![derived respondsToSelector:@selector(other)]);
    CHECK([derived isKindOfClass:[Base class]]);
    IS(@protocol(Numbered), "Numbered");

    NSMutableString *text = [[@"a long string" mutableCopy] autorelease];
    derived.text = text;
    [text appendString:@"er one"];
    IS(derived.text, "a long string");
    derived.plain = 3;
    CHECK(derived.plain == 3);
    Base *thing = [Base new];
    derived.thing = thing;
    CHECK([thing retainCount] == 2);
    [thing release];
    CHECK(derived.thing == thing);
    [derived release];
    CHECK(metalworks_live_objects("Base") == 0);
    CHECK(metalworks_live_objects("Derived") == 0);

    // Literals: in the bits of a pointer, as bytes, and as UTF-16.
    IS(@"", "");
    IS(@"short", "short");
    IS(@"12345678", "12345678");
    IS(@"more than eight", "more than eight");
    IS(@"grüße aus köln", "grüße aus köln");
    CHECK([@"grüße" length] == 5);
    CHECK([@"short" isEqual:[NSString stringWithUTF8String:"short"]]);
    CHECK([[NSString stringWithUTF8String:"more than eight"] isEqual:@"more than eight"]);
    NSArray *array = @[@"one", @2, @2.5, @"another long string"];
    CHECK([array count] == 4);
    int number = 0;
    for (id item in array) number += item == array[number] ? 1 : 100;
    CHECK(number == 4);
    NSDictionary *dictionary = @{@"key": @"value", @"a longer key": @1};
    IS(dictionary[@"key"], "value");
    CHECK([dictionary[@"a longer key"] intValue] == 1);
    @synchronized(array) { @synchronized(array) { number++; } }
    CHECK(number == 5);
  }
  return failures;
}
