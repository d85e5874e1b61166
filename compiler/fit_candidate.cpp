#include "compiler/fit_candidate.h"

#include "compiler/lower_options.h"
#include "compiler/offload/offload_updates.h"
#include "compiler/operands/transposed_operands.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/rematerialise/fit_by_repeating.h"
#include "compiler/run_passes.h"
#include "compiler/split/pipeline/micro_batches.h"
#include "ir/author/text/units.h"
#include "ir/graph/micro_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace dfc {
namespace {

/// Micro-batches of a step. With more, kernels no longer fill a device.
constexpr size_t mostParts = 32;
/// Recomputation and micro-batches are tried for a plan that fits, too, where waits for memory make its step
/// longer than this multiple of the makespan without a memory limit.
constexpr double longWaits = 1.03;
/// Ratio of a variant's makespan without a memory limit to the best planned seconds from which the variant is
/// not planned where memory is short: waits for memory and repeated ops only add to the makespan.
constexpr double hopelessInShortMemory = 1.15;
/// More updates run on the host where the makespan is at most this multiple of that with as few as memory
/// needs.
constexpr double hidden = 1.05;
/// Ratio of a makespan without a memory limit to other seconds below which such variants are tried.
constexpr double promising = 0.9;
/// The same where state is copied in each step behind a plan without such copies; they take long to plan.
constexpr double worthCopies = 0.75;
constexpr double noLimit = std::numeric_limits<double>::infinity();

/// The number of micro-batches that a pipeline's graph already has.
size_t microBatchesOf(const Graph& graph) {
  size_t count = 1;
  for (const OpId op : graph.ops()) {
    if (const auto number = microBatchOf(graph.scopeOf(op))) {
      count = std::max(count, size_t{*number} + 1);
    }
  }
  return count;
}

class CandidateFitter {
 public:
  CandidateFitter(const Machine& machine, const CostModel& cost, const CompileOptions& options,
                  BatchUse batch, UpdateUse updates, double most)
      : machine_(machine), cost_(cost), options_(options), lowering_(lowerOptionsOf(options)), batch_(batch),
        updates_(updates), most_(most) {}

  FittedCandidate run(Placement& placement, const Graph& unfused, const std::string& policy) {
    auto transposed = withTransposedOperands(placement, machine_);
    const bool hasRoom = transposed && fitsInto(machine_, memoryDemand(*transposed, machine_).likely);
    const Placement plain = placement;
    if (hasRoom) {
      placement = *std::move(transposed);
    }
    fit(placement, unfused, policy);
    if (hasRoom && !best_ && !isTooSlow_) { // the demand was an estimate
      placement = plain;
      fit(placement, unfused, policy);
    }
    if (found_) {
      placement = *std::move(found_);
    }
    if (best_ && !hasRoom) {
      transposeOperands(placement);
    }
    return {best_, isTooSlow_ && !best_, pays_, std::move(need_)};
  }

 private:
  enum class Variant : uint8_t { AsItIs, MicroBatches, StateOnHost };

  void fit(const Placement& placement, const Graph& unfused, const std::string& policy) {
    const MemoryDemand demand = memoryDemand(placement, machine_);
    const bool mayFitAsItIs = fitsInto(machine_, demand.least);
    if (!mayFitAsItIs) {
      noteDemand(placement, demand);
    }
    if (!mayFitAsItIs || !settle(placement, Variant::AsItIs)) {
      const std::optional<Placement> batches =
          inMicroBatches(placement, unfused, policy, fitsInto(machine_, demand.state));
      withStateOnHost(placement);
      if (!best_ && batches) {
        withStateOnHost(*batches);
      }
    }
    pays_ = pays_ || found_.has_value();
  }

