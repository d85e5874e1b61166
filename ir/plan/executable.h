// Executable: a sealed plan. Everything the runtime needs and nothing it could change. Saved as a FlatBuffer
// (executable.fbs) with a checksum; a file is never trusted: loading checks it, rebuilds every stage and
// verifies each.
//
// Threads: never changes, and may be used by many threads and sessions at once.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"
#include "ir/machine/machine.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

struct PlacedGraph; // the stages that a plan is sealed from
struct Schedule;
struct MemoryPlan;
struct LaunchPlan;

/// A plan, made by compile() or loaded from a file. Copies share it.
class Executable {
 public:
  /// Reads a plan; every stage is rebuilt and verified.
  static Result<Executable> load(const std::string& path);
  /// The same of bytes; `fileName` is for messages.
  static Result<Executable> parse(std::span<const std::byte> bytes, const std::string& fileName);
  /// Written under a temporary name, synced, renamed: never half a file.
  Status save(const std::string& path) const;
  /// The bytes that save() writes.
  std::vector<std::byte> serialise() const;

  const Graph& graph() const; ///< with the transfers that the plan needs
  /// The machine that the plan was made for.
  const Machine& machine() const;
  const std::string& policy() const; ///< how the ops were placed: "heft, 2 devices offered"
  /// Predicted seconds of a step among many: feeds of the next one are on their way while it computes.
  double predictedSeconds() const;
  /// Seconds that such a step takes at least in any schedule of this placement, with the plan's times of its
  /// ops.
  double lowerBoundSeconds() const;

  /// @cond INTERNAL
  // Of the rooms of dfc, which include ir/plan/executable_parts.h.
  /// Verifies the stages against one another and seals them.
  static Result<Executable> seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory,
                                 LaunchPlan launches, Machine machine, std::string policy);
  /// The same without launches: such a plan runs on every backend but cuda.
  static Result<Executable> seal(PlacedGraph placed, Schedule schedule, MemoryPlan memory, Machine machine,
                                 std::string policy);
  const PlacedGraph& placed() const;
  const Schedule& schedule() const;
  const MemoryPlan& memory() const;
  const LaunchPlan& launches() const;
  /// The plan that computes parameters of this one's steps (ir/plan/state/preparation.h); null for none.
  const Executable* preparation() const { return preparation_.get(); }
  /// This plan with such a preparation; errors where one does not fit the other.
  Result<Executable> preparedBy(Executable preparation) const;
  /// @endcond

 private:
  struct Parts;
  Executable(PlacedGraph placed, Schedule schedule, MemoryPlan memory, LaunchPlan launches, Machine machine,
             std::string policy);
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<const Executable> preparation_;
};

} // namespace dfc
