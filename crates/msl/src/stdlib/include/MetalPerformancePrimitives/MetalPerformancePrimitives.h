// <MetalPerformancePrimitives/MetalPerformancePrimitives.h>: operations on tensors (Metal 4).
#pragma once
#include <metal_config>
#include <metal_types>
#include <metal_limits>
#include <metal_tensor>
#include <metal_cooperative_tensor>

#if __METAL_VERSION__ >= 400

namespace mpp {
namespace tensor_ops {

// A length that the operands tell
template <typename _T> constexpr constant _T dynamic_length_v = metal::numeric_limits<_T>::max();

enum class reduction_operation { sum, max, min };

template <typename _T> struct reduction_operation_identity {
  static constexpr constant _T sum_identity = _T(0);
  static constexpr constant _T max_identity = metal::numeric_limits<_T>::lowest();
  static constexpr constant _T min_identity = metal::numeric_limits<_T>::max();
};

// C = A B or C = A B + C, with A of m × k and B of k × n elements
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  constexpr matmul2d_descriptor(
      int __m, int __n, int __k = static_cast<int>(metal::dynamic_extent), bool __transpose_left = false,
      bool __transpose_right = false, bool __relaxed_precision = false, mode __matmul_mode = mode::multiply)
      : m(__m), n(__n), k(__k), transpose_left(__transpose_left), transpose_right(__transpose_right),
        relaxed_precision(__relaxed_precision), matmul_mode(__matmul_mode) {}

  int m;
  int n;
  int k;
  bool transpose_left;
  bool transpose_right;
  bool relaxed_precision;
  mode matmul_mode;
};

enum class _operand { __left, __right, __destination, __row, __column };

// The distribution of the elements of an operand among threads
template <auto _Descriptor, typename _Scope, _operand _Operand, typename _Left, typename _Right> struct _operand_layout {};

// The element type of an operand: a tensor, a cooperative tensor, or an element type itself
template <typename _T> struct _element { typedef _T type; };
template <typename _T, typename _E, typename _D, typename... _Tags> struct _element<metal::tensor<_T, _E, _D, _Tags...>> {
  typedef typename metal::tensor<_T, _E, _D, _Tags...>::value_type type;
};
template <typename _T, typename _E, typename _L> struct _element<metal::cooperative_tensor<_T, _E, _L>> { typedef _T type; };
template <typename _T> using _element_t = typename _element<metal::remove_addrspace_t<_T>>::type;

template <typename _T> constexpr constant bool _is_operand =
    metal::is_tensor_v<metal::remove_addrspace_t<_T>> || metal::is_cooperative_tensor_v<metal::remove_addrspace_t<_T>>;

template <matmul2d_descriptor _Descriptor, typename _Scope, typename... _Args> class matmul2d {
  static_assert(metal::_is_execution_scope<_Scope>::value, "the scope of matmul2d must be an execution scope");

  template <_operand _Operand, typename _Left, typename _Right, typename _Element, typename _Index>
  using _cooperative = metal::cooperative_tensor<
      _Element, metal::dextents<_Index, _Operand == _operand::__row || _Operand == _operand::__column ? 1 : 2>,
      _operand_layout<_Descriptor, _Scope, _Operand, _element_t<_Left>, _element_t<_Right>>>;

public:
  static constexpr constant matmul2d_descriptor descriptor = _Descriptor;
  typedef _Scope scope;

  template <typename _Left, typename _Right, typename _Destination,
            typename = metal::enable_if_t<_is_operand<_Left> && _is_operand<_Right> && _is_operand<_Destination>>>
  void run(const thread _Left &__left, const thread _Right &__right, thread _Destination &__destination) const;

  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  using cooperative_tensor_left_input_t = _cooperative<_operand::__left, _Left, _Right, _Left, _Index>;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  using cooperative_tensor_right_input_t = _cooperative<_operand::__right, _Left, _Right, _Right, _Index>;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  using cooperative_tensor_destination_t = _cooperative<_operand::__destination, _Left, _Right, _Element, _Index>;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  using cooperative_tensor_row_reduction_destination_t = _cooperative<_operand::__row, _Left, _Right, _Element, _Index>;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  using cooperative_tensor_column_reduction_destination_t = _cooperative<_operand::__column, _Left, _Right, _Element, _Index>;

  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  cooperative_tensor_left_input_t<_Left, _Right, _Element, _Index> get_left_input_cooperative_tensor() const;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  cooperative_tensor_right_input_t<_Left, _Right, _Element, _Index> get_right_input_cooperative_tensor() const;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int,
            typename = metal::enable_if_t<_is_operand<_Left> && _is_operand<_Right>>>
  cooperative_tensor_destination_t<_Left, _Right, _Element, _Index> get_destination_cooperative_tensor() const;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  cooperative_tensor_row_reduction_destination_t<_Left, _Right, _Element, _Index>
  get_row_reduction_destination_cooperative_tensor() const;
  template <typename _Left, typename _Right, typename _Element, typename _Index = int>
  cooperative_tensor_column_reduction_destination_t<_Left, _Right, _Element, _Index>
  get_column_reduction_destination_cooperative_tensor() const;
};

template <typename _T, typename _SourceExtents, typename _Extents, typename _SourceLayout, typename _Layout>
void reduce_rows(
    thread metal::cooperative_tensor<_T, _SourceExtents, _SourceLayout> &__source,
    thread metal::cooperative_tensor<_T, _Extents, _Layout> &__destination,
    reduction_operation __op = reduction_operation::sum, _T __identity = reduction_operation_identity<_T>::sum_identity);
template <typename _T, typename _SourceExtents, typename _Extents, typename _SourceLayout, typename _Layout>
void reduce_columns(
    thread metal::cooperative_tensor<_T, _SourceExtents, _SourceLayout> &__source,
    thread metal::cooperative_tensor<_T, _Extents, _Layout> &__destination,
    reduction_operation __op = reduction_operation::sum, _T __identity = reduction_operation_identity<_T>::sum_identity);

// True if map_iterator leads from one tensor to the other
template <typename _T, typename _U, typename _E, typename _F, typename _L, typename _M>
bool is_iterator_compatible(
    const thread metal::cooperative_tensor<_T, _E, _L> &__source, const thread metal::cooperative_tensor<_U, _F, _M> &__destination);

enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  constexpr convolution2d_descriptor(
      int4 __destination_dimensions, int4 __source_dimensions, int2 __kernel_dimensions,
      convolution2d_activation_layout __activation_layout = convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout __weights_layout = convolution2d_weights_layout::hwio, int2 __strides = int2(1, 1),
      int2 __dilations = int2(1, 1), int __groups = 1, bool __relaxed_precision = false,
      mode __convolution2d_mode = mode::multiply)
      : destination_dimensions(__destination_dimensions), source_dimensions(__source_dimensions),
        kernel_dimensions(__kernel_dimensions), activation_layout(__activation_layout), weights_layout(__weights_layout),
        strides(__strides), dilations(__dilations), groups(__groups), relaxed_precision(__relaxed_precision),
        convolution2d_mode(__convolution2d_mode) {}

