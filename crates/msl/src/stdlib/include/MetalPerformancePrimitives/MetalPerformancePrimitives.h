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
template <typename T> constexpr constant T dynamic_length_v = metal::numeric_limits<T>::max();

enum class reduction_operation { sum, max, min };

template <typename T> struct reduction_operation_identity {
  static constexpr constant T sum_identity = T(0);
  static constexpr constant T max_identity = metal::numeric_limits<T>::lowest();
  static constexpr constant T min_identity = metal::numeric_limits<T>::max();
};

// C = A B or C = A B + C, with A of m × k and B of k × n elements
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  constexpr matmul2d_descriptor(
      int m, int n, int k = static_cast<int>(metal::dynamic_extent), bool transpose_left = false,
      bool transpose_right = false, bool relaxed_precision = false, mode matmul_mode = mode::multiply)
      : m(m), n(n), k(k), transpose_left(transpose_left), transpose_right(transpose_right),
        relaxed_precision(relaxed_precision), matmul_mode(matmul_mode) {}

  int m;
  int n;
  int k;
  bool transpose_left;
  bool transpose_right;
  bool relaxed_precision;
  mode matmul_mode;
};

enum class _operand { left, right, destination, row, column };

// The distribution of the elements of an operand among threads
template <auto Descriptor, typename Scope, _operand Operand, typename Left, typename Right> struct _operand_layout {};

// The element type of an operand: a tensor, a cooperative tensor, or an element type itself
template <typename T> struct _element { typedef T type; };
template <typename T, typename E, typename D, typename... Tags> struct _element<metal::tensor<T, E, D, Tags...>> {
  typedef typename metal::tensor<T, E, D, Tags...>::value_type type;
};
template <typename T, typename E, typename L> struct _element<metal::cooperative_tensor<T, E, L>> { typedef T type; };
template <typename T> using _element_t = typename _element<metal::remove_addrspace_t<T>>::type;

template <typename T> constexpr constant bool _is_operand =
    metal::is_tensor_v<metal::remove_addrspace_t<T>> || metal::is_cooperative_tensor_v<metal::remove_addrspace_t<T>>;

template <matmul2d_descriptor Descriptor, typename Scope, typename... Args> class matmul2d {
  static_assert(metal::_is_execution_scope<Scope>::value, "the scope of matmul2d must be an execution scope");

  template <_operand Operand, typename Left, typename Right, typename Element, typename Index>
  using _cooperative = metal::cooperative_tensor<
      Element, metal::dextents<Index, Operand == _operand::row || Operand == _operand::column ? 1 : 2>,
      _operand_layout<Descriptor, Scope, Operand, _element_t<Left>, _element_t<Right>>>;

public:
  static constexpr constant matmul2d_descriptor descriptor = Descriptor;
  typedef Scope scope;

  template <typename Left, typename Right, typename Destination,
            typename = metal::enable_if_t<_is_operand<Left> && _is_operand<Right> && _is_operand<Destination>>>
  void run(const thread Left &left, const thread Right &right, thread Destination &destination) const;

  template <typename Left, typename Right, typename Element, typename Index = int>
  using cooperative_tensor_left_input_t = _cooperative<_operand::left, Left, Right, Left, Index>;
  template <typename Left, typename Right, typename Element, typename Index = int>
  using cooperative_tensor_right_input_t = _cooperative<_operand::right, Left, Right, Right, Index>;
  template <typename Left, typename Right, typename Element, typename Index = int>
  using cooperative_tensor_destination_t = _cooperative<_operand::destination, Left, Right, Element, Index>;
  template <typename Left, typename Right, typename Element, typename Index = int>
  using cooperative_tensor_row_reduction_destination_t = _cooperative<_operand::row, Left, Right, Element, Index>;
  template <typename Left, typename Right, typename Element, typename Index = int>
  using cooperative_tensor_column_reduction_destination_t = _cooperative<_operand::column, Left, Right, Element, Index>;

  template <typename Left, typename Right, typename Element, typename Index = int>
  cooperative_tensor_left_input_t<Left, Right, Element, Index> get_left_input_cooperative_tensor() const;
  template <typename Left, typename Right, typename Element, typename Index = int>
  cooperative_tensor_right_input_t<Left, Right, Element, Index> get_right_input_cooperative_tensor() const;
  template <typename Left, typename Right, typename Element, typename Index = int,
            typename = metal::enable_if_t<_is_operand<Left> && _is_operand<Right>>>
  cooperative_tensor_destination_t<Left, Right, Element, Index> get_destination_cooperative_tensor() const;
  template <typename Left, typename Right, typename Element, typename Index = int>
  cooperative_tensor_row_reduction_destination_t<Left, Right, Element, Index>
  get_row_reduction_destination_cooperative_tensor() const;
  template <typename Left, typename Right, typename Element, typename Index = int>
  cooperative_tensor_column_reduction_destination_t<Left, Right, Element, Index>
  get_column_reduction_destination_cooperative_tensor() const;
};

