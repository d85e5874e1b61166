#include "tools/bench/cost/calling_backend.h"

#include "runtime/null/null_device.h"

namespace dfc::bench {
namespace {

void nothing(void* /*context*/) {}

class CallingWork final : public WorkMaker {
 public:
  PreparedCall prepare(const Executable& /*plan*/, const Command& command) override {
    return command.kind == Command::Kind::Compute ? PreparedCall{nothing, nullptr} : PreparedCall{};
  }
  void bind(const Step& /*round*/) override {}
};

class CallingBackend final : public Backend {
 public:
  std::string_view name() const override { return "calling"; }
  bool supports(DeviceKind /*kind*/) const override { return true; }
  std::string unavailable() const override { return ""; }
  bool hasKernel(const Graph& /*graph*/, OpId /*op*/) const override { return true; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> /*devices*/,
                                    const BackendOptions& /*options*/) override {
    return openNullDevices([] { return std::make_unique<CallingWork>(); });
  }
};

} // namespace

std::unique_ptr<Backend> callingBackend() { return std::make_unique<CallingBackend>(); }

} // namespace dfc::bench
