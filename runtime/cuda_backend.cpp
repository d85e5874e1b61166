// The cuda backend as the rest of the program sees it: a stand-in that opens libdfc_cuda.so when first asked
// and passes every call on. Without the module, the CUDA libraries or a driver it says why there is no GPU.
#include "runtime/cuda/module.h"
#include "runtime/modules.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace dfc {
namespace {

constexpr const char* cudaModule = "libdfc_cuda.so";

struct Opened {
  Backend* backend = nullptr;
  std::string reason; ///< why there is none
};

// Never closed: kernels and streams may live as long as the process.
Opened openModule() {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) ==
      nullptr) { // quicker than to find out by way of the module
    return {nullptr, "no NVIDIA driver is installed (there is no libcuda.so.1)"};
  }
  const FoundModule found = findModule(cudaModule, cuda::moduleSymbol);
  if (found.symbol != nullptr) {
    return {reinterpret_cast<cuda::ModuleFunction>(found.symbol)(), ""};
  }
  return {nullptr,
          found.present
              ? fmt::format("{} cannot be opened:{}; install the CUDA 13 libraries (cuBLASLt, NVRTC)",
                            cudaModule, found.reasons)
              : fmt::format("this dfc was built without CUDA, or its module is not found:{}", found.reasons)};
}

const Opened& module() {
  static const Opened opened = openModule();
  return opened;
}

class CudaBackendStandIn final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  bool supports(DeviceKind kind) const override { return kind == DeviceKind::Gpu; }
  std::string unavailable() const override {
    return module().backend == nullptr ? module().reason : module().backend->unavailable();
  }
  std::string libraries() const override {
    return module().backend == nullptr ? "" : module().backend->libraries();
  }
  bool hasKernel(const Graph& graph, OpId op) const override {
    return module().backend != nullptr && module().backend->hasKernel(graph, op);
  }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                    const BackendOptions& options) override {
    if (module().backend == nullptr) {
      throw MachineError(module().reason);
    }
    return module().backend->open(devices, options);
  }
  Marks* marks() override { return module().backend != nullptr ? module().backend->marks() : nullptr; }
  void describeHost(Machine& machine, bool measure) override {
    if (module().backend != nullptr) {
      module().backend->describeHost(machine, measure);
    }
  }
  std::vector<CalibratedOp> calibrate(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                      const DeviceRequest& device, const OpLowering& lowering) override {
    if (module().backend == nullptr) {
      throw MachineError(module().reason);
    }
    return module().backend->calibrate(graph, ops, known, device, lowering);
  }
  std::vector<double> timeCopies(const CopyRequest& copy, llvm::ArrayRef<int64_t> bytes) override {
    return module().backend == nullptr ? std::vector<double>() : module().backend->timeCopies(copy, bytes);
  }
};

} // namespace

Backend& cudaBackend() {
  static CudaBackendStandIn backend;
  return backend;
}

} // namespace dfc
