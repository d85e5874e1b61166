// custom: an op that runs a task of the author's, under the schedules that dfc makes. The planner knows its
// types and its seconds; a function of the host (<dfc/custom_function.h>), or a CUDA kernel, computes it.
//
//     CustomTask task;
//     task.function = "saxpy";
//     task.results = {x.type()};
//     task.cpuSeconds = 20e-6;
//     const Tensor y = custom({a, x}, task)[0];
#pragma once

#include "ir/author/builder.h"
#include "ir/base/visibility.h"

#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// What a custom op runs, on which kinds of device, and for how long.
struct CustomTask {
  /// The function that devices played by the host call (SessionOptions::customFunctions). Never empty.
  std::string function = {};
  /// The types of the results, one at least.
  std::vector<TensorType> results = {};
  /// Seconds of one run on a device of kind cpu, on one thread; 0: it does not run there.
  double cpuSeconds = 0;
  /// Seconds of one run on a gpu, alone; 0: it does not run there. One of the two is more than 0.
  double gpuSeconds = 0;
  /// The results depend on the operands alone, and running it has no other effect: equal ops are one, and an
  /// op whose results nothing reads is left out. Else it runs once in every step.
  bool pure = false;

  /// A CUDA kernel, for real GPUs.
  struct Kernel {
    /// CUDA C++, compiled by NVRTC for the GPU at hand. Empty: a session with a real GPU refuses the op
    /// there; an emulated one calls the function.
    std::string source = {};
    /// The kernel's name in the source, `extern "C" __global__ void entry(a, b, …, result, …)`: a pointer to
    /// the elements of each operand, then of each result.
    std::string entry = {};
    /// Blocks along x, y and z; one to three lengths.
    Dims grid = {};
    /// Threads of a block along x, y and z; one to three lengths, at most 1024 threads.
    Dims block = {};
    /// Dynamic shared memory of a block.
    int64_t sharedBytes = 0;
  };
  /// Launched where the op runs on a real GPU.
  Kernel kernel = {};
};

/// The task on `operands`, one at least; a tensor for each of `task.results`.
std::vector<Tensor> custom(const std::vector<Tensor>& operands, const CustomTask& task,
                           std::source_location where = std::source_location::current());
/// Likewise in `builder`, where there may be no operands.
std::vector<Tensor> custom(Builder& builder, const std::vector<Tensor>& operands, const CustomTask& task,
                           std::source_location where = std::source_location::current());

} // namespace dfc
