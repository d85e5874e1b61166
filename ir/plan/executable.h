// Executable: a sealed plan. Everything the runtime needs and nothing it could change. Saved as a FlatBuffer
// (executable.fbs) with a checksum; a file is never trusted: loading checks it, rebuilds every stage and
// verifies each.
//
// Threads: never changes, and may be used by many threads and sessions at once.
#pragma once

#include "ir/plan/memory_plan.h"

#include <span>

namespace dfc {

class Executable {
 public:
  /// Verifies the stages against one another and seals them.
  static Result<Executable> seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory, Machine machine,
                                 std::string policy);
  static Result<Executable> load(const std::string& path);
  static Result<Executable> parse(std::span<const std::byte> bytes, const std::string& fileName);
  /// Written under a temporary name, synced, renamed: never half a file.
  Status save(const std::string& path) const;
  std::vector<std::byte> serialise() const;

  const Graph& graph() const { return placed_.graph; }
  const PlacedGraph& placed() const { return placed_; }
  const Schedule& schedule() const { return schedule_; }
  const MemoryPlan& memory() const { return memory_; }
  const Machine& machine() const { return machine_; }
  const std::string& policy() const { return policy_; }

 private:
  Executable() = default;
  PlacedGraph placed_;
  Schedule schedule_;
  MemoryPlan memory_;
  Machine machine_;
  std::string policy_;
};

} // namespace dfc
