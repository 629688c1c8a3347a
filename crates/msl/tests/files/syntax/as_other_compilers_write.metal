// test check
// options: --std metal3.2
// Forms in the output of SPIRV-Cross, in Blender's Cycles and in PyTorch.
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;

// References to arrays of pointers are to thread memory.
struct Block { float x[1]; };
static inline __attribute__((always_inline))
float first(device Block *(&blocks)[2], device Block *constant (&fixed)[2]) { return blocks[1]->x[0] + fixed[0]->x[0]; }

// A library function for other types
template <typename T, typename E = typename enable_if<is_integral<T>::value>::type>
inline T sign(T x) { return select(select(select(x, T(0), x == T(0)), T(1), x > T(0)), T(-1), x < T(0)); }
int4 signs(int4 x) { return sign(x) + sign(x.x); }

// A cast to a reference, and an assignment through it, in a template
template <typename T> struct Tile {
  typedef vec<T, 2> Fragment;
  static void set(thread Fragment &from) {
    simdgroup_matrix<T, 8, 8> to;
    reinterpret_cast<thread Fragment &>(to.thread_elements()) = from;
  }
};
template struct Tile<float>;

// A forwarded pack, a template parameter with defaults, and a macro of Apple's headers
template <typename T> struct Bare { typedef T type; };
template <typename T> struct Bare<thread T &> { typedef T type; };
template <typename T> inline constexpr thread T &&pass(thread typename Bare<T>::type &x) { return static_cast<thread T &&>(x); }
template <typename T, template <typename, access = access::sample, typename = void> class Tex, typename... Ts>
inline vec<T, 4> sampled(const thread Tex<T> &t, sampler s, Ts... params) METAL_CONST_ARG(s) { return t.sample(s, pass<Ts>(params)...); }
fragment float4 textured(texture2d<float> t, sampler s, uint mask [[sample_mask, post_depth_coverage]]) { return sampled(t, s, float2(0)) * mask; }

// A matrix in threadgroup memory, assigned from its columns in braces or from another matrix
template <typename T, int Cols, int Rows = Cols> struct Stored {
  vec<T, Rows> columns[Cols];
  Stored() threadgroup = default;
  threadgroup Stored &operator=(initializer_list<vec<T, Rows>> cols) threadgroup {
    thread vec<T, Rows> *col = cols.begin();
    for (size_t i = 0; i < cols.size(); ++i, ++col) columns[i] = *col;
    return *this;
  }
  threadgroup Stored &operator=(const thread matrix<T, Cols, Rows> &m) threadgroup {
    for (size_t i = 0; i < Cols; ++i) columns[i] = m.columns[i];
    return *this;
  }
};
kernel void stores(device float4 *out, constant float4x4 &m, device int *n [[maybe_unused]]) {
  threadgroup Stored<float, 2> shared;
  shared = {float2(1), float2(2)};
  shared = float2x2(3.0f);
  initializer_list<int> none;
  out[0] *= m;
  out[1].xy = shared.columns[1] + none.size();
}

// Samplers in an array
constant constexpr array<sampler, 2> samplers = {sampler(address::repeat, filter::nearest), sampler(filter::linear)};

// `coherent` behind an address space
void add(device coherent uint *p, coherent device atomic_uint *q, device coherent float4 &v) { p[0] += uint(v.x); }

// Tables of functions in argument buffers
[[visible]] float plus(float a, device float *b) { return a + b[0]; }
struct Tables { visible_function_table<float(float, device float *)> table; device float *out; };
kernel void through_tables(constant Tables &a [[buffer(0)]], device Tables &b [[buffer(1)]]) {
  if (!is_null_visible_function_table(a.table)) a.out[0] = a.table[1](2.0f, a.out) + b.table[0](1.0f, b.out) + a.table.size();
}

[[intersection(triangle, raytracing::triangle_data)]] bool hit(float time [[time]], float2 at [[barycentric_coord]]) { return at.x < time; }
