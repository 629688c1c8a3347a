// Exceptions in Objective-C++: of objects and of C++, in one function and through each other's frames.
#import <Foundation/Foundation.h>

#include <stdexcept>
#include <string>
#include <vector>

static int failures = 0;
#define CHECK(...) \
  do { \
    if (!(__VA_ARGS__)) { \
      failures++; \
      printf("line %d: %s\n", __LINE__, #__VA_ARGS__); \
    } \
  } while (0)

@interface Thrower : NSObject {
  std::vector<int> numbers;
}
- (void)throwObject;
- (void)throwError;
@end

@implementation Thrower
- (void)throwObject {
  [NSException raise:NSGenericException format:@"%zu numbers", numbers.size()];
}
- (void)throwError {
  throw std::runtime_error("of C++");
}
@end

struct Guard {
  int &ended;
  ~Guard() { ended++; }
};

/// The kind of an exception, by the handler that it reaches.
static std::string kind(Thrower *thrower, SEL selector, int &ended) {
  try {
    Guard guard{ended};
    @try {
      [thrower performSelector:selector];
    } @catch (NSString *text) {
      return "a string";
    } @catch (NSException *exception) {
      return exception.reason.UTF8String;
    }
  } catch (const std::exception &error) {
    return error.what();
  }
  return "nothing";
}

/// Throws what it catches again.
static void again() {
  @try {
    @throw @"text";
  } @catch (id object) {
    @throw;
  }
}

int main() {
  @autoreleasepool {
    Thrower *thrower = [[Thrower alloc] init];
    int ended = 0;
    CHECK(kind(thrower, @selector(throwObject), ended) == "0 numbers" && ended == 1);
    CHECK(kind(thrower, @selector(throwError), ended) == "of C++" && ended == 2);
    CHECK(kind(thrower, @selector(description), ended) == "nothing" && ended == 3);
    bool caught = false;
    @try {
      Guard guard{ended};
      again();
    } @catch (NSString *text) {
      caught = [text isEqualToString:@"text"];
    } @finally {
      ended++;
    }
    CHECK(caught && ended == 5);
    try {
      [NSException raise:NSGenericException format:@"any"];
    } catch (...) {
      ended++;
    }
    CHECK(ended == 6);
    [thrower release];
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
