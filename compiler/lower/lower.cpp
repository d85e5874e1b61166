#include "compiler/lower/lower.h"

#include "compiler/lower/kernel_selection.h"
#include "compiler/lower/kernels/generated_kernel.h"
#include "compiler/lower/lower_queue.h"
#include "compiler/lower/peer_reads.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <map>

namespace dfc {
namespace {

using cuda::Computation;
using cuda::GpuTarget;

class Lowering {
 public:
  Lowering(const PlanStages& stages, const LowerOptions& options)
      : stages_(stages), options_(options), graph_(stages.placed.graph), schedule_(stages.schedule) {}

  Result<LaunchPlan> run() {
    if (!computesOnGpus()) {
      return LaunchPlan{};
    }
    if (options_.peerReads) {
      choosePeers();
    }
    plan_.prelude = cuda::prelude();
    plan_.workspaceBytes.resize(schedule_.queues.size());
    const SideTable<StepId, cuda::Region> regions = cuda::regionsOf(stages_, plan_.peers);
    for (const QueueId queue : schedule_.queues.ids()) {
      if (isGpu(queue)) {
        addQueue(queue, regions);
      }
    }
    return errors_.empty() ? Result<LaunchPlan>(std::move(plan_)) : Result<LaunchPlan>(std::move(errors_));
  }

 private:
  const DeviceRow& deviceOf(QueueId queue) const {
    return stages_.machine.devices[schedule_.queues[queue].device];
  }
  bool isGpu(QueueId queue) const { return deviceOf(queue).kind == DeviceKind::Gpu; }

  bool computesOnGpus() const {
    return llvm::any_of(schedule_.queues.ids(), [&](QueueId queue) {
      return isGpu(queue) && !schedule_.queues[queue].steps.empty();
    });
  }

  void choosePeers() {
    const PeerAccess peers(stages_.machine);
    const auto reaches = [&](DeviceId reader, DeviceId owner) { return peers.reaches(reader, owner); };
    std::vector<PeerRead> chosen = cuda::choosePeerReads(stages_, reaches, options_.largePeerReads);
    if (!chosen.empty()) {
      plan_.peers = cuda::lowerPeerReads(schedule_, std::move(chosen));
    }
    if (plan_.peers.reads.empty()) {
      plan_.peers = {};
    }
    for (const PeerRead& read : plan_.peers.reads) {
      sourceOf_[{read.reader, read.operand}] = graph_[schedule_.steps[read.transfer].op].operands[0];
    }
  }

  void addQueue(QueueId queue, const SideTable<StepId, cuda::Region>& regions) {
    const GpuTarget target = GpuTarget::of(deviceOf(queue));
    std::vector<Computation> computations;
    for (const StepId step : schedule_.queues[queue].steps) {
      const OpKind kind = graph_[schedule_.steps[step].op].kind();
      if (isTimed(kind)) {
        computations.push_back(computationOf(queue, step, regions[step]));
        if (!cuda::runsOn(kind, target)) {
          refuseAttention(computations.back().op, queue);
        }
      }
    }
    const auto& steps = schedule_.queues[queue].steps;
    const std::vector<OpId> missing =
        builder_.addQueue(queue, computations, options_.mergeLaunches, target,
                          [&](uint32_t position) { return schedule_.steps[steps[position]].op; });
    for (const OpId op : missing) {
      errors_.push_back({Severity::Error, graph_.locationOf(op),
                         fmt::format("{} has no kernel for {} '{}'", deviceOf(queue).name,
                                     nameOf(graph_[op].kind()), graph_.nameOf(op)),
                         "place the op on another device, or cast its operands to a type that has one"});
    }
  }

  // Whether attention is decomposed does not depend on the machine (ir/machine/kernel_claims.h), so that a
  // GPU without kernels for the op is an error.
  void refuseAttention(OpId op, QueueId queue) {
    errors_.push_back({Severity::Error, graph_.locationOf(op),
                       fmt::format("'{}' needs a GPU of compute capability 8.0 or newer, and {} is {}",
                                   graph_.nameOf(op), deviceOf(queue).name, deviceOf(queue).architecture),
                       "write attention with matmul and softmax, and skip the pass recognise_attention"});
  }

  Computation computationOf(QueueId queue, StepId step, cuda::Region region) const {
    Computation computation;
    computation.op = schedule_.steps[step].op;
    computation.region = region;
    computation.position = schedule_.steps[step].position;
    computation.choice = choiceFor(queue, computation.op);
    const OpRow& row = graph_[computation.op];
    for (uint32_t i = 0; i < row.operands.size(); ++i) {
      const auto source = sourceOf_.find({step, i});
      computation.at.operands.push_back(
          placeOf(source != sourceOf_.end() ? source->second : row.operands[i]));
    }
    for (const ValueId result : row.results()) {
      computation.at.results.push_back(placeOf(result));
    }
    return computation;
  }

  LaunchPointer placeOf(ValueId value) const {
    const Slot& slot = stages_.memory.slots[value];
    return {slot.device, slot.offset};
  }

  // A product's algorithm comes from the row of the plain product, so that it does not depend on the
  // epilogue.
  std::string choiceFor(QueueId queue, OpId op) const {
    const auto table = llvm::find_if(
        options_.calibrations, [&](const Calibration& one) { return one.device == deviceOf(queue).model; });
    if (table == options_.calibrations.end() || !cuda::isLibraryProduct(graph_, op)) {
      return "";
    }
    const LoneOp product = cuda::plainProductOf(graph_, op);
    const CalibratedOp* row = table->find(signatureOf(product.graph, product.op));
    return row != nullptr ? row->choice : "";
  }

  const PlanStages& stages_;
  const LowerOptions& options_;
  const Graph& graph_;
  const Schedule& schedule_;
  std::map<std::pair<StepId, uint32_t>, ValueId> sourceOf_; // operands that are read at the peer
  LaunchPlan plan_;
  cuda::LaunchPlanBuilder builder_{graph_, plan_};
  Diagnostics errors_;
};

} // namespace

Result<LaunchPlan> lower(const PlanStages& stages, const LowerOptions& options) {
  return Lowering(stages, options).run();
}

} // namespace dfc
