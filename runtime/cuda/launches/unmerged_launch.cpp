#include "runtime/cuda/launches/unmerged_launch.h"

#include "ir/base/assert.h"
#include "ir/plan/memory_plan.h"
#include "runtime/cuda/launches/kernel_selection.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

bool haveBytesInCommon(const Range& a, const Range& b) {
  return a.begin.inWorkspace == b.begin.inWorkspace &&
         a.begin.at < b.begin.at + static_cast<uint64_t>(b.bytes) &&
         b.begin.at < a.begin.at + static_cast<uint64_t>(a.bytes);
}

bool alignedWhereOverlapping(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others) {
  return llvm::all_of(some, [&](const Range& a) {
    return llvm::all_of(others, [&](const Range& b) {
      return !haveBytesInCommon(a, b) || (a.stride != 0 && a.stride == b.stride && a.begin.at == b.begin.at);
    });
  });
}

/// Allocates workspace as a ring buffer: after the last byte the first ones are used again. Large blocks
/// share one place behind the ring.
class Workspace {
 public:
  explicit Workspace(bool apart) : apart_(apart) {}
  uint64_t take(int64_t bytes) {
    constexpr int64_t most = int64_t{4} << 20;
    const bool large = apart_ && bytes > most;
    if (!apart_ || (!large && next_ + bytes > most)) {
      next_ = 0;
    }
    const int64_t at = large ? most : next_;
    next_ = large ? next_ : alignUp(at + bytes);
    size_ = std::max(size_, at + bytes);
    return static_cast<uint64_t>(at);
  }
  int64_t size() const { return size_; }

 private:
  bool apart_;
  int64_t next_ = 0, size_ = 0;
};

/// The launches of one computation.
class Splitter {
 public:
  Splitter(const Graph& graph, const Computation& computation, uint32_t index, uint64_t workspace,
           std::vector<UnmergedLaunch>& launches)
      : graph_(graph), computation_(computation), index_(index), workspace_(workspace), launches_(launches) {
    const OpRow& row = graph[computation.op];
    for (size_t i = 0; i < computation.at.operands.size(); ++i) {
      operands_.push_back({Place::of(computation.at.operands[i]), graph.typeOf(row.operands[i]).bytes()});
    }
    size_t i = 0;
    for (const ValueId result : row.results()) {
      results_.push_back({Place::of(computation.at.results[i++]), graph.typeOf(result).bytes()});
    }
  }

  void split(KernelSelection selection) {
    if (selection.convolution) {
      addConvolution(selection.workspaceBytes);
      return;
    }
    Range product = results_[0];
    if (selection.hasProduct()) {
      product.bytes = selection.productBytes;
      if (selection.productInWorkspace) {
        product.begin = {true, workspace_ + static_cast<uint64_t>(*selection.productInWorkspace)};
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

 private:
  UnmergedLaunch& add() {
    UnmergedLaunch& launch = launches_.emplace_back();
    launch.computation = index_;
    launch.region = computation_.region;
    return launch;
  }

  void addConvolution(int64_t workspaceBytes) {
    UnmergedLaunch& launch = add();
    launch.convolution = true;
    const Range workspace{{true, workspace_}, workspaceBytes};
    for (const Range& operand : operands_) {
      launch.pointers.push_back(operand.begin);
      launch.reads.push_back(operand);
    }
    launch.pointers.append({results_[0].begin, workspace.begin});
    launch.writes.append({results_[0], workspace});
  }

  void addLibrary(const KernelSelection& selection, const Range& product) {
    UnmergedLaunch& launch = add();
    const auto& operands = computation_.at.operands;
    MatmulCall& call = launch.product.emplace(*selection.library);
    call.aData = operands[0], call.bData = operands[1];
    if (const auto& epilogue = selection.epilogue) {
      call.alpha = epilogue->alpha;
      call.activation = epilogue->activation;
      call.bias = epilogue->bias ? operands[*epilogue->bias] : nullptr;
      call.addend = epilogue->addend ? operands[*epilogue->addend] : nullptr;
    }
    launch.pointers = {product.begin};
    launch.reads.assign(operands_.begin(), operands_.end());
    launch.writes = {product};
  }

  void addGenerated(GeneratedKernels work, llvm::ArrayRef<Range> operands, llvm::ArrayRef<Range> results) {
    const Range workspace{{true, workspace_}, work.workspaceBytes};
    for (GeneratedLaunch& kernel : work.launches) {
      UnmergedLaunch& launch = add();
      for (const Argument& argument : kernel.arguments) {
        Place place;
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
        place.at += static_cast<uint64_t>(argument.offset);
        launch.pointers.push_back(place);
      }
      launch.kernel = std::move(kernel);
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  uint32_t index_;
  uint64_t workspace_;
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
                                    Libraries libraries) {
  UnmergedLaunches all;
  Workspace workspace(apart);
  for (uint32_t i = 0; i < computations.size(); ++i) {
    KernelSelection selection = selectKernels(graph, computations[i], libraries);
    const uint64_t at = selection.workspaceBytes > 0 ? workspace.take(selection.workspaceBytes) : 0;
    Splitter(graph, computations[i], i, at, all.launches).split(std::move(selection));
  }
  all.workspaceBytes = workspace.size();
  return all;
}

} // namespace dfc::cuda
