// libdispatch: serial and concurrent queues, barriers, groups, semaphores, data, and the main queue.
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
void dispatch_async_f(id queue, void *context, void (*work)(void *));
void dispatch_sync_f(id queue, void *context, void (*work)(void *));
void dispatch_barrier_sync(id queue, void (^block)(void));
void dispatch_apply_f(unsigned long count, id queue, void *context, void (*work)(void *, unsigned long));
void dispatch_group_async_f(id group, id queue, void *context, void (*work)(void *));
void dispatch_group_notify_f(id group, id queue, void *context, void (*work)(void *));
void dispatch_after_f(unsigned long when, id queue, void *context, void (*work)(void *));
void dispatch_once(long *done, void (^block)(void));
void dispatch_once_f(long *done, void *context, void (*work)(void *));
const char *dispatch_queue_get_label(id queue);
void dispatch_queue_set_specific(id queue, const void *key, void *value, void (*release)(void *));
void *dispatch_queue_get_specific(id queue, const void *key);
void *dispatch_get_specific(const void *key);
id dispatch_data_create(const void *bytes, unsigned long size, id queue, void (^destructor)(void));
id dispatch_data_create_subrange(id data, unsigned long offset, unsigned long length);
id dispatch_data_create_concat(id a, id b);
id dispatch_data_create_map(id data, const void **bytes, unsigned long *size);
unsigned long dispatch_data_get_size(id data);
void dispatch_main(void) __attribute__((noreturn));
void exit(int status);
void *malloc(unsigned long size);
void *memcpy(void *to, const void *from, unsigned long size);
void *pthread_self(void);
extern char _dispatch_queue_attr_concurrent[], _dispatch_main_q[], _dispatch_data_empty[];
extern void (^const _dispatch_data_destructor_free)(void);

static void add_one(void *number) { __sync_fetch_and_add((int *)number, 1); }
static void add(void *number, unsigned long at) { __sync_fetch_and_add((int *)number, (int)at); }
static void signal_it(void *semaphore) { dispatch_semaphore_signal((__bridge id)semaphore); }

// C functions with an argument in place of blocks.
static void functions(id queue) {
  id group = dispatch_group_create(), done = dispatch_semaphore_create(0);
  int number = 0;
  dispatch_sync_f(queue, &number, add_one);
  CHECK(number == 1);
  dispatch_group_async_f(group, queue, &number, add_one);
  dispatch_group_notify_f(group, queue, (__bridge void *)done, signal_it);
  CHECK(dispatch_semaphore_wait(done, ~0ul) == 0 && number == 2);
  dispatch_after_f(dispatch_time(0, 1000), queue, (__bridge void *)done, signal_it);
  CHECK(dispatch_semaphore_wait(done, ~0ul) == 0);
  dispatch_apply_f(4, queue, &number, add);
  CHECK(number == 8);
  dispatch_release(group);
  dispatch_release(done);
}

// What is done once may do something else once.
static void once(void) {
  static long outer, inner, function;
  __block int count = 0;
  int calls = 0;
  for (int at = 0; at < 2; at++) {
    dispatch_once(&outer, ^{ dispatch_once(&inner, ^{ count += 1; }); count += 10; });
    dispatch_once_f(&function, &calls, add_one);
  }
  CHECK(count == 11 && calls == 1);
}

// A block that is waited for runs on the thread that waits, as a part of its queue.
static void here(id queue, id concurrent) {
  static int key, released;
  void *thread = pthread_self();
  dispatch_queue_set_specific(queue, &key, &released, add_one);
  CHECK(dispatch_get_specific(&key) == 0 && dispatch_queue_get_specific(queue, &key) == &released);
  dispatch_sync(queue, ^{
    CHECK(pthread_self() == thread && dispatch_get_specific(&key) == &released);
    CHECK(!strcmp(dispatch_queue_get_label(0), "serial"));
    dispatch_barrier_sync(concurrent, ^{ CHECK(!strcmp(dispatch_queue_get_label(0), "concurrent")); });
    CHECK(!strcmp(dispatch_queue_get_label(0), "serial"));
  });
  dispatch_queue_set_specific(queue, &key, 0, 0);
  CHECK(released == 1 && dispatch_queue_get_specific(queue, &key) == 0);
}

static void data(void) {
  char *bytes = malloc(6);
  memcpy(bytes, "bytes", 6);
  id whole = dispatch_data_create(bytes, 6, 0, _dispatch_data_destructor_free);
  id part = dispatch_data_create_subrange(whole, 2, 100), both = dispatch_data_create_concat((__bridge id)(void *)_dispatch_data_empty, part);
  const void *start = 0;
  unsigned long size = 0;
  id map = dispatch_data_create_map(both, &start, &size);
  CHECK(size == 4 && !strcmp(start, "tes") && dispatch_data_get_size(whole) == 6);
  CHECK(dispatch_data_get_size((__bridge id)(void *)_dispatch_data_empty) == 0);
  dispatch_release(map);
  dispatch_release(both);
  dispatch_release(part);
  dispatch_release(whole);
}

static void *main_thread;

static void finish(void *number) {
  CHECK(pthread_self() == main_thread && *(int *)number == 2);
  exit(failures);
}

// Work of the main queue runs on the main thread, in order, when that waits for it.
static void main_queue(void) {
  static int number;
  id queue = (__bridge id)(void *)_dispatch_main_q;
  main_thread = pthread_self();
  CHECK(!strcmp(dispatch_queue_get_label(queue), "com.apple.main-thread"));
  dispatch_async(queue, ^{ CHECK(pthread_self() == main_thread); number++; });
  dispatch_async(dispatch_get_global_queue(0, 0), ^{
    dispatch_sync(queue, ^{ CHECK(pthread_self() == main_thread && number == 1); number++; });
    dispatch_async_f(queue, &number, finish);
  });
  dispatch_main();
}

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
    functions(concurrent);
    functions(serial);
    once();
    here(serial, concurrent);
    data();
    dispatch_release(serial);
    dispatch_release(concurrent);
    dispatch_release(group);
    dispatch_release(done);
    dispatch_release(entered);
  }
  main_queue();
}
