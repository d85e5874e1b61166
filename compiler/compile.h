// compile(): the whole pipeline, graph in, sealed plan out. Machine, cost model and policy are arguments; no
// device is asked anything, so a plan for eight GPUs is made on a laptop.
//
// Threads: may be called by many threads at once, also with the same graph, machine and cost model, which are
// only read. An observer and the functions of the options are called on the thread that called.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/place/pin_rule.h"
#include "compiler/split/split_wish.h"
#include "ir/base/visibility.h"
#include "ir/graph/op_options.h"
#include "ir/machine/calibration.h"
#include "ir/plan/executable.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

struct ConsideredPlacements; // what choosePlacement compared

/// Sees each stage as it is made, for --emit and for tests. Does nothing unless overridden.
/// Calls follow the stages. Where a plan with hoisted ops is given up, its stages are seen first: the last
/// call of each kind shows the plan that is returned.
class CompileObserver {
 public:
  virtual ~CompileObserver() = default;
  /// The graph behind this pass.
  virtual void graph(const Graph&, std::string_view /*passName*/) {}
  /// The placements and splits that were compared, before the plan of the chosen one is made.
  virtual void considered(const ConsideredPlacements&) {}
  /// The graph with devices and transfers.
  virtual void placed(const PlacedGraph&) {}
  /// The order on each queue.
  virtual void schedule(const Schedule&, const PlacedGraph&) {}
  /// The offsets.
  virtual void memory(const MemoryPlan&, const Schedule&, const PlacedGraph&) {}
  /// What the queues of GPUs launch.
  virtual void launches(const LaunchPlan&, const Schedule&, const PlacedGraph&) {}
};

/// What an author may choose.
struct CompileOptions {
  /// Which placement policy: "auto" (the best of all, in memory), "split" (ops cut into parts for many
  /// devices), "heft" and "peft" (each op where it ends first), "single" (all ops on the fastest device) or
  /// "pins" (each op where its largest operand is). Another name is an error.
  std::string policy = "auto";
  /// Devices of ops by name, beside the pins of the graph.
  std::vector<PinRule> pins = {};
  /// Values, by name, and the axes along which they are cut; the graph's `cut` ops ask for more. With any
  /// such cut the graph is split, and policies other than "auto" and "split" are an error. On a machine with
  /// one device `cut` ops are identities.
  std::vector<SplitWish> splits = {};
  /// Of products of f32 operands, convolutions included, that do not state their own. Bf16 and F16 are mixed
  /// precision: parameters stay f32, updates, norms and losses are computed in f32, and tensors between
  /// products, results of norms among them, are stored in the 16-bit type (batch norms have their statistics
  /// in f32). F16 trains with dynamic loss scaling, unless the graph scales its loss itself (LossScaling):
  /// the plan gets two more parameters, "lossScale" and "lossScale.finiteSteps", and a step with gradients
  /// that are not finite updates no parameter but these. Exception: if the graph contains its gradients as
  /// ordinary ops (a file printed from a finished graph) or reads intermediate values of a call of
  /// `gradients`, no loss is scaled, and the plan comes with a warning.
  Precision precision = Precision::Ieee;
  /// Passes to leave out, for tests and debugging: "recognise_attention", "scale_losses", "gradients",
  /// "decompose", "fuse_batch_norm", "attention_layout", "set_precision", "narrow_movement",
  /// "space_to_depth", "choose_layout", "fold_constants", "simplify", "share_common_ops", "fuse_elementwise",
  /// "fuse_matmul", "drop_dead_ops"; and "hoist_invariant_ops", which computes what depends on unassigned
  /// parameters and constants alone once instead of in every step. Another name is an error.
  std::vector<std::string> skipPasses = {};
  /// false: no two ops share a kernel launch on a GPU, even where both are small.
  bool mergeLaunches = true;
  /// false: every transfer between GPUs is a copy. Else the kernel that needs a value may read it in the
  /// other GPU's memory, where the machine has direct routes between the two.
  bool peerReads = true;
  /// Limit, in seconds by the clock from the beginning of the comparison, of a local search for a quicker
  /// placement or split, by the policies "auto" and "split", behind the candidates that are compared in any
  /// case. 0: no search beyond `planSteps`. With `planSteps` unset the steps of its default are made in any
  /// case, so that the plan is never predicted to be slower than without a limit in seconds.
  double planSeconds = 0;
  /// Limit of the same search in steps, each a candidate that is scheduled. Unset: the fewer ops and devices,
  /// the more steps, some hundred for ten ops and none for more than sixty ops on two devices
  /// (`defaultPlanSteps`), and none where memory is short; beyond these, as many as `planSeconds` allows. 0
  /// without `planSeconds`: no search; 0 with it: no limit in steps. Equal steps without a limit in seconds
  /// give equal plans.
  std::optional<uint64_t> planSteps = std::nullopt;
  /// What `dfc calibrate` measured, by model of GPU: products take the algorithms that it found the quickest.
  std::vector<Calibration> calibrations = {};
  /// Sees each stage; null for none.
  CompileObserver* observer = nullptr;
  /// Improves the error about a pin to a device that the machine does not have: a caller may know where the
  /// pin was written, or which machine has the device. Empty: the error is located at the first op with the
  /// pin.
  std::function<Diagnostic(const std::string& device, Diagnostic error)> explainMissingDevice = {};
};

/// All errors at once where a stage finds several: pins that cannot hold, plans that do not fit in memory
/// (with the largest holders), machines without a route. A graph that fetches and assigns nothing is an
/// error. The plan comes with the passes' warnings; those of making the graph came with the graph.
Result<Executable> compile(const Graph& graph, const Machine& machine, const CostModel& cost,
                           const CompileOptions& options = {});

} // namespace dfc
