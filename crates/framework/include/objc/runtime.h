// The Objective-C runtime.
#pragma once

#include <objc/objc.h>

typedef struct objc_method *Method;
typedef struct objc_ivar *Ivar;
typedef struct objc_property *objc_property_t;
#ifdef __OBJC__
@class Protocol;
#else
typedef struct objc_object Protocol;
#endif

#ifdef __cplusplus
extern "C" {
#endif

Class objc_getClass(const char *name);
Class objc_lookUpClass(const char *name);
Protocol *objc_getProtocol(const char *name);
Class object_getClass(id object);
const char *class_getName(Class cls);
Class class_getSuperclass(Class cls);
BOOL class_isMetaClass(Class cls);
BOOL class_respondsToSelector(Class cls, SEL name);
BOOL class_addMethod(Class cls, SEL name, IMP implementation, const char *types);
Method class_getInstanceMethod(Class cls, SEL name);
Method class_getClassMethod(Class cls, SEL name);
size_t class_getInstanceSize(Class cls);
IMP class_getMethodImplementation(Class cls, SEL name);
IMP class_replaceMethod(Class cls, SEL name, IMP implementation, const char *types);
BOOL class_addProtocol(Class cls, Protocol *protocol);
BOOL class_conformsToProtocol(Class cls, Protocol *protocol);
IMP method_getImplementation(Method method);
IMP method_setImplementation(Method method, IMP implementation);
void method_exchangeImplementations(Method first, Method second);
SEL method_getName(Method method);
const char *method_getTypeEncoding(Method method);
const char *object_getClassName(id object);
Class object_setClass(id object, Class cls);
const char *protocol_getName(Protocol *protocol);
Class objc_allocateClassPair(Class superclass, const char *name, size_t extra_bytes);
void objc_registerClassPair(Class cls);
SEL sel_registerName(const char *name);
SEL sel_getUid(const char *name);
const char *sel_getName(SEL selector);
BOOL sel_isEqual(SEL left, SEL right);

typedef uintptr_t objc_AssociationPolicy;
enum {
  OBJC_ASSOCIATION_ASSIGN = 0,
  OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
  OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
  OBJC_ASSOCIATION_RETAIN = 01401,
  OBJC_ASSOCIATION_COPY = 01403
};
id objc_getAssociatedObject(id object, const void *key);
void objc_setAssociatedObject(id object, const void *key, id value, objc_AssociationPolicy policy);
void objc_removeAssociatedObjects(id object);

id objc_retain(id object);
void objc_release(id object);
id objc_autorelease(id object);
id objc_retainAutoreleasedReturnValue(id object);
void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *pool);

#ifdef __cplusplus
}
#endif
