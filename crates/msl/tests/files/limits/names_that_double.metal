// test check
// Each level has a name twice as long as the one before; written out, the last would take gigabytes.
template <typename A, typename B> struct Q { typedef int type; };
template <int N, typename T> struct P { typedef typename P<N - 1, Q<T, T>>::type type; };
template <typename T> struct P<0, T> { typedef T type; };
template <int N, typename T> struct F { typedef typename F<N - 1, T (*)(T, T)>::type type; };
template <typename T> struct F<0, T> { typedef T type; };
static_assert(sizeof(P<30, int>::type) == 1, "");
static_assert(sizeof(F<30, int>::type) == 8, "");
P<30, int>::type twice(P<30, int>::type x);
constant int wrong = P<30, int>::type();  // error: no viable conversion from 'Q<
