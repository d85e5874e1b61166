#include "compiler/lower/unmerged_launch.h"

#include "compiler/lower/kernel_selection.h"
#include "ir/base/assert.h"
#include "ir/plan/memory_plan.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

bool haveBytesInCommon(const Range& a, const Range& b) {
  return a.begin.device == b.begin.device && a.begin.offset < b.begin.offset + b.bytes &&
         b.begin.offset < a.begin.offset + a.bytes;
}

bool alignedWhereOverlapping(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others) {
  return llvm::all_of(some, [&](const Range& a) {
    return llvm::all_of(others, [&](const Range& b) {
      return !haveBytesInCommon(a, b) || (a.stride != 0 && a.stride == b.stride && a.begin == b.begin);
    });
  });
}

/// Allocates workspace as a ring buffer: after the last byte the first ones are used again. Large blocks
/// share one place behind the ring.
class Workspace {
 public:
  explicit Workspace(bool apart) : apart_(apart) {}
  int64_t take(int64_t bytes) {
    constexpr int64_t most = int64_t{4} << 20;
    const bool large = apart_ && bytes > most;
    if (!apart_ || (!large && next_ + bytes > most)) {
      next_ = 0;
    }
    const int64_t at = large ? most : next_;
    next_ = large ? next_ : alignUp(at + bytes);
    size_ = std::max(size_, at + bytes);
    return at;
  }
  int64_t size() const { return size_; }

 private:
  bool apart_;
  int64_t next_ = 0, size_ = 0;
};

/// The launches of one computation.
class Splitter {
 public:
  Splitter(const Graph& graph, const Computation& computation, uint32_t index, int64_t workspace,
           std::vector<UnmergedLaunch>& launches)
      : graph_(graph), computation_(computation), index_(index), workspace_(workspace), launches_(launches) {
    const OpRow& row = graph[computation.op];
    for (size_t i = 0; i < computation.at.operands.size(); ++i) {
      operands_.push_back({computation.at.operands[i], graph.typeOf(row.operands[i]).bytes(), 0, index});
    }
    size_t i = 0;
    for (const ValueId result : row.results()) {
      results_.push_back({computation.at.results[i++], graph.typeOf(result).bytes(), 0, index});
    }
  }

  void split(KernelSelection selection) {
    if (selection.convolution || selection.custom) {
      addWhole(selection);
    } else {
      addOthers(selection);
    }
    if (selection.spare != nullptr) {
      addSpare(std::move(*selection.spare));
    }
  }

 private:
  UnmergedLaunch& add() {
    UnmergedLaunch& launch = launches_.emplace_back();
    launch.computation = index_;
    launch.region = computation_.region;
    return launch;
  }

  void addOthers(KernelSelection& selection) {
    Range product = results_[0];
    if (selection.hasProduct()) {
      product.bytes = selection.productBytes;
      if (selection.productInWorkspace) {
        product.begin = {DeviceId(), workspace_ + *selection.productInWorkspace};
      }
    }
    if (selection.library) {
      addLibrary(selection, product);
    } else if (selection.product) {
      addGenerated(*std::move(selection.product), {operands_[0], operands_[1]}, {product});
    }
    if (selection.kernels) {
      llvm::SmallVector<Range, 4> operands = operands_;
      if (selection.hasProduct()) {
        operands.erase(operands.begin());
        operands[0] = product;
      }
      addGenerated(*std::move(selection.kernels), operands, results_);
    }
  }

  // One launch that reads all operands and writes all results.
  void addWhole(const KernelSelection& selection) {
    UnmergedLaunch& launch = add();
    launch.convolution = selection.convolution;
    launch.custom = selection.custom;
    for (const Range& operand : operands_) {
      launch.pointers.push_back(operand.begin);
      launch.reads.push_back(operand);
    }
    for (const Range& result : results_) {
      launch.pointers.push_back(result.begin);
      launch.writes.push_back(result);
    }
  }

