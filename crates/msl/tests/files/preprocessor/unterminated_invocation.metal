// test check
#define F(x) x
constant int a = F(1;  // error: unterminated function-like macro invocation // error: expected ';'