  // Of a plan that was found without transposed copies, as memory is short.
  void transposeOperands(Placement& placement) {
    auto transposed = withTransposedOperands(placement, machine_);
    if (!transposed) {
      return;
    }
    const auto planned =
        plannedSeconds(*transposed, decided(*transposed, machine_, cost_, lowering_), *best_);
    if (planned && !planned->givenUp && planned->seconds < *best_) {
      best_ = planned->seconds;
      placement = *std::move(transposed);
    }
  }

  // Updates run on the host, or the state is copied to them, first where that promises the shorter makespan.
  void withStateOnHost(const Placement& placement) {
    if (updates_ == UpdateUse::AsPlaced || best_.value_or(noLimit) <= longWaits * makespan_) {
      return;
    }
    const StepOrder order = stepOrder(placement, machine_, cost_);
    const Variants updated = variantsOnHost(placement, order, StateCopies::None);
    const Variants copied = variantsOnHost(placement, order, StateCopies::Allowed);
    const bool isCopiedFirst = copied.makespan < promising * updated.makespan;
    if (isCopiedFirst) {
      tryInTurn(copied);
      const Variants later = variantsOnHost(placement, order, StateCopies::Later);
      if (later.makespan < promising * std::min(updated.makespan, best_.value_or(noLimit))) {
        tryInTurn(later);
      }
    }
    if (updated.makespan < promising * best_.value_or(noLimit)) {
      tryInTurn(updated);
    }
    if (!isCopiedFirst && copied.makespan < worthCopies * best_.value_or(noLimit)) {
      tryInTurn(copied);
    }
  }

  struct Variants {
    std::vector<Placement> placements; ///< with ever more on the host
    double makespan = noLimit;         ///< of the first, without a memory limit
  };

  double makespanOf(const Placement& one) const {
    return predictedMakespan(one, decided(one, machine_, cost_, lowering_));
  }

