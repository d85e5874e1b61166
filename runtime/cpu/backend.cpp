// The cpu backend: the host itself. Compute queues are threads; arenas are host memory that every device can
// address.
#include "runtime/cpu/calibrate_host.h"
#include "runtime/cpu/host_device.h"

namespace dfc {
namespace {

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  bool supports(DeviceKind kind) const override { return kind == DeviceKind::Cpu; }
  std::string unavailable() const override { return ""; }
  bool hasKernel(const Graph& graph, OpId op) const override { return hasHostKernel(graph, op); }
  bool callsFunctions() const override { return true; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                    const BackendOptions& options) override {
    return openHostDevices(devices, {.addressable = true, .filledWithNan = false}, options);
  }
  std::vector<CalibratedOp> calibrate(const Graph& graph, llvm::ArrayRef<OpId> ops,
                                      const Calibration& /*known*/, const DeviceRequest& device,
                                      const OpLowering& /*lowering*/) override {
    return calibrateHost(graph, ops, device.row.threads);
  }
};

} // namespace

Backend& cpuBackend() {
  static CpuBackend backend;
  return backend;
}

} // namespace dfc
