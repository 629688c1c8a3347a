// Exceptions: handlers by class, for everything, and code that runs in any case.
#include "declarations.h"

@interface Problem : NSException
@end
@implementation Problem
@end

static int order[16], steps;
static void step(int number) { order[steps++] = number; }

static void fails(int how) {
  @try {
    if (how == 1) [[NSException exceptionWithName:@"Generic" reason:@"a reason" userInfo:0] raise];
    if (how == 2) @throw [[Problem new] autorelease];
    if (how == 3) @throw @"a string";
    if (how == 4) [NSException raise:@"Formatted" format:@"%d of %@", 3, @"four"];
    step(10);
  } @finally {
    step(11);
  }
}

static int caught(int how) {
  @try {
    fails(how);
  } @catch (Problem *problem) {
    return 1;
  } @catch (NSException *exception) {
    return strcmp([[exception reason] UTF8String], how == 1 ? "a reason" : "3 of four") == 0 ? 2 : 20;
  } @catch (id other) {
    IS(other, "a string");
    return 3;
  }
  return 0;
}

static int again(void) {
  @try {
    @try {
      fails(1);
    } @catch (NSException *exception) {
      step(12);
      @throw;
    }
  } @catch (id exception) {
    IS([exception name], "Generic");
    return 1;
  }
  return 0;
}

int main(int count, char **arguments) {
  @autoreleasepool {
    if (count > 1) fails(1);
    CHECK(caught(0) == 0 && steps == 2 && order[0] == 10 && order[1] == 11);
    steps = 0;
    CHECK(caught(1) == 2 && caught(2) == 1 && caught(3) == 3 && caught(4) == 2);
    CHECK(steps == 4 && order[3] == 11);
    steps = 0;
    CHECK(again() == 1 && steps == 2 && order[1] == 12);
  }
  CHECK(metalworks_live_objects("Problem") == 0);
  return failures;
}
