#include "runtime/cuda/launches/single_launch.h"

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

/// Hands out the workspace; what is handed out after it has gone round is used again. Large pieces lie behind
/// that circle, all in one place.
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

/// The units of one computation.
class Splitter {
 public:
  Splitter(const Graph& graph, const Computation& computation, uint32_t index, uint64_t workspace,
           std::vector<Unit>& units)
      : graph_(graph), computation_(computation), index_(index), workspace_(workspace), units_(units) {
    const OpRow& row = graph[computation.op];
    for (size_t i = 0; i < computation.at.operands.size(); ++i) {
      operands_.push_back({Place::of(computation.at.operands[i]), graph.typeOf(row.operands[i]).bytes()});
    }
    size_t i = 0;
    for (const ValueId result : row.results()) {
      results_.push_back({Place::of(computation.at.results[i++]), graph.typeOf(result).bytes()});
    }
  }

  void split(Draft draft) {
    if (draft.convolution) {
      addConvolution(draft.workspaceBytes);
      return;
    }
    Range product = results_[0];
    if (draft.hasProduct()) {
      product.bytes = draft.productBytes;
      if (draft.productInWorkspace) {
        product.begin = {true, workspace_ + static_cast<uint64_t>(*draft.productInWorkspace)};
      }
    }
    if (draft.library) {
      addLibrary(draft, product);
    } else if (draft.product) {
      addGenerated(*std::move(draft.product), {operands_[0], operands_[1]}, {product});
    }
    if (draft.kernels) {
      llvm::SmallVector<Range, 4> operands = operands_;
      if (draft.hasProduct()) {
        operands.erase(operands.begin());
        operands[0] = product;
      }
      addGenerated(*std::move(draft.kernels), operands, results_);
    }
  }

 private:
  Unit& add() {
    Unit& unit = units_.emplace_back();
    unit.computation = index_;
    unit.segment = computation_.segment;
    return unit;
  }

  void addConvolution(int64_t workspaceBytes) {
    Unit& unit = add();
    unit.convolution = true;
    const Range workspace{{true, workspace_}, workspaceBytes};
    for (const Range& operand : operands_) {
      unit.pointers.push_back(operand.begin);
      unit.reads.push_back(operand);
    }
    unit.pointers.append({results_[0].begin, workspace.begin});
    unit.writes.append({results_[0], workspace});
  }

  void addLibrary(const Draft& draft, const Range& product) {
    Unit& unit = add();
    const auto& operands = computation_.at.operands;
    MatmulCall& call = unit.product.emplace(*draft.library);
    call.aData = operands[0], call.bData = operands[1];
    if (const auto& epilogue = draft.epilogue) {
      call.alpha = epilogue->alpha;
      call.ending = epilogue->ending;
      call.bias = epilogue->bias ? operands[*epilogue->bias] : nullptr;
      call.addend = epilogue->addend ? operands[*epilogue->addend] : nullptr;
    }
    unit.pointers = {product.begin};
    unit.reads.assign(operands_.begin(), operands_.end());
    unit.writes = {product};
  }

  void addGenerated(GeneratedWork work, llvm::ArrayRef<Range> operands, llvm::ArrayRef<Range> results) {
    const Range workspace{{true, workspace_}, work.workspaceBytes};
    for (GeneratedLaunch& launch : work.launches) {
      Unit& unit = add();
      for (const Argument& argument : launch.arguments) {
        Place place;
        switch (argument.from) {
        case Argument::From::Operand:
          place = operands[argument.index].begin;
          unit.reads.push_back(operands[argument.index]);
          unit.reads.back().stride = argument.stride;
          break;
        case Argument::From::Result:
          place = results[argument.index].begin;
          unit.writes.push_back(results[argument.index]);
          unit.writes.back().stride = argument.stride;
          break;
        case Argument::From::Workspace:
          place = workspace.begin;
          unit.writes.push_back(workspace);
          break;
        }
        place.at += static_cast<uint64_t>(argument.offset);
        unit.pointers.push_back(place);
      }
      unit.launch = std::move(launch);
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  uint32_t index_;
  uint64_t workspace_;
  std::vector<Unit>& units_;
  llvm::SmallVector<Range, 4> operands_, results_;
};

} // namespace

bool overlap(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others) {
  return llvm::any_of(some, [&](const Range& a) {
    return llvm::any_of(others, [&](const Range& b) { return haveBytesInCommon(a, b); });
  });
}

bool conflict(const Unit& a, const Unit& b) {
  return overlap(a.writes, b.writes) || overlap(a.writes, b.reads) || overlap(a.reads, b.writes);
}

bool elementByElement(const Unit& earlier, const Unit& later) {
  return !earlier.byLibrary() && !later.byLibrary() && later.launch.alone && later.launch.elements > 0 &&
         later.launch.elements == earlier.launch.elements &&
         alignedWhereOverlapping(earlier.writes, later.writes) &&
         alignedWhereOverlapping(earlier.writes, later.reads) &&
         alignedWhereOverlapping(earlier.reads, later.writes);
}

Units unitsOf(const Graph& graph, llvm::ArrayRef<Computation> computations, bool apart, Libraries libraries) {
  Units all;
  Workspace workspace(apart);
  for (uint32_t i = 0; i < computations.size(); ++i) {
    Draft draft = draftOf(graph, computations[i], libraries);
    const uint64_t at = draft.workspaceBytes > 0 ? workspace.take(draft.workspaceBytes) : 0;
    Splitter(graph, computations[i], i, at, all.units).split(std::move(draft));
  }
  all.workspaceBytes = workspace.size();
  return all;
}

} // namespace dfc::cuda
