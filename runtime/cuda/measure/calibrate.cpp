#include "runtime/cuda/measure/calibrate.h"

#include "ir/graph/rules/index_rules.h"
#include "runtime/cuda/compute.h"
#include "runtime/cuda/library/matmul.h"
#include "runtime/cuda/measure/noise.h"
#include "runtime/cuda/measure/stopwatch.h"

#include <fmt/format.h>

#include <limits>

namespace dfc::cuda {
namespace {

constexpr int algorithmsTried = 32;

class OpTimer {
 public:
  OpTimer(const Gpu& gpu, const DeviceRow& device, const OpLowering& lowering)
      : gpu_(gpu), device_(device), lowering_(lowering), library_(std::filesystem::path()),
        watch_(gpu.ordinal) {}

  /// The quickest of the choices for the op's product, at least one; {""} for other ops. Choices are compared
  /// with operands in the cache.
  CalibratedOp time(const Graph& graph, OpId op, llvm::ArrayRef<std::string> choices) {
    CalibratedOp best{signatureOf(graph, op), std::numeric_limits<double>::infinity(), ""};
    for (const std::string& choice : choices) {
      const double seconds = secondsOf(graph, op, choice, Operands::InCache);
      if (seconds < best.seconds) {
        best.seconds = seconds;
        best.choice = choice;
      }
    }
    best.fromMemory = std::max(best.seconds, secondsOf(graph, op, best.choice, Operands::InMemory));
    return best;
  }

 private:
  enum class Operands : uint8_t { InCache, InMemory };

  double secondsOf(const Graph& graph, OpId op, const std::string& choice, Operands operands) {
    const OpLaunches launches = lowering_.launchesOf(graph, op, device_, choice);
    const DeviceBuffer arena(gpu_.ordinal, launches.arenaBytes, "a measurement");
    fill(graph, op, launches, arena.get());
    ComputeSite site{gpu_.ordinal, gpu_.architecture, &library_, {}};
    site.arenas.resize(1, arena.get());
    const LaunchPlan& plan = launches.plan;
    const auto made = makeLaunches(graph, plan, plan.launches, plan.workspaceBytes[QueueId(0)], site);
    if (made.launches.empty()) {
      return leastSeconds;
    }
    const auto enqueue = [&](cudaStream_t stream) {
      for (const ComputeLaunch& launch : made.launches) {
        launch.streamLaunch->enqueue(stream);
      }
    };
    const double seconds =
        operands == Operands::InCache ? watch_.perRepetition(enqueue) : watch_.fromMemory(enqueue);
    return std::max(seconds, leastSeconds);
  }

  void fill(const Graph& graph, OpId op, const OpLaunches& launches, std::byte* arena) const {
    const auto types = graph.operandTypesOf(op);
    for (size_t i = 0; i < types.size(); ++i) {
      const auto indexed = indexedLength(graph[op].attributes, types, i);
      const DeviceBuffer values =
          indexed ? indices(gpu_.ordinal, types[i], *indexed) : noise(gpu_.ordinal, types[i].bytes());
      check(cudaMemcpy(arena + launches.operands[i], values.get(), static_cast<size_t>(types[i].bytes()),
                       cudaMemcpyDeviceToDevice),
            "filling operands");
    }
  }

  static constexpr double leastSeconds = 1e-9; // a table's times are more than 0

  const Gpu& gpu_;
  const DeviceRow& device_;
  const OpLowering& lowering_;
  KernelLibrary library_;
  Stopwatch watch_;
};

class Calibrator {
 public:
  Calibrator(const Graph& graph, const Calibration& known, const Gpu& gpu, const DeviceRow& device,
             const OpLowering& lowering)
      : graph_(graph), ordinal_(gpu.ordinal), device_(device), lowering_(lowering),
        timer_(gpu, device, lowering), known_(known) {}

  void time(OpId op) {
    if (!lowering_.hasLaunches(graph_, op, device_)) {
      return;
    }
    if (const auto product = lowering_.productOf(graph_, op, device_)) {
      timeProduct(op, *product);
    } else {
      rows_.push_back(timer_.time(graph_, op, {""}));
    }
  }
  std::vector<CalibratedOp> rows() && { return std::move(rows_); }

 private:
  // The algorithm is chosen with the epilogue of the first op that has the product, and kept with the
  // product.
  void timeProduct(OpId op, const TimedProduct& product) {
    const LoneOp& plain = product.plain;
    const CalibratedOp* chosen = known_.find(signatureOf(plain.graph, plain.op));
    CalibratedOp timed =
        timer_.time(graph_, op, chosen != nullptr ? std::vector{chosen->choice} : choicesFor(product));
    if (graph_[op].kind() == OpKind::FusedMatmul && chosen == nullptr) {
      keep(timer_.time(plain.graph, plain.op, {timed.choice}));
    }
    keep(std::move(timed));
  }

  void keep(CalibratedOp row) {
    known_.keep({row});
    rows_.push_back(std::move(row));
  }

  /// "" is the choice without a calibration: generated tiles if the product is small, else cuBLASLt's own
  /// heuristic.
  std::vector<std::string> choicesFor(const TimedProduct& product) const {
    auto choices = matmulChoices(product.call, ordinal_, algorithmsTried);
    if (product.mayTile) {
      choices.push_back(product.tilesChoice);
    }
    return choices.empty() ? std::vector<std::string>{""} : choices;
  }

  const Graph& graph_;
  int ordinal_;
  const DeviceRow& device_;
  const OpLowering& lowering_;
  OpTimer timer_;
  Calibration known_;
  std::vector<CalibratedOp> rows_;
};

} // namespace

std::vector<CalibratedOp> calibrateOps(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                       const Gpu& gpu, const DeviceRow& device, const OpLowering& lowering) {
  const OnDevice current(gpu.ordinal);
  Calibrator calibrator(graph, known, gpu, device, lowering);
  for (const OpId op : ops) {
    try {
      calibrator.time(op);
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("{}, timing op '{}': {}", gpu.name, graph.nameOf(op), error.what()));
    }
  }
  return std::move(calibrator).rows();
}

} // namespace dfc::cuda
