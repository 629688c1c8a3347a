// test check
// options: --std metal4.0
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

kernel void refused(device half *x, tensor<device half, dextents<int, 2>> A) {
  matmul2d<matmul2d_descriptor(16, 16), int> op;  // error: the scope of matmul2d must be an execution scope
  execution_threads<2> two;  // error: an operation is executed by one thread
  matmul2d<matmul2d_descriptor(16, 16), execution_simdgroup> mm;
  mm.run(x, A, A);  // error: no matching member function for call to 'run'
  auto t = tensor(x);  // error: no matching constructor
  A.missing();  // error: no member named 'missing'
}
