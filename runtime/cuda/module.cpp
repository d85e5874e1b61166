// The cuda backend inside the module: lists and opens the GPUs.
#include "runtime/cuda/module.h"

#include "runtime/cuda/group.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/measure/calibrate.h"
#include "runtime/cuda/measure/copy_times.h"
#include "runtime/cuda/measure/probe.h"
#include "runtime/cuda/nvtx_marks.h"

#include <cublasLt.h>
#include <fmt/format.h>

namespace dfc::cuda {
namespace {

/// How many GPUs there are, or why none can be used.
std::pair<int, std::string> countGpus() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver) {
    int driver = 0;
    ignore(cudaDriverGetVersion(&driver));
    return {0, driver == 0 ? "no NVIDIA driver is installed"
                           : fmt::format("the NVIDIA driver serves CUDA {}.{}, and this dfc needs {}.{}",
                                         driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                                         CUDART_VERSION % 100 / 10)};
  }
  if (code != cudaSuccess) {
    ignore(cudaGetLastError());
    return {0, cudaGetErrorString(code)};
  }
  return {count, count == 0 ? "no GPU is visible (CUDA_VISIBLE_DEVICES hides some)" : ""};
}

/// A plan's launches are made for the GPU that its machine file describes.
void requireSameGpu(const DeviceRow& planned, const Gpu& gpu) {
  const bool otherModel = !planned.model.empty() && planned.model != gpu.model;
  if (!planned.architecture.empty() && (planned.architecture != gpu.architecture || otherModel)) {
    throw MachineError(fmt::format("{}: the plan was made for {} ({}), and this host has {} ({}); compile "
                                   "for this host (dfc machine), or "
                                   "run the graph itself, which dfc plans for what is here",
                                   planned.name, planned.model.empty() ? "a GPU" : planned.model,
                                   planned.architecture, gpu.model, gpu.architecture));
  }
}

Gpu describe(const DeviceRequest& request, int count) {
  if (static_cast<int>(request.ordinal) >= count) {
    throw MachineError(
        fmt::format("{}: the plan uses {} GPUs or more, and this host has {}; compile for a machine file "
                    "of this host (dfc machine), or run with --backend gpu=emulated",
                    request.row.name, request.ordinal + 1, count));
  }
  Gpu gpu;
  gpu.ordinal = static_cast<int>(request.ordinal);
  gpu.name = request.row.name;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, gpu.ordinal), gpu.name + ": asking what it is");
  gpu.model = properties.name;
  gpu.architecture = architectureOf(gpu.ordinal);
  requireSameGpu(request.row, gpu);
  return gpu;
}

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  bool supports(DeviceKind kind) const override { return kind == DeviceKind::Gpu; }
  std::string unavailable() const override { return countGpus().second; }
  std::string libraries() const override {
    const size_t products = cublasLtGetVersion();
    return fmt::format("{}, cuBLASLt {}.{}.{}", compilerVersion(), products / 10000, products / 100 % 100,
                       products % 100);
  }
  bool hasKernel(const Graph& graph, OpId op) const override {
    const auto* custom = graph[op].getIf<ops::Custom>();
    return custom != nullptr ? custom->hasKernel() : classOf(graph[op].kind()) != OpClass::Request;
  }

  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                    const BackendOptions& options) override {
    const auto [count, reason] = countGpus();
    if (!reason.empty()) {
      throw MachineError(fmt::format("{}: {}", devices[0].row.name, reason));
    }
    std::vector<Gpu> gpus;
    for (const DeviceRequest& request : devices) {
      gpus.push_back(describe(request, count));
    }
    return std::make_unique<Group>(std::move(gpus), options);
  }

  Marks* marks() override { return nvtxMarks(); }

  void describeHost(Machine& machine, bool measure) override {
    addGpus(machine, countGpus().first);
    if (measure) {
      measureGpus(machine);
    }
  }

  std::vector<CalibratedOp> calibrate(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                      const DeviceRequest& device, const OpLowering& lowering) override {
    return calibrateOps(graph, ops, known, describe(device, countGpus().first), device.row, lowering);
  }

  std::vector<double> timeCopies(const CopyRequest& copy, llvm::ArrayRef<int64_t> bytes) override {
    const auto endOf = [](const std::optional<DeviceRequest>& device) {
      return device ? CopyEnd(describe(*device, countGpus().first).ordinal) : CopyEnd();
    };
    return copyTimes(endOf(copy.from), endOf(copy.to), bytes);
  }
};

} // namespace
} // namespace dfc::cuda

extern "C" __attribute__((visibility("default"))) dfc::Backend* dfcCudaBackend() {
  static dfc::cuda::CudaBackend backend;
  return &backend;
}
