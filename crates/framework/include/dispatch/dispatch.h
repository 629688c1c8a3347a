// The part of libdispatch that programs with Metal use.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Objects of Objective-C, which are counted automatically where that is on; C and C++ do not look inside.
#ifdef __OBJC__
#define DISPATCH_OBJECT_(name) @protocol OS_##name; typedef id<OS_##name> name##_t
#define DISPATCH_RETAINED_ __attribute__((ns_returns_retained))
#else
#define DISPATCH_OBJECT_(name) typedef struct name##_s *name##_t
#define DISPATCH_RETAINED_
#endif
// An object of any of these types.
typedef void *dispatch_any_t;
DISPATCH_OBJECT_(dispatch_queue);
DISPATCH_OBJECT_(dispatch_group);
DISPATCH_OBJECT_(dispatch_semaphore);
DISPATCH_OBJECT_(dispatch_data);
typedef struct dispatch_queue_attr_s *dispatch_queue_attr_t;
#undef DISPATCH_OBJECT_

typedef uint64_t dispatch_time_t;
typedef long dispatch_once_t;
typedef void (*dispatch_function_t)(void *);
#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
#endif

#define DISPATCH_TIME_NOW 0ull
#define DISPATCH_TIME_FOREVER (~0ull)
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull

#define QOS_CLASS_USER_INTERACTIVE 0x21
#define QOS_CLASS_USER_INITIATED 0x19
#define QOS_CLASS_DEFAULT 0x15
#define QOS_CLASS_UTILITY 0x11
#define QOS_CLASS_BACKGROUND 0x09
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)

#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_CURRENT_QUEUE_LABEL ((dispatch_queue_t)0)
#define DISPATCH_QUEUE_CONCURRENT ((dispatch_queue_attr_t)1)

#if !defined(__OBJC__) || !__has_feature(objc_arc)
void dispatch_retain(dispatch_any_t object);
void dispatch_release(dispatch_any_t object);
#endif

extern struct dispatch_queue_s _dispatch_main_q;
static inline dispatch_queue_t dispatch_get_main_queue(void) {
#ifdef __OBJC__
  return (__bridge dispatch_queue_t)(void *)&_dispatch_main_q;
#else
  return &_dispatch_main_q;
#endif
}
void dispatch_main(void) __attribute__((noreturn));
dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
dispatch_queue_t dispatch_queue_create(const char *label, dispatch_queue_attr_t attribute) DISPATCH_RETAINED_;
void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_barrier_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_barrier_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void *context, void (*work)(void *, size_t));
void dispatch_once_f(dispatch_once_t *predicate, void *context, dispatch_function_t work);
void dispatch_queue_set_specific(dispatch_queue_t queue, const void *key, void *context, dispatch_function_t destructor);
void *dispatch_queue_get_specific(dispatch_queue_t queue, const void *key);
void *dispatch_get_specific(const void *key);
const char *dispatch_queue_get_label(dispatch_queue_t queue);
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute, unsigned quality, int priority);
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta);

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) DISPATCH_RETAINED_;
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);

dispatch_group_t dispatch_group_create(void) DISPATCH_RETAINED_;
void dispatch_group_enter(dispatch_group_t group);
void dispatch_group_leave(dispatch_group_t group);
intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);
void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void *context, dispatch_function_t work);

#ifdef __BLOCKS__
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);
void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_barrier_sync(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_apply(size_t iterations, dispatch_queue_t queue, void (^block)(size_t));
void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
void dispatch_once(dispatch_once_t *predicate, dispatch_block_t block);
extern const dispatch_block_t _dispatch_data_destructor_free, _dispatch_data_destructor_munmap;
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT NULL
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
#define DISPATCH_DATA_DESTRUCTOR_MUNMAP (_dispatch_data_destructor_munmap)
dispatch_data_t dispatch_data_create(const void *bytes, size_t size, dispatch_queue_t queue, dispatch_block_t destructor)
    DISPATCH_RETAINED_;
bool dispatch_data_apply(dispatch_data_t data,
                         bool (^applier)(dispatch_data_t region, size_t offset, const void *bytes, size_t size));
#endif
extern struct dispatch_data_s _dispatch_data_empty;
#ifdef __OBJC__
#define dispatch_data_empty ((__bridge dispatch_data_t)(void *)&_dispatch_data_empty)
#else
#define dispatch_data_empty (&_dispatch_data_empty)
#endif
dispatch_data_t dispatch_data_create_subrange(dispatch_data_t data, size_t offset, size_t length) DISPATCH_RETAINED_;
dispatch_data_t dispatch_data_create_concat(dispatch_data_t first, dispatch_data_t second) DISPATCH_RETAINED_;
dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void **bytes, size_t *size) DISPATCH_RETAINED_;
size_t dispatch_data_get_size(dispatch_data_t data);

#ifdef __cplusplus
}
#endif
