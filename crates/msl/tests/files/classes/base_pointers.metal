// test check
// Pointers and references to base classes, and back.
struct A { int a = 1; };
struct B { int b = 2; };
struct C : A, B { int c = 3; };
constexpr int through(thread const B *b) { return b->b * 10 + static_cast<thread const C *>(b)->c; }
constexpr int both() {
  C c{};
  c.b = 4;
  thread B &b = c;
  b.b += 1;
  return through(&c) + static_cast<thread C &>(b).c;
}
static_assert(both() == 56, "");
struct Other { int o; };
void casts(thread C &c, thread B &b, thread const B &read, bool which) {
  thread B *either = which ? &b : &c;
  bool same = either == &c && &c == &b;
  (void)static_cast<thread C &>(b);
  (void)static_cast<const thread C &>(read);
  (void)(thread C &)read;
  (void)static_cast<thread C &>(read);  // error: cast from 'const B' to 'thread C &' is not allowed
  (void)static_cast<thread Other &>(b);  // error: cast from 'B' to 'thread Other &' is not allowed
  (void)static_cast<device C &>(b);  // error: cast from 'B' to 'device C &' is not allowed
}
