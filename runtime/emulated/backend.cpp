// The emulated backend: a gpu played by threads of the host, so that a plan for a cpu and two gpus runs on
// any laptop. Its memory is its own: no other device is given its address, and all of it is NaN when
// allocated, so that a forgotten transfer shows. Compute, copy and peer queues are a thread each and truly
// run at once.
#include "runtime/cpu/calibrate_host.h"
#include "runtime/cpu/host_device.h"
#include "runtime/cpu/time_copies.h"

namespace dfc {
namespace {

class EmulatedBackend final : public Backend {
 public:
  std::string_view name() const override { return "emulated"; }
  bool supports(DeviceKind kind) const override { return kind == DeviceKind::Gpu; }
  std::string unavailable() const override { return ""; }
  bool hasKernel(const Graph& graph, OpId op) const override { return hasHostKernel(graph, op); }
  bool callsFunctions() const override { return true; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                    const BackendOptions& options) override {
    return openHostDevices(devices, {.addressable = false, .filledWithNan = true}, options);
  }
  std::vector<CalibratedOp> calibrate(const Graph& graph, llvm::ArrayRef<OpId> ops,
                                      const Calibration& /*known*/, const DeviceRequest& device,
                                      const OpLowering& /*lowering*/) override {
    return calibrateHost(graph, ops, device.row.threads);
  }
  std::vector<double> timeCopies(const CopyRequest& /*copy*/, llvm::ArrayRef<int64_t> bytes) override {
    return timeHostCopies(bytes);
  }
};

} // namespace

Backend& emulatedBackend() {
  static EmulatedBackend backend;
  return backend;
}

} // namespace dfc
