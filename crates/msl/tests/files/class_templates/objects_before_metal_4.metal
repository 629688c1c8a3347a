// test check
struct Descriptor { int m; };
template <Descriptor D> struct Operation {};
constexpr constant Descriptor d = {1};
Operation<d> f();  // error: a non-type template parameter cannot have type 'Descriptor'
