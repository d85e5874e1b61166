// ForcedBackend: another backend whose queues keep to one order of all commands of a plan. Devices, memory,
// kernels and threads are the other's own; before it loads a program, each command is told to wait for the
// one that comes before it in the order. So a race is lost, or won, the same way in every run. Fresh memory
// is NaN on every device, as on emulated ones: the heap may still hold the right numbers of the run before.
#pragma once

#include "tests/property/command_order.h"

#include <map>

namespace dfc::test {

/// Which command each is to come right after.
class ForcedOrder {
 public:
  ForcedOrder(const CommandOrder& commands, const Sequence& sequence);
  void apply(Program& program, ProgressBoard& board) const;

 private:
  struct Before {
    QueueId queue;
    uint64_t position, perRound;
  };
  std::map<std::pair<QueueId, uint64_t>, Before> before_;
};

class ForcedBackend final : public Backend {
 public:
  /// All outlive the backend's sessions.
  ForcedBackend(Backend& inner, const ForcedOrder& order)
      : inner_(inner), order_(order), name_("forced " + std::string(inner.name())) {}
  std::string_view name() const override { return name_; }
  bool supports(DeviceKind kind) const override { return inner_.supports(kind); }
  std::string unavailable() const override { return inner_.unavailable(); }
  bool hasKernel(const Graph& graph, OpId op) const override { return inner_.hasKernel(graph, op); }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> devices,
                                    const BackendOptions& options) override;

 private:
  Backend& inner_;
  const ForcedOrder& order_;
  std::string name_;
};

} // namespace dfc::test
