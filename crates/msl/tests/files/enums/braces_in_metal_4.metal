// test check
// options: --std metal4.0
enum class Scoped : uchar { A, B };
enum Fixed : short { C };
enum Plain { D };

static_assert(uchar(Scoped{255}) == 255, "");
static_assert(Scoped{1} == Scoped::B, "");

kernel void k(device int *out) {
  Scoped a{1};
  Fixed b{-3};
  out[0] = int(a) + b + int(Scoped{out[1] > 0}) + int(Scoped{Scoped::B});
  Scoped c{256};  // error: constant expression evaluates to 256 which cannot be narrowed to type 'uchar'
  Scoped d{1.0f};  // error: type 'float' cannot be narrowed to 'uchar' in initializer list
  Scoped e = {1};  // error: cannot initialize a variable of type 'Scoped' with an rvalue of type 'int'
  Plain f{1};  // error: cannot initialize a variable of type 'Plain' with an rvalue of type 'int'
}
