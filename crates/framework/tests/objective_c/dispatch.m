// libdispatch: serial and concurrent queues, barriers, groups, semaphores.
#include "declarations.h"

id dispatch_queue_create(const char *label, const void *attribute);
id dispatch_get_global_queue(long class, unsigned long flags);
void dispatch_async(id queue, void (^block)(void));
void dispatch_sync(id queue, void (^block)(void));
void dispatch_barrier_async(id queue, void (^block)(void));
void dispatch_apply(unsigned long count, id queue, void (^block)(unsigned long));
void dispatch_after(unsigned long when, id queue, void (^block)(void));
unsigned long dispatch_time(unsigned long from, long nanoseconds);
id dispatch_group_create(void);
void dispatch_group_async(id group, id queue, void (^block)(void));
void dispatch_group_notify(id group, id queue, void (^block)(void));
long dispatch_group_wait(id group, unsigned long until);
id dispatch_semaphore_create(long value);
long dispatch_semaphore_signal(id semaphore);
long dispatch_semaphore_wait(id semaphore, unsigned long until);
void dispatch_release(id object);
extern char _dispatch_queue_attr_concurrent[];

int main(void) {
  @autoreleasepool {
    id serial = dispatch_queue_create("serial", 0), concurrent = dispatch_queue_create("concurrent", _dispatch_queue_attr_concurrent);
    id group = dispatch_group_create(), done = dispatch_semaphore_create(0), entered = dispatch_semaphore_create(0);
    __block int order = 0;
    for (int at = 0; at < 100; at++) dispatch_async(serial, ^{ order = order == at ? at + 1 : -1000; });
    dispatch_sync(serial, ^{ CHECK(order == 100); });

    // Two blocks of a concurrent queue wait for each other; a barrier waits for both, and the next one for it.
    __block int before = 0, after = 0;
    for (int at = 0; at < 2; at++)
      dispatch_group_async(group, concurrent, ^{
        dispatch_semaphore_signal(at ? entered : done);
        dispatch_semaphore_wait(at ? done : entered, ~0ul);
        __sync_fetch_and_add(&before, 1);
      });
    dispatch_barrier_async(concurrent, ^{ CHECK(before == 2 && after == 0); after = 1; });
    dispatch_group_async(group, concurrent, ^{ CHECK(after == 1); after = 2; });
    CHECK(dispatch_group_wait(group, ~0ul) == 0);
    CHECK(after == 2);
    dispatch_group_notify(group, dispatch_get_global_queue(0, 0), ^{ dispatch_semaphore_signal(done); });
    CHECK(dispatch_semaphore_wait(done, ~0ul) == 0);
    CHECK(dispatch_semaphore_wait(done, dispatch_time(0, 1000)) != 0);
    dispatch_after(dispatch_time(0, 1000000), serial, ^{ dispatch_semaphore_signal(done); });
    CHECK(dispatch_semaphore_wait(done, ~0ul) == 0);
    __block int sum = 0;
    dispatch_apply(10, concurrent, ^(unsigned long at) { __sync_fetch_and_add(&sum, (int)at); });
    CHECK(sum == 45);
    dispatch_release(serial);
    dispatch_release(concurrent);
    dispatch_release(group);
    dispatch_release(done);
    dispatch_release(entered);
  }
  return failures;
}
