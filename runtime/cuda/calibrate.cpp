#include "runtime/cuda/calibrate.h"

#include "ir/index_rules.h"
#include "runtime/cuda/compute.h"
#include "runtime/cuda/launches/draft.h"
#include "runtime/cuda/matmul.h"
#include "runtime/cuda/noise.h"
#include "runtime/cuda/stopwatch.h"

#include <fmt/format.h>

#include <limits>

namespace dfc::cuda {
namespace {

constexpr int algorithmsTried = 32;

class OpTimer {
 public:
  OpTimer(const Graph& graph, const Gpu& gpu)
      : graph_(graph), gpu_(gpu), library_(std::filesystem::path()), watch_(gpu.ordinal),
        matmulWorkspace_(gpu.ordinal, matmulWorkspaceBytes, "cuBLASLt's workspace") {}

  CalibratedOp time(OpId op) {
    Computation computation = withBuffers(op);
    CalibratedOp best{signatureOf(graph_, op), std::numeric_limits<double>::infinity(), ""};
    for (const std::string& choice : choicesFor(op)) {
      computation.choice = choice;
      const double seconds = secondsOf(computation);
      if (seconds < best.seconds) {
        best.seconds = seconds;
        best.choice = choice;
      }
    }
    return best;
  }

 private:
  // An addend is overwritten by the result, as an update in a plan overwrites its parameter.
  Computation withBuffers(OpId op) {
    buffers_.clear();
    Computation computation;
    computation.op = op;
    const auto types = graph_.operandTypesOf(op);
    for (size_t i = 0; i < types.size(); ++i) {
      const auto indexed = indexedLength(graph_[op].attributes, types, i);
      buffers_.push_back(indexed ? indices(gpu_.ordinal, types[i], *indexed)
                                 : noise(gpu_.ordinal, types[i].bytes()));
      computation.at.operands.push_back(buffers_.back().get());
    }
    for (const TensorType& type : graph_.resultTypesOf(op)) {
      buffers_.emplace_back(gpu_.ordinal, type.bytes(), "a measurement");
      computation.at.results.push_back(buffers_.back().get());
    }
    const auto epilogue = isLibraryProduct(graph_, op) && graph_[op].kind() == OpKind::FusedMatmul
                              ? libraryEpilogue(graph_, op)
                              : std::nullopt;
    if (epilogue && epilogue->addend) {
      computation.at.results[0] = computation.at.operands[*epilogue->addend];
    }
    return computation;
  }

  /// "" is the heuristic, and all there is for generated kernels.
  std::vector<std::string> choicesFor(OpId op) {
    if (!isLibraryProduct(graph_, op)) {
      return {""};
    }
    auto choices = matmulChoices(productCallWithEpilogue(graph_, op), gpu_.ordinal, algorithmsTried);
    return choices.empty() ? std::vector<std::string>{""} : choices;
  }

  double secondsOf(const Computation& computation) {
    const auto made = makeLaunches(
        graph_, {computation}, {gpu_.ordinal, gpu_.architecture, &library_, matmulWorkspace_.get()}, false);
    if (made.launches.empty()) {
      return leastSeconds;
    }
    const auto enqueue = [&](cudaStream_t stream) {
      for (const ComputeLaunch& launch : made.launches) {
        launch.work->enqueue(stream);
      }
    };
    return std::max(watch_.perRepetition(enqueue), leastSeconds);
  }

  static constexpr double leastSeconds = 1e-9; // a table's times are more than 0

  const Graph& graph_;
  const Gpu& gpu_;
  KernelLibrary library_;
  Stopwatch watch_;
  DeviceBuffer matmulWorkspace_;
  std::vector<DeviceBuffer> buffers_;
};

} // namespace

std::vector<CalibratedOp> calibrateOps(const Graph& graph, llvm::ArrayRef<OpId> ops, const Gpu& gpu) {
  const OnDevice current(gpu.ordinal);
  OpTimer timer(graph, gpu);
  std::vector<CalibratedOp> rows;
  for (const OpId op : ops) {
    try {
      rows.push_back(timer.time(op));
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("{}, timing op '{}': {}", gpu.name, graph.nameOf(op), error.what()));
    }
  }
  return rows;
}

} // namespace dfc::cuda
