// Automatic reference counting, with variables that the compiler releases, and weak references.
#include "declarations.h"

void *objc_setAssociatedObject(id object, const void *key, id value, NSUInteger policy);
id objc_getAssociatedObject(id object, const void *key);

static int deallocated;

@interface Node : NSObject {
  id owned;
  __weak id parent;
}
@property (nonatomic, strong) Node *next;
@property (nonatomic, weak) Node *back;
@end
@implementation Node
- (id)init { if ((self = [super init])) owned = [NSMutableArray new]; return self; }
- (void)dealloc { deallocated++; }
@end

static Node *make(void) { return [Node new]; }

int main(void) {
  static char key;
  @autoreleasepool {
    __weak Node *seen;
    {
      Node *first = make();
      first.next = make();
      first.next.back = first;
      seen = first;
      CHECK(seen == first && first.next.back == first);
      objc_setAssociatedObject(first, &key, make(), 1);
      CHECK([objc_getAssociatedObject(first, &key) isKindOfClass:[Node class]]);
      int (^block)(void) = ^{ return first == seen ? 1 : 0; };
      CHECK(block() == 1);
    }
  }
  CHECK(deallocated == 3);
  CHECK(metalworks_live_objects("Node") == 0);
  CHECK(metalworks_live_objects("NSMutableArray") == 0);
  return failures;
}