  // The library's launch stands for its spare ones, too, when launches are reordered.
  void addSpare(KernelSelection selection) {
    std::vector<UnmergedLaunch> spare;
    const int64_t bytes = selection.workspaceBytes;
    Splitter(graph_, computation_, index_, workspace_, spare).split(std::move(selection));
    launches_.back().spare = std::move(spare);
    if (bytes > 0) {
      launches_.back().writes.push_back({{DeviceId(), workspace_}, bytes, 0, index_});
    }
  }

  void addLibrary(const KernelSelection& selection, const Range& product) {
    UnmergedLaunch& launch = add();
    const auto& operands = computation_.at.operands;
    ProductCall& call = launch.product.emplace(*selection.library);
    launch.pointers = {product.begin, operands[0], operands[1]};
    if (const auto& epilogue = selection.epilogue) {
      call.alpha = epilogue->alpha;
      call.activation = epilogue->activation;
      call.bias = epilogue->bias.has_value();
      call.addend = epilogue->addend.has_value();
      for (const auto& operand : {epilogue->bias, epilogue->addend}) {
        if (operand) {
          launch.pointers.push_back(operands[*operand]);
        }
      }
    }
    launch.reads.assign(operands_.begin(), operands_.end());
    launch.writes = {product};
  }

  void addGenerated(GeneratedKernels work, llvm::ArrayRef<Range> operands, llvm::ArrayRef<Range> results) {
    const Range workspace{{DeviceId(), workspace_}, work.workspaceBytes, 0, index_};
    for (GeneratedLaunch& kernel : work.launches) {
      UnmergedLaunch& launch = add();
      for (const Argument& argument : kernel.arguments) {
        LaunchPointer place;
        switch (argument.from) {
        case Argument::From::Operand:
          place = operands[argument.index].begin;
          launch.reads.push_back(operands[argument.index]);
          launch.reads.back().stride = argument.stride;
          break;
        case Argument::From::Result:
          place = results[argument.index].begin;
          launch.writes.push_back(results[argument.index]);
          launch.writes.back().stride = argument.stride;
          break;
        case Argument::From::Workspace:
          place = workspace.begin;
          launch.writes.push_back(workspace);
          break;
        }
        place.offset += argument.offset;
        launch.pointers.push_back(place);
      }
      launch.kernel = std::move(kernel);
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  uint32_t index_;
  int64_t workspace_;
  std::vector<UnmergedLaunch>& launches_;
  llvm::SmallVector<Range, 4> operands_, results_;
};

} // namespace

bool overlap(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others) {
  return llvm::any_of(some, [&](const Range& a) {
    return llvm::any_of(others, [&](const Range& b) { return haveBytesInCommon(a, b); });
  });
}

bool dependent(const UnmergedLaunch& a, const UnmergedLaunch& b) {
  return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

bool elementByElement(const UnmergedLaunch& earlier, const UnmergedLaunch& later) {
  return !earlier.byLibrary() && !later.byLibrary() && later.kernel.alone && later.kernel.elements > 0 &&
         later.kernel.elements == earlier.kernel.elements &&
         alignedWhereOverlapping(earlier.writes, later.writes) &&
         alignedWhereOverlapping(earlier.writes, later.reads) &&
         alignedWhereOverlapping(earlier.reads, later.writes);
}

UnmergedLaunches unmergedLaunchesOf(const Graph& graph, llvm::ArrayRef<Computation> computations, bool apart,
                                    const GpuTarget& target) {
  UnmergedLaunches all;
  Workspace workspace(apart);
  for (uint32_t i = 0; i < computations.size(); ++i) {
    KernelSelection selection = selectKernels(graph, computations[i], target);
    if (selection.missing) {
      all.missing.push_back(i);
      continue;
    }
    const int64_t at = selection.workspaceBytes > 0 ? workspace.take(selection.workspaceBytes) : 0;
    Splitter(graph, computations[i], i, at, all.launches).split(std::move(selection));
  }
  all.workspaceBytes = workspace.size();
  return all;
}

} // namespace dfc::cuda
