// The declarations that the programs beside this file use.
typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef struct objc_class *Class;
typedef struct { unsigned long state; __unsafe_unretained id *items; unsigned long *mutations; unsigned long extra[5]; } State;

int printf(const char *format, ...);
int strcmp(const char *a, const char *b);
long metalworks_live_objects(const char *name);

__attribute__((objc_root_class))
@interface NSObject { Class isa; }
+ (id)alloc;
+ (id)new;
+ (Class)class;
- (id)init;
- (void)dealloc;
- (id)retain;
- (void)release;
- (id)autorelease;
- (NSUInteger)retainCount;
- (BOOL)conformsToProtocol:(id)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
- (BOOL)isKindOfClass:(Class)class;
- (BOOL)isEqual:(id)other;
- (id)copy;
- (id)mutableCopy;
- (id)description;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
@end

@interface NSString : NSObject
+ (NSString *)stringWithUTF8String:(const char *)text;
+ (NSString *)stringWithFormat:(NSString *)format, ...;
- (const char *)UTF8String;
- (NSUInteger)length;
- (id)stringByAppendingString:(NSString *)other;
@end
@interface NSConstantString : NSString
@end
@interface NSMutableString : NSString
- (void)appendString:(NSString *)other;
- (void)appendFormat:(NSString *)format, ...;
@end
@interface NSNumber : NSObject
+ (NSNumber *)numberWithInt:(int)value;
+ (NSNumber *)numberWithDouble:(double)value;
- (int)intValue;
@end
@interface NSArray : NSObject
+ (id)arrayWithObjects:(const id *)objects count:(NSUInteger)count;
+ (id)arrayWithObjects:(id)first, ...;
- (NSUInteger)count;
- (id)objectAtIndexedSubscript:(NSUInteger)index;
- (NSUInteger)countByEnumeratingWithState:(State *)state objects:(__unsafe_unretained id *)objects count:(NSUInteger)count;
@end
@interface NSMutableArray : NSArray
- (void)addObject:(id)object;
@end
@interface NSDictionary : NSObject
+ (id)dictionaryWithObjects:(const id *)objects forKeys:(const id *)keys count:(NSUInteger)count;
+ (id)dictionaryWithObjectsAndKeys:(id)first, ...;
- (NSUInteger)count;
- (id)objectForKeyedSubscript:(id)key;
@end
@interface NSException : NSObject
+ (id)exceptionWithName:(NSString *)name reason:(NSString *)reason userInfo:(id)info;
+ (void)raise:(NSString *)name format:(NSString *)format, ...;
- (void)raise;
- (NSString *)name;
- (NSString *)reason;
@end

static int failures;
#define CHECK(condition) \
  do { if (!(condition)) { failures++; printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); } } while (0)
#define IS(object, text) CHECK(strcmp([[object description] UTF8String], text) == 0)
