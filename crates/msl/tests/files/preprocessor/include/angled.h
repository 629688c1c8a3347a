// test check
#ifndef ANGLED
#define ANGLED 3
#endif
