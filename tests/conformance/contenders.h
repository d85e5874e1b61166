// The backends that the conformance suite tests: every backend of the build, once for each device kind that
// it supports. Exclusions are rows of a table, each with its reason; everything else must hold for all.
#pragma once

#include "runtime/session.h"
#include "tests/support/tiny_plan.h"

namespace dfc::test {

enum class Aspect : uint8_t {
  Memory,      ///< what is written to an arena is read back
  FreshMemory, ///< new memory is NaN
  Order,       ///< queues, waits and steps
  Values,      ///< results are those of the reference evaluator
};

struct Contender {
  Backend* backend = nullptr;
  DeviceKind kind = DeviceKind::Cpu;
  std::string name; ///< "emulated as gpu"

  /// cpu0, and `gpus()` gpus when it plays gpus; `queues` compute queues a device.
  Machine machine(uint32_t queues = 1) const;
  uint32_t gpus() const; ///< of that machine: two, or up to three where there are as many
  /// The devices that it plays in that machine.
  std::vector<std::string> devices() const;
  /// It plays its kind; the host of a gpu is the cpu backend, but null plays all by itself.
  SessionOptions options() const;
};

/// Those that can be opened on this host and are not excluded from the aspect.
std::vector<Contender> contenders(Aspect aspect);

struct Exclusion {
  std::string_view backend;
  Aspect aspect;
  std::string_view reason;
};
llvm::ArrayRef<Exclusion> exclusions();

} // namespace dfc::test
