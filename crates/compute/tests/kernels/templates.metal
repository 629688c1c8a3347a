#include <metal_stdlib>
using namespace metal;

// Templates and what comes with them. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

template <typename T> T larger(T a, T b) { return a > b ? a : b; }
template <typename T> T scaled(T x) { return x * T(0.5); }

PER_THREAD(function_template) { out[i] = larger(in[i], 30) + int(scaled<float>(float(in[i]))); }

template <int N> int times(int x) { return x * N; }
template <typename T, int N> T sum_of(thread T (&values)[N]) {
  T sum = 0;
  for (int k = 0; k < N; k++) sum += values[k];
  return sum;
}

PER_THREAD(value_parameters) {
  int threes[3] = {3, 3, 3};
  out[i] = times<5>(in[i]) + sum_of(threes);
}

template <typename T, int N> struct Stack {
  T items[N];
  int count = 0;
  void push(T item) { items[count++] = item; }
  T sum() const {
    T total = 0;
    for (int k = 0; k < count; k++) total += items[k];
    return total;
  }
};

PER_THREAD(class_template) {
  Stack<int, 4> stack;
  stack.push(in[i]);
  stack.push(in[i] + 1);
  stack.push(in[i] + 5);
  out[i] = stack.sum();
}

template <typename T> struct Width { static constexpr constant int value = 0; };
template <> struct Width<half> { static constexpr constant int value = 2; };
template <typename T, int N> struct Width<vec<T, N>> { static constexpr constant int value = N; };
template <typename T> int kind(T) { return 1; }
template <> int kind<float>(float) { return 2; }

PER_THREAD(specialization) { out[i] = in[i] * 100 + kind(1.0f) * 10 + kind(1); }

template <bool Odd, typename T> struct Pick { static T get() { return T(12); } };
template <typename T> struct Pick<true, T> { static T get() { return T(Width<float3>::value * 10 + Width<half>::value * 2); } };

PER_THREAD(partial_specialization) { out[i] = in[i] % 2 ? Pick<true, int>::get() : Pick<false, int>::get(); }

template <int N> struct Factorial { static constexpr constant int value = N * Factorial<N - 1>::value; };
template <> struct Factorial<0> { static constexpr constant int value = 1; };

PER_THREAD(recursion_of_templates) { out[i] = in[i] + Factorial<7>::value; }

static int add_all() { return 0; }
template <typename First, typename... Rest> int add_all(First first, Rest... rest) {
  return int(first) + add_all(rest...);
}

PER_THREAD(variadic) { out[i] = add_all(in[i], 1.5f, in[i], short(10)); }

struct Square { int operator()(int x) const { return x * x; } };
struct Double { int operator()(int x) const { return x + x; } };
template <typename F> int apply(F f, int x) { return f(x); }

PER_THREAD(function_as_parameter) { out[i] = apply(Square(), in[i]) + apply(Double{}, in[i]); }

static int plus_one(int x) { return x + 1; }
static int times_nine(int x) { return x * 9; }
template <int (*F)(int)> int twice(int x) { return F(F(x)); }

PER_THREAD(function_as_value_parameter) { out[i] = twice<plus_one>(in[i]) + twice<times_nine>(in[i]); }

PER_THREAD(lambda) {
  int offset = 3, x = in[i];
  auto f = [&](int k) { offset = k; return x + k; };
  int before = offset, value = f(x);
  out[i] = value + before + offset;
}

template <typename T> int size_class(T x) {
  if constexpr (sizeof(T) == 8) return int(x) + 8;
  else if constexpr (sizeof(T) == 2) return int(x) * 2;
  else return 0;
}

PER_THREAD(constexpr_if) { out[i] = size_class(long(in[i])) + size_class(0); }

template <typename P> int first(P p) { return int(*p); }
constant int SEVEN[1] = {7};

PER_THREAD(deduced_address_space) {
  int x = in[i];
  out[i] = first(&x) + first(in) + first(SEVEN);
}

template <typename T, typename = enable_if_t<is_integral_v<T>>> int family(T) { return 1; }
template <typename T, typename = enable_if_t<is_floating_point_v<T>>, typename = void> int family(T) { return 2; }

PER_THREAD(type_traits) {
  using wide = conditional_t<is_same_v<int, float>, char, long>;
  out[i] = in[i] + family(1) + family(1.0f) + int(sizeof(wide));
}