  int4 destination_dimensions;
  int4 source_dimensions;
  int2 kernel_dimensions;
  convolution2d_activation_layout activation_layout;
  convolution2d_weights_layout weights_layout;
  int2 strides;
  int2 dilations;
  int groups;
  bool relaxed_precision;
  mode convolution2d_mode;
};

template <convolution2d_descriptor _Descriptor, typename _Scope, typename... _Args> class convolution2d {
  static_assert(metal::_is_execution_scope<_Scope>::value, "the scope of convolution2d must be an execution scope");

public:
  static constexpr constant convolution2d_descriptor descriptor = _Descriptor;
  typedef _Scope scope;

  void set_offsets(int2 __offsets);
  template <typename _Activation, typename _Weights, typename _Destination,
            typename = metal::enable_if_t<_is_operand<_Activation> && _is_operand<_Weights> && _is_operand<_Destination>>>
  void run(const thread _Activation &__activation, const thread _Weights &__weights, thread _Destination &__destination) const;

  template <typename _Activation, typename _Weights, typename _Element, typename _Index = int>
  using cooperative_tensor_destination_t = metal::cooperative_tensor<
      _Element, metal::dextents<_Index, 4>,
      _operand_layout<_Descriptor, _Scope, _operand::__destination, _element_t<_Activation>, _element_t<_Weights>>>;
  template <typename _Activation, typename _Weights, typename _Element, typename _Index = int>
  cooperative_tensor_destination_t<_Activation, _Weights, _Element, _Index> get_destination_cooperative_tensor() const;
};

} // namespace tensor_ops
} // namespace mpp

#endif
