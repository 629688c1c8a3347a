// Computes with Metal from C++, through metal-cpp.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <condition_variable>
#include <cstdio>
#include <mutex>

static const char *const source = R"(
#include <metal_stdlib>
constant int K [[function_constant(0)]];
kernel void add(device float *x [[buffer(0)]], constant float &y [[buffer(1)]],
                uint i [[thread_position_in_grid]]) { x[i] = 2 * x[i] + y + K; }
)";

static NS::String *string(const char *text) { return NS::String::string(text, NS::UTF8StringEncoding); }

int main(int count, char **) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error *error = nullptr;
  auto wrong = device->newLibrary(string("kernel void k() { y = 1; }"), nullptr, &error);
  if (wrong || !error || error->code() != MTL::LibraryErrorCompileFailure) {
    return 1;
  }
  std::printf("error: %s\n", error->localizedDescription()->utf8String());

  error = nullptr;
  auto library = NS::TransferPtr(device->newLibrary(string(source), nullptr, &error));
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const int k = 4;
  constants->setConstantValue(&k, MTL::DataTypeInt, NS::UInteger(0));
  auto function = NS::TransferPtr(library->newFunction(string("add"), constants.get(), &error));
  MTL::AutoreleasedComputePipelineReflection reflection = nullptr;
  auto state = NS::TransferPtr(
      device->newComputePipelineState(function.get(), MTL::PipelineOptionBindingInfo, &reflection, &error));
  if (!state) {
    std::printf("%s\n", error->description()->utf8String());
    return 1;
  }
  for (NS::UInteger i = 0; i < reflection->bindings()->count(); ++i) {
    auto binding = reflection->bindings()->object<MTL::Binding>(i);
    std::printf("binding %s %lu\n", binding->name()->utf8String(), static_cast<unsigned long>(binding->index()));
  }

  const float values[4] = {0, 1, 2, 3};
  auto buffer = NS::TransferPtr(device->newBuffer(values, sizeof values, MTL::ResourceStorageModeShared));
  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto commands = queue->commandBuffer();
  auto encoder = commands->computeCommandEncoder();
  const float y = 1;
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(buffer.get(), 0, 0);
  encoder->setBytes(&y, sizeof y, 1);
  encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  encoder->endEncoding();
  std::mutex mutex;
  std::condition_variable changed;
  int status = -1;
  commands->addCompletedHandler([&](MTL::CommandBuffer *finished) {
    std::lock_guard lock(mutex);
    status = static_cast<int>(finished->status());
    changed.notify_one();
  });
  commands->commit();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return status >= 0; });
  }
  if (count > 1) {
    commands->commit();
  }
  auto result = static_cast<const float *>(buffer->contents());
  std::printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
  return status == MTL::CommandBufferStatusCompleted && result[0] == 5 && result[3] == 11 ? 0 : 1;
}
