// test check
// options: --std metal4.0
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

#if !defined(__HAVE_TENSOR__)
#error Metal 4 has tensors
#endif

kernel void tensors_of_the_host(
    tensor<device half, dextents<int32_t, 2>> A [[buffer(0)]],
    tensor<device half, dextents<int32_t, 2>, tensor_handle> B [[buffer(1)]],
    tensor<device float, dextents<int32_t, 2>> C, constant uint &k [[buffer(4)]],
    uint2 group [[threadgroup_position_in_grid]]) {
  constexpr auto descriptor = matmul2d_descriptor(64, 32, static_cast<int>(dynamic_extent), false, false, false);
  matmul2d<descriptor, execution_simdgroups<4>> op;
  auto a = A.slice(0, group.y * 64);
  auto b = B.slice(group.x * 32, 0);
  auto c = C.slice<32, 64>(group.x * 32, group.y * 64);
  static_assert(is_same_v<decltype(a), tensor<device half, dextents<int, 2>, tensor_handle, tensor_offset>>, "a part");
  static_assert(is_same_v<decltype(c)::extents_type, extents<int, 32, 64>>, "of a given size");
  op.run(a, b, c);

  auto sums = op.get_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  for (uint16_t i = 0; i < sums.get_capacity(); i++)
    if (sums.is_valid_element(i)) sums[i] = 0;
  op.run(a, b, sums);
  auto rows = op.get_row_reduction_destination_cooperative_tensor<decltype(a), decltype(b), float>();
  reduce_rows(sums, rows, reduction_operation::max, reduction_operation_identity<float>::max_identity);
  if (is_iterator_compatible(sums, rows)) {
    for (auto it = sums.begin(); it != sums.end(); it++) *it -= *rows.map_iterator(it);
  }
  auto at = sums.get_multidimensional_index(0);
  C[at[0], at[1]] = sums[0] + float(A[at[0], 0]) + C.get_extent(0) + k;
  sums.store(c);
}

template <typename T, int M, int N> kernel void tensors_of_memory(
    device T *x, device float *y, threadgroup T *shared, const device T *read_only) {
  auto A = tensor(x, dextents<int32_t, 2>(128, 128));
  auto S = tensor(shared, dextents<int, 2>{128, 128}, array<int, 2>({1, 128}));
  tensor<device T, dextents<int32_t, 2>, tensor_inline> B(x, dextents<int32_t, 2>(128, 128), array<int, 2>{1, 128});
  tensor<device float, extents<int, N, M>, tensor_inline> C(y, extents<int, N, M>());
  auto R = tensor(read_only, dextents<int, 1>(4));
  static_assert(is_same_v<decltype(A), decltype(B)>, "the same memory");
  static_assert(is_same_v<typename decltype(S)::element_type, threadgroup T>, "other memory");
  static_assert(is_same_v<typename decltype(R)::value_type, T>, "a value");
  static_assert(A.get_rank() == 2 && C.get_static_extent(1) == M, "known sizes");
  static_assert(extents<int, 3, dynamic_extent, 4>::rank_dynamic() == 1, "one size is not known");

  matmul2d<matmul2d_descriptor(M, N, 16, false, true, true, matmul2d_descriptor::mode::multiply_accumulate), execution_simdgroup> op;
  auto left = op.template get_left_input_cooperative_tensor<T, T, float>();
  auto right = op.template get_right_input_cooperative_tensor<T, T, float>();
  auto sum = op.template get_destination_cooperative_tensor<decltype(left), remove_addrspace_t<decltype(right)>, float>();
  auto part = A.template slice<16, M>(0, 0);
  left.load(part);
  for (ushort i = 0; i < right.get_capacity(); i++) right[i] = T(i);
  op.run(left, right, sum);
  sum.store(C.slice(0, 0));
  static_assert(decltype(op)::descriptor.m == M, "the descriptor");
  vec<float, 8> frame(0);
  frame[7] = sum[0];
  y[0] = (frame + frame)[7];
}
template [[host_name("memory_half")]] kernel void tensors_of_memory<half, 16, 32>(device half *, device float *, threadgroup half *, const device half *);

kernel void convolution(tensor<device half, dextents<int, 4>> x, tensor<device half, dextents<int, 4>> w, tensor<device half, dextents<int, 4>> y) {
  constexpr auto descriptor = convolution2d_descriptor(int4(32, 8, 8, 1), int4(32, 10, 10, 1), int2(3, 3));
  convolution2d<descriptor, execution_simdgroups<4>> op;
  op.set_offsets(int2(1, 1));
  op.run(x, w, y);
}

kernel void every_member(tensor<device half, dextents<int, 2>> t, tensor<threadgroup float, dextents<short, 3>> u, device float *x) {
  static_assert(extents<int, 1, 2>::rank() == 2 && extents<int, 1, 2>::static_extent(1) == 2, "sizes");
  static_assert(t.get_rank_dynamic() == 2, "both sizes are dynamic");
  x[0] = t.extents().extent(0) + t.get_extent(1) + t.get_stride(1) + u.get_extent(2) + float(*t.get_data_handle());
  t.store(t.load(1, 2), 2, 1);
  u[1, 2, 3] = u.load(3, 2, 1);
  auto s = t.static_slice<4, dynamic_extent>(1, 2);
  matmul2d<matmul2d_descriptor(8, 8), execution_thread> op;
  auto c = op.get_destination_cooperative_tensor<decltype(s), decltype(t), float>();
  auto columns = op.get_column_reduction_destination_cooperative_tensor<decltype(s), decltype(t), float>();
  reduce_columns(c, columns);
  auto it = c.begin();
  if (it.is_valid_element() && c.get_mask(0)) x[1] = it.get_multidimensional_index()[0] + c.get_extent(1);
  x[2] = execution_simdgroups<4>().size() + dynamic_length_v<int>;
}
