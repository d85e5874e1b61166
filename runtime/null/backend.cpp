// The null backend: allocates nothing, computes nothing, keeps the order and emits the spans. It serves every
// device kind, so that a plan for any machine can be driven, and what the runtime itself costs can be
// measured.
#include "runtime/null/null_device.h"

#include <cstring>

namespace dfc {
namespace {

/// Only what others will read is work: a fetch buffer, or the memory of a device that does hold something.
class NullWork final : public WorkMaker {
 public:
  PreparedCall prepare(const Executable& /*plan*/, const Command& command) override {
    if (command.results.empty() || command.kind == Command::Kind::Nothing) {
      return {};
    }
    const Location& to = command.results[0];
    const bool fetched = to.base == Location::Base::Fetch;
    std::byte* base = fetched ? nullptr : to.arena->hostAddress();
    if (!fetched && base == nullptr) {
      return {};
    }
    zeros_.push_back(
        {fetched ? nullptr : base + to.offset, static_cast<size_t>(to.bytes), to.buffer, fetched});
    return {[](void* context) {
              const auto& work = *static_cast<Zeros*>(context);
              std::memset(work.to, 0, work.bytes);
            },
            &zeros_.back()};
  }
  void bind(const Step& step) override {
    for (Zeros& zeros : zeros_) {
      zeros.to = zeros.fetched ? step.fetches[zeros.buffer] : zeros.to;
    }
  }

 private:
  struct Zeros {
    std::byte* to;
    size_t bytes;
    uint32_t buffer;
    bool fetched;
  };
  std::deque<Zeros> zeros_;
};

class NullBackend final : public Backend {
 public:
  std::string_view name() const override { return "null"; }
  bool supports(DeviceKind /*kind*/) const override { return true; }
  std::string unavailable() const override { return ""; }
  bool hasKernel(const Graph& /*graph*/, OpId /*op*/) const override { return true; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> /*devices*/,
                                    const BackendOptions& /*options*/) override {
    return openNullDevices([] { return std::make_unique<NullWork>(); });
  }
};

} // namespace

Backend& nullBackend() {
  static NullBackend backend;
  return backend;
}

} // namespace dfc