  // As few updates as memory needs, and more where copies have work to hide behind, or memory is still short.
  void tryInTurn(const Variants& variants) {
    const std::vector<Placement>& all = variants.placements;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i + 1 < all.size() && makespanOf(all[i + 1]) <= hidden * variants.makespan) {
        continue;
      }
      if (settle(all[i], Variant::StateOnHost)) {
        return; // with more there it takes longer
      }
    }
  }

  Variants variantsOnHost(const Placement& placement, const StepOrder& order, StateCopies copies) {
    Variants variants;
    size_t before = 0;                                   // parameters
    for (const double margin : {0.03, 0.12, 0.3, 1.0}) { // of the memory
      auto made = offloadUpdates(placement, order, machine_, cost_, margin, copies);
      if (!made || made->onHost + made->streamed == before) {
        continue;
      }
      before = made->onHost + made->streamed;
      made->placement.policy += descriptionOf(*made);
      const MemoryDemand demand = memoryDemand(made->placement, machine_);
      if (fitsInto(machine_, demand.least)) {
        variants.placements.push_back(std::move(made->placement));
      } else {
        noteDemand(made->placement, demand);
      }
    }
    variants.makespan = variants.placements.empty() ? noLimit : makespanOf(variants.placements.front());
    return variants;
  }

  std::string descriptionOf(const Offloaded& made) const {
    const std::string& host = machine_.devices[machine_.host()].name;
    std::string text;
    if (made.onHost > 0) {
      text += fmt::format("; {} updated on {} for memory", counted(made.onHost, "parameter"), host);
    }
    if (made.streamed > 0) {
      text += fmt::format("; {} kept on {} for memory", counted(made.streamed, "parameter"), host);
    }
    return text;
  }

  // The last that was made. `fitsState`: whether the parameters, which are the same in micro-batches, fit.
  std::optional<Placement> inMicroBatches(const Placement& placement, const Graph& unfused,
                                          const std::string& policy, bool fitsState) {
    std::optional<Placement> made;
    // Parts of micro-batches would each hold sums of gradients.
    if (batch_ == BatchUse::AsItIs || microBatchesOf(unfused) > 1) {
      return made;
    }
    for (size_t parts = fitsState ? 2 : mostParts; parts <= mostParts; parts *= 2) {
      const auto batches = microBatches(unfused, parts);
      if (!batches) {
        break;
      }
      auto fused = runPasses(PassPhase::Fuse, *batches, machine_, options_);
      auto placed =
          fused ? place(*fused, machine_, cost_, policy, lowering_) : Result<Placement>(fused.errors());
      if (!placed) {
        break;
      }
      placed->policy = fmt::format("{}; {} micro-batches", placement.policy, parts);
      const bool mayFit = fitsState && fitsInto(machine_, memoryDemand(*placed, machine_).least);
      if (mayFit && settle(*placed, Variant::MicroBatches)) {
        break; // smaller parts are slower
      }
      made = *std::move(placed);
    }
    return made;
  }

  // Plans it as it is, then with ops computed twice. True where smaller parts are no gain.
  bool settle(const Placement& one, Variant variant) {
    const bool isShort = !fitsInto(machine_, memoryDemand(one, machine_).likely);
    const PlacementProblem problem = decided(one, machine_, cost_, lowering_);
    const auto order = isShort ? std::optional(stepOrder(one, machine_, cost_)) : std::nullopt;
    if (!order || mayFit(*order)) {
      const auto planned = plannedSeconds(one, problem, isShort ? mostMakespan() : noLimit);
      if (planned && planned->givenUp) {
        return tooSlow();
      }
      if (planned) {
        const bool isAsItIs = variant == Variant::AsItIs;
        if (isAsItIs) {
          best_ = planned->seconds;
          pays_ = planned->waits;
        } else {
          take(planned->seconds, one);
        }
        if (!isAsItIs || !planned->waits || planned->seconds <= longWaits * predictedMakespan(one, problem)) {
          return true;
        }
      }
    } else if (predictedMakespan(one, problem) > mostMakespan()) {
      return tooSlow();
    }
    makespan_ = variant == Variant::AsItIs ? predictedMakespan(one, problem) : makespan_;
    Placement repeated = one;
    const StepOrder known = order ? *order : stepOrder(one, machine_, cost_);
    need_.note(one, needOf(known, machine_));
    const auto seconds = fitByRepeating(repeated, known, machine_, cost_, lowering_, mostMakespan(), need_);
    take(seconds, std::move(repeated));
    return false;
  }

  // One that is too large in any order: by its likely need.
  void noteDemand(const Placement& placement, const MemoryDemand& demand) {
    double use = 0;
    for (const DeviceId device : machine_.devices.ids()) {
      const auto capacity = static_cast<double>(machine_.devices[device].memoryBytes);
      use = capacity > 0 ? std::max(use, demand.likely[device] / capacity) : use;
    }
    need_.note(placement, use);
  }

  bool tooSlow() {
    isTooSlow_ = true;
    return true;
  }

  double mostMakespan() const { return hopelessInShortMemory * std::min(most_, best_.value_or(noLimit)); }

  void take(std::optional<double> seconds, Placement one) {
    if (seconds && (!best_ || *seconds < *best_)) {
      best_ = seconds;
      found_ = std::move(one);
    }
  }

  const Machine& machine_;
  const CostModel& cost_;
  const CompileOptions& options_;
  const LowerOptions lowering_;
  const BatchUse batch_;
  const UpdateUse updates_;
  const double most_;
  bool isTooSlow_ = false;
  bool pays_ = false;   ///< for memory
  double makespan_ = 0; ///< of the given placement, without a memory limit, where that was asked for
  LeastNeed need_;
  std::optional<double> best_;
  std::optional<Placement> found_; ///< the best; none where that is the given placement
};

} // namespace

FittedCandidate fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                             const Machine& machine, const CostModel& cost, const CompileOptions& options,
                             double most, BatchUse batch, UpdateUse updates) {
  return CandidateFitter(machine, cost, options, batch, updates, most).run(placement, unfused, policy);
}

} // namespace dfc
