// test check
#define COMPUTED 4