template <typename T, typename SourceExtents, typename Extents, typename SourceLayout, typename Layout>
void reduce_rows(
    thread metal::cooperative_tensor<T, SourceExtents, SourceLayout> &source,
    thread metal::cooperative_tensor<T, Extents, Layout> &destination,
    reduction_operation op = reduction_operation::sum, T identity = reduction_operation_identity<T>::sum_identity);
template <typename T, typename SourceExtents, typename Extents, typename SourceLayout, typename Layout>
void reduce_columns(
    thread metal::cooperative_tensor<T, SourceExtents, SourceLayout> &source,
    thread metal::cooperative_tensor<T, Extents, Layout> &destination,
    reduction_operation op = reduction_operation::sum, T identity = reduction_operation_identity<T>::sum_identity);

// True if map_iterator leads from one tensor to the other
template <typename T, typename U, typename E, typename F, typename L, typename M>
bool is_iterator_compatible(
    const thread metal::cooperative_tensor<T, E, L> &source, const thread metal::cooperative_tensor<U, F, M> &destination);

enum class convolution2d_activation_layout { nhwc };
enum class convolution2d_weights_layout { hwio };

struct convolution2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  constexpr convolution2d_descriptor(
      int4 destination_dimensions, int4 source_dimensions, int2 kernel_dimensions,
      convolution2d_activation_layout activation_layout = convolution2d_activation_layout::nhwc,
      convolution2d_weights_layout weights_layout = convolution2d_weights_layout::hwio, int2 strides = int2(1, 1),
      int2 dilations = int2(1, 1), int groups = 1, bool relaxed_precision = false,
      mode convolution2d_mode = mode::multiply)
      : destination_dimensions(destination_dimensions), source_dimensions(source_dimensions),
        kernel_dimensions(kernel_dimensions), activation_layout(activation_layout), weights_layout(weights_layout),
        strides(strides), dilations(dilations), groups(groups), relaxed_precision(relaxed_precision),
        convolution2d_mode(convolution2d_mode) {}

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

template <convolution2d_descriptor Descriptor, typename Scope, typename... Args> class convolution2d {
  static_assert(metal::_is_execution_scope<Scope>::value, "the scope of convolution2d must be an execution scope");

public:
  static constexpr constant convolution2d_descriptor descriptor = Descriptor;
  typedef Scope scope;

  void set_offsets(int2 offsets);
  template <typename Activation, typename Weights, typename Destination,
            typename = metal::enable_if_t<_is_operand<Activation> && _is_operand<Weights> && _is_operand<Destination>>>
  void run(const thread Activation &activation, const thread Weights &weights, thread Destination &destination) const;

  template <typename Activation, typename Weights, typename Element, typename Index = int>
  using cooperative_tensor_destination_t = metal::cooperative_tensor<
      Element, metal::dextents<Index, 4>,
      _operand_layout<Descriptor, Scope, _operand::destination, _element_t<Activation>, _element_t<Weights>>>;
  template <typename Activation, typename Weights, typename Element, typename Index = int>
  cooperative_tensor_destination_t<Activation, Weights, Element, Index> get_destination_cooperative_tensor() const;
};

} // namespace tensor_ops
} // namespace mpp

#endif
