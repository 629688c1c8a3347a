// test check
// options: -W
// Uses of uniform<T> as in MetalPerformanceShaders' custom kernels and MLX: in structs, classes, images and mathematics.
#include <metal_stdlib>
using namespace metal;
typedef struct {
  ushort2 globalID;
  ushort sliceID;
  uniform<ushort> imageID;
  uniform<ushort> imageCount;
} ThreadgroupInfo;
struct Info { ushort4 clipSize; ushort threadgroupSize; };
static inline uniform<ushort> decompose(constant Info &params, thread ushort3 *globalID) {
  ushort3 gid = *globalID;
  ushort image = (gid.z * params.threadgroupSize + (uint)params.clipSize.x) >> params.clipSize.y;
  *globalID = gid;
  return make_uniform(image);
}
static inline ThreadgroupInfo init(ushort3 globalID, ushort3 localID, constant Info &info) {
  uniform <ushort> imageID = decompose(info, &globalID);
  return (ThreadgroupInfo){
    .globalID = globalID.xy,
    .sliceID = globalID.z,
    .imageID = imageID,
    .imageCount = make_uniform(info.clipSize.w),
  };
}
class Src {
  constant Info &_info;
 public:
  Src(constant Info &info) : _info(info) {}
  uniform<ushort> get_image_offset(void) const { return make_uniform(_info.threadgroupSize); }
  short4 offsets(void) const { return short4(short2(1), short(1), short(get_image_offset())); }
  float read(ushort2 where, ushort slice, uniform<ushort> image) const { return image; }
  float read(uint2 where, uint slice, uniform<uint> image) const { return image; }
};
kernel void images(constant Info &info, device float *out, array<texture2d<float>, 4> t [[texture(0)]], ushort3 id [[thread_position_in_grid]]) {
  ThreadgroupInfo ti = init(id, id, info);
  Src src(info);
  out[0] = src.read(id.xy, id.z, ti.imageID) + src.read(uint2(id.xy), uint(id.z), make_uniform(uint(ti.imageID)));
  out[1] = src.read(id.xy, id.z, ti.imageID + src.get_image_offset());
  out[2] = src.offsets().w + t[ti.imageID].read(uint2(0)).x;
  out[4] = simd_sum(float(ti.imageID)) + simd_broadcast(1.0f, ti.imageID);
  uniform<float> scale2 = make_uniform(out[7]) * make_uniform(1.44269504089f);
  for (int i = 0; i < 4; i++) out[i] *= float(scale2);
  out[5] = exp(scale2) + pow(scale2, 2.0f) + fma(scale2, scale2, 1.0f) + sqrt(make_uniform(out[1]) * 2) + select(scale2, 1.0f, true);
  half h = half(scale2); half2 h2 = half2(scale2);
  out[6] = h + h2.x + as_type<float>(uint(make_uniform(3u)));
  threadgroup float tg[16];
  threadgroup float *p = tg + make_uniform(2) * 3;
  *p = 1;
  const uniform<uint> n = make_uniform(info.clipSize.w), m = n;
  uint u = n; u = m; u -= n;
  out[n] = (n == m) + (n != 3u) + (u < n) + (n & 1) + (n >> 2) + (1 << n);
  bool any_ = n || m; bool none = !(n && u);
  float x = (n > 3) ? 1.0f : float(n);
  float y = n > 3 ? float(m) : 2.0f;
  uniform<uint> nn = n > 3 ? n : make_uniform(7u);
  uniform<uint> mm = n > 3 ? n : 7;
  uniform<bool> all = n > 3 && m < 2;
  thread const uniform<uint> &ref = n;
  thread uniform<uint> *ptr = &nn;
  *ptr += ref; (*ptr)++;
  uniform<int> arr[3] = {1, 2, make_uniform(int(u))};
  uniform<int> arr2[] = {1, 2};
  enum { A = 2 }; uniform<int> e = A; uniform<int> g = make_uniform(3) * A;
  out[8] = any_ + none + x + y + arr[1] + arr2[0] + e + g + all + mm;
  uniform<uchar> c = 'a'; uniform<long> l = 1l << 40; uniform<half> hh = 1.5h; hh *= 2; c += 1;
  uniform<uint3> v3 = make_uniform(uint3(1)); uint3 w3 = v3 + v3; v3 += 1; v3 = v3 * v3; uint z = uint3(v3).z;
  out[9] = c + l + hh + w3.x + z;
}
