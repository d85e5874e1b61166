#include "runtime/cuda/measure/calibrate.h"

#include "ir/graph/rules/index_rules.h"
#include "runtime/cuda/compute.h"
#include "runtime/cuda/launches/kernel_selection.h"
#include "runtime/cuda/launches/tile_matmul.h"
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
  explicit OpTimer(const Gpu& gpu)
      : gpu_(gpu), library_(std::filesystem::path()), watch_(gpu.ordinal),
        matmulWorkspace_(gpu.ordinal, matmulWorkspaceBytes, "cuBLASLt's workspace") {}

  struct Timed {
    std::string choice;
    double seconds = std::numeric_limits<double>::infinity();
  };
  /// The quickest of the choices for the op's product, at least one; {""} for other ops.
  Timed time(const Graph& graph, OpId op, llvm::ArrayRef<std::string> choices) {
    Computation computation = withBuffers(graph, op);
    Timed best;
    for (const std::string& choice : choices) {
      computation.choice = choice;
      const double seconds = secondsOf(graph, computation);
      if (seconds < best.seconds) {
        best = {choice, seconds};
      }
    }
    return best;
  }

 private:
  // The result overwrites an addend, as an update in a plan overwrites its parameter.
  Computation withBuffers(const Graph& graph, OpId op) {
    buffers_.clear();
    Computation computation;
    computation.op = op;
    const auto types = graph.operandTypesOf(op);
    for (size_t i = 0; i < types.size(); ++i) {
      const auto indexed = indexedLength(graph[op].attributes, types, i);
      buffers_.push_back(indexed ? indices(gpu_.ordinal, types[i], *indexed)
                                 : noise(gpu_.ordinal, types[i].bytes()));
      computation.at.operands.push_back(buffers_.back().get());
    }
    for (const TensorType& type : graph.resultTypesOf(op)) {
      buffers_.emplace_back(gpu_.ordinal, type.bytes(), "a measurement");
      computation.at.results.push_back(buffers_.back().get());
    }
    const auto epilogue = isLibraryProduct(graph, op) && graph[op].kind() == OpKind::FusedMatmul
                              ? libraryEpilogue(graph, op)
                              : std::nullopt;
    if (epilogue && epilogue->addend) {
      computation.at.results[0] = computation.at.operands[*epilogue->addend];
    }
    return computation;
  }

  double secondsOf(const Graph& graph, const Computation& computation) {
    const auto made =
        makeLaunches(graph, {computation},
                     {gpu_.ordinal, gpu_.architecture, gpu_.shape, &library_, matmulWorkspace_.get()}, false);
    if (made.launches.empty()) {
      return makespanBound;
    }
    const auto enqueue = [&](cudaStream_t stream) {
      for (const ComputeLaunch& launch : made.launches) {
        launch.streamLaunch->enqueue(stream);
      }
    };
    return std::max(watch_.perRepetition(enqueue), makespanBound);
  }

  static constexpr double makespanBound = 1e-9; // a table's times are more than 0

  const Gpu& gpu_;
  KernelLibrary library_;
  Stopwatch watch_;
  DeviceBuffer matmulWorkspace_;
  std::vector<DeviceBuffer> buffers_;
};

class Calibrator {
 public:
  Calibrator(const Graph& graph, const Calibration& known, const Gpu& gpu)
      : graph_(graph), ordinal_(gpu.ordinal), tiles_(runsTiles(gpu.architecture)), timer_(gpu),
        known_(known) {}

  void time(OpId op) {
    if (isLibraryProduct(graph_, op)) {
      timeProduct(op);
    } else {
      rows_.push_back({signatureOf(graph_, op), timer_.time(graph_, op, {""}).seconds, ""});
    }
  }
  std::vector<CalibratedOp> rows() && { return std::move(rows_); }

 private:
  // The algorithm is chosen with the epilogue of the first op that has the product, and kept with the
  // product.
  void timeProduct(OpId op) {
    const LoneOp product = plainProductOf(graph_, op);
    const CalibratedOp* chosen = known_.find(signatureOf(product.graph, product.op));
    const auto timed =
        timer_.time(graph_, op, chosen != nullptr ? std::vector{chosen->choice} : choicesFor(op));
    if (graph_[op].kind() == OpKind::FusedMatmul && chosen == nullptr) {
      const auto alone = timer_.time(product.graph, product.op, {timed.choice});
      keep({signatureOf(product.graph, product.op), alone.seconds, timed.choice});
    }
    keep({signatureOf(graph_, op), timed.seconds, timed.choice});
  }

  void keep(CalibratedOp row) {
    known_.keep({row});
    rows_.push_back(std::move(row));
  }

  /// "" is the choice without a calibration: generated tiles if the product is small, else cuBLASLt's own
  /// heuristic.
  std::vector<std::string> choicesFor(OpId op) {
    auto choices = matmulChoices(productCall(graph_, op), ordinal_, algorithmsTried);
    if (tiles_ && mayTile(graph_[op], graph_.operandTypesOf(op))) {
      choices.emplace_back(tileChoice);
    }
    return choices.empty() ? std::vector<std::string>{""} : choices;
  }

  const Graph& graph_;
  int ordinal_;
  bool tiles_;
  OpTimer timer_;
  Calibration known_;
  std::vector<CalibratedOp> rows_;
};

} // namespace

std::vector<CalibratedOp> calibrateOps(const Graph& graph, llvm::ArrayRef<OpId> ops, const Calibration& known,
                                       const Gpu& gpu) {
  const OnDevice current(gpu.ordinal);
  Calibrator calibrator(graph, known, gpu);
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
