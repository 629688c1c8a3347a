// test check
#include <metal_stdlib>
using namespace metal;

enum Color { red, green = 5, blue };
enum class Mode : uchar { fast = 1, slow = fast * 2 };
enum struct Other { a, b = 10 };
enum { anonymous = 7 };
enum Sized : short { s1 = -1 };
enum Negative { minus = -2, zero = minus + 2 };
enum class Forward : int;
enum class Forward : int { x };
static_assert(blue == 6 && int(Mode::slow) == 2 && anonymous == 7 && zero == 0, "");
static_assert(sizeof(Mode) == 1 && sizeof(Sized) == 2 && sizeof(Color) == 4, "");
static_assert(is_same_v<underlying_type_t<Mode>, uchar>, "");
struct S { enum Kind { k1, k2 }; enum { size = 4 }; Kind kind; float data[size]; };
template <Mode M> int cost() { return M == Mode::fast ? 1 : 2; }
typedef enum { t1, t2 } Typedefed;
int take(Color c) { return c; }
int take(int n) { return -n; }

kernel void enums(device int *out) {
  Color c = red;
  int n = c + green;
  Mode m = Mode::fast;
  out[0] = n + int(m) + static_cast<int>(Mode::slow) + S::k2 + anonymous + take(blue) + take(1) + cost<Mode::slow>();
  switch (m) {
    case Mode::fast: out[1] = 1; break;
    case Mode::slow: out[1] = 2; break;
  }
  switch (c) { case red: case Color::green: break; default: break; }
  Color d = Color(1);
  Color e = static_cast<Color>(n);
  S s = {S::k1, {1}};
  if (m == Mode::slow && m != Mode::fast && m < Mode::slow && d == e) out[2] = s.kind;
  Typedefed t = t2;
  out[t] = Color::blue | green;
}
