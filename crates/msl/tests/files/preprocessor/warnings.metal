// test check
// options: -W
#warning careful  // warning: careful
#define A 1
#define A 2  // warning: 'A' macro redefined
kernel void k() {}
