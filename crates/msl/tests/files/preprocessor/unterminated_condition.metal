// test check
#if 1  // error: unterminated conditional directive
kernel void k() {}
