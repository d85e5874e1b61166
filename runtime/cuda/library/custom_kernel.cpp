// The kernel is launched by itself, without programmatic dependent launch: an author's kernel does not wait
// for the one before it.
#include "runtime/cuda/library/custom_kernel.h"

#include "runtime/cuda/check.h"

#include <fmt/format.h>

#include <vector>

namespace dfc::cuda {
namespace {

dim3 dimensions(const Dims& lengths) {
  const auto at = [&](size_t axis) {
    return axis < lengths.size() ? static_cast<unsigned>(lengths[axis]) : 1U;
  };
  return {at(0), at(1), at(2)};
}

class CustomLaunch final : public StreamLaunch {
 public:
  CustomLaunch(const ops::Custom& op, cudaKernel_t kernel, llvm::ArrayRef<std::byte*> pointers)
      : kernel_(kernel), grid_(dimensions(op.grid)), block_(dimensions(op.block)),
        sharedBytes_(static_cast<size_t>(op.sharedBytes)), pointers_(pointers.begin(), pointers.end()) {
    for (void*& pointer : pointers_) {
      arguments_.push_back(&pointer);
    }
  }
  CustomLaunch(const CustomLaunch&) = delete; // the arguments point into it
  CustomLaunch& operator=(const CustomLaunch&) = delete;

  void enqueue(cudaStream_t stream) override {
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), grid_, block_, arguments_.data(),
                           sharedBytes_, stream),
          "a custom op's kernel");
  }

 private:
  cudaKernel_t kernel_;
  dim3 grid_, block_;
  size_t sharedBytes_;
  std::vector<void*> pointers_, arguments_;
};

/// What `action` gives; what goes wrong with the author's text becomes an error at the op.
template <class Action>
auto atOp(const Graph& graph, OpId op, const Action& action) {
  const auto refused = [&](std::string_view why) {
    return Error(
        {inScope({Severity::Error, graph.locationOf(op),
                  fmt::format("custom op '{}': its kernel '{}' {}", graph.nameOf(op),
                              graph[op].as<ops::Custom>().entry, why),
                  "its source is CUDA C++ without headers, with an extern \"C\" __global__ void kernel of "
                  "that name"},
                 graph.scopeOf(op))});
  };
  try {
    return action();
  } catch (const CompileError& error) {
    throw refused(fmt::format("does not compile:\n{}", error.log()));
  } catch (const MachineError& error) {
    throw refused(fmt::format("cannot be loaded: {}", error.what()));
  }
}

} // namespace

std::string compileCustom(const Graph& graph, OpId op, const std::string& architecture) {
  const auto& custom = graph[op].as<ops::Custom>();
  return atOp(graph, op, [&] { return compileKernels(custom.source, custom.entry + ".cu", architecture); });
}

std::unique_ptr<StreamLaunch> customLaunch(const Graph& graph, OpId op, llvm::ArrayRef<std::byte*> pointers,
                                           KernelLibrary& library, const std::string& architecture,
                                           int ordinal) {
  const auto& custom = graph[op].as<ops::Custom>();
  return atOp(graph, op, [&]() -> std::unique_ptr<StreamLaunch> {
    cudaKernel_t kernel = library.load(custom.source, custom.entry, architecture);
    allowSharedMemory(kernel, static_cast<uint32_t>(custom.sharedBytes), ordinal);
    return std::make_unique<CustomLaunch>(custom, kernel, pointers);
  });
}

} // namespace dfc::cuda
