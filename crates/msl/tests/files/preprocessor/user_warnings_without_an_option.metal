// test check
#warning careful  // warning: careful
kernel void k() {}
