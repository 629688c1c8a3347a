// test check
#error stop here  // error: stop here
#define F(x) x
#define TWICE(x, x) x  // error: duplicate macro parameter name 'x'
#define BAD # y
#define PASTE(a, b) a##b
#define HASH(x) #y  // error: '#' is not followed by a macro parameter
#unknown  // error: invalid preprocessing directive
#if  // error: expected value in expression
#endif
#if 1 / 0  // error: division by zero in preprocessor expression
#endif
#if 1.5 > 1  // error: floating point literal in preprocessor expression
#endif
#endif  // error: #endif without #if
#else  // error: #else without #if
#include  // error: expected
#define 3 4  // error: macro name must be an identifier
#define defined 1  // error: 'defined' cannot be used as a macro name
#undef  // error: macro name missing
constant int a = F(1, 2);  // error: too many arguments provided to function-like macro invocation
constant int b = PASTE(1, +) 1;  // error: pasting formed '1+', an invalid preprocessing token
