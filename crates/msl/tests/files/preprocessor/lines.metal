// test check
// options: -W
#line 100 "elsewhere.metal"
constant int shifted = missing;  // error: use of undeclared identifier 'missing'
static_assert(__LINE__ == 101, "the line after it is 100");
#line  // error: #line directive requires a positive integer argument
#line none  // error: #line directive requires a positive integer argument
#line -1  // error: #line directive requires a positive integer argument
#line 3.5  // error: #line directive requires a simple digit sequence
#line 3 file  // error: invalid filename for #line directive
#line 3 "file" 4  // warning: extra tokens at end of #line directive
#line 010  // warning: #line directive interprets number as decimal, not octal
static_assert(__LINE__ == 10, "and not 8");
# 55 "marked.metal" 1
static_assert(__LINE__ == 55, "as after #line");
# 55 "marked.metal" 9  // error: invalid flag line marker directive
constant int last = absent;  // error: use of undeclared identifier 'absent'
