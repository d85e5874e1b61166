// fitCandidate: makes a placement fit into memory. Four variants are planned, the given placement, the same
// with recomputation (compiler/rematerialise), with updates of parameters on the host (compiler/offload), and
// the graph in micro-batches (compiler/split/pipeline); the one with the fewest predicted seconds is kept.
#pragma once

#include "compiler/compile.h"
#include "compiler/rematerialise/least_need.h"
#include "ir/plan/placement.h"

#include <limits>
#include <optional>

namespace dfc {

struct FittedCandidate {
  std::optional<double> seconds; ///< per step, as predicted; none without a variant that fits
  bool isTooSlow = false;        ///< without seconds: a variant was given up, which may fit
  bool isShort =
      false;           ///< with seconds: ops wait for memory, or are computed twice, or the batch is in parts
  LeastNeed need = {}; ///< of the variants that do not fit
};

/// Whether a candidate's batch may be cut into micro-batches behind the split. Not where parameters are in
/// parts: accumulated over micro-batches, gradients are whole on each device. There `batchesInLittleMemory`
/// cuts the batch ahead of the split.
enum class BatchUse : uint8_t { MayBeCut, AsItIs };
/// Whether updates of parameters may move to the host; not where the author or a policy says where ops run.
enum class UpdateUse : uint8_t { MayMove, AsPlaced };

/// Replaces `placement` by the variant that is kept. `unfused`: the graph before the phase Fuse;
/// micro-batches are made from it, fused, and placed by `policy`. Without a variant that fits `placement`
/// stays as it is. `batch`: whether micro-batches are tried; `updates`: whether
/// updates on the host are. `most`: where memory is short, variants that
/// promise no step of fewer seconds are given up early.
FittedCandidate fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                             const Machine& machine, const CostModel& cost, const CompileOptions& options,
                             double most = std::numeric_limits<double>::infinity(),
                             BatchUse batch = BatchUse::MayBeCut, UpdateUse updates = UpdateUse::AsPlaced);

} // namespace dfc
