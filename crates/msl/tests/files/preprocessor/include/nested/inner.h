// test check
#define INNER 2
