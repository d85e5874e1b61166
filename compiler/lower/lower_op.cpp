#include "compiler/lower/lower_op.h"

#include "compiler/lower/kernel_selection.h"
#include "compiler/lower/lower_queue.h"
#include "compiler/lower/tile_matmul.h"

namespace dfc {
namespace {

using cuda::GpuTarget;

class RuleOpLowering final : public OpLowering {
 public:
  bool hasLaunches(const Graph& graph, OpId op, const DeviceRow& device) const override {
    return cuda::runsOn(graph[op].kind(), GpuTarget::of(device)) && cuda::hasCudaKernel(graph, op);
  }

  std::optional<TimedProduct> productOf(const Graph& graph, OpId op, const DeviceRow& device) const override {
    if (!cuda::isLibraryProduct(graph, op)) {
      return std::nullopt;
    }
    return TimedProduct{cuda::productCall(graph, op), cuda::plainProductOf(graph, op),
                        GpuTarget::of(device).tiles && cuda::mayTile(graph[op], graph.operandTypesOf(op)),
                        std::string(cuda::tileChoice)};
  }

  OpLaunches launchesOf(const Graph& graph, OpId op, const DeviceRow& device,
                        const std::string& choice) const override {
    OpLaunches made;
    cuda::Computation computation;
    computation.op = op;
    computation.choice = choice;
    const auto take = [&](const TensorType& type) {
      const int64_t at = made.arenaBytes;
      made.arenaBytes += alignUp(type.bytes());
      return LaunchPointer{DeviceId(0), at};
    };
    for (const TensorType& type : graph.operandTypesOf(op)) {
      computation.at.operands.push_back(take(type));
      made.operands.push_back(computation.at.operands.back().offset);
    }
    for (const TensorType& type : graph.resultTypesOf(op)) {
      computation.at.results.push_back(take(type));
    }
    if (const auto addend = overwrittenAddend(graph, op)) {
      computation.at.results[0] = computation.at.operands[*addend];
    }
    made.plan.prelude = cuda::prelude();
    made.plan.workspaceBytes.resize(1);
    cuda::LaunchPlanBuilder(graph, made.plan)
        .addQueue(QueueId(0), {computation}, false, GpuTarget::of(device), [&](uint32_t) { return op; });
    return made;
  }

 private:
  static std::optional<size_t> overwrittenAddend(const Graph& graph, OpId op) {
    if (!cuda::isLibraryProduct(graph, op) || graph[op].kind() != OpKind::FusedMatmul) {
      return std::nullopt;
    }
    const auto epilogue = cuda::libraryEpilogue(graph, op);
    return epilogue ? epilogue->addend : std::nullopt;
  }
};

} // namespace

const OpLowering& opLowering() {
  static const RuleOpLowering lowering;
  return lowering;
}

} // namespace dfc
