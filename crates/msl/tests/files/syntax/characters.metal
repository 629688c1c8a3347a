// test check
kernel void k() {
  int a = 1 @ 2;  // error: expected ';'
  char b = '';  // error: empty character constant
  constant char *c = "unterminated;  // error: missing terminating // error: expected ';'
}
