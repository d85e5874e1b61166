// fuse_batch_norm: a batch normalisation in training takes over the addition and the relu behind it, and its
// gradient the relu's gradient before it, so that the tensors between them never reach memory.
//
//   relu(batchNormTraining(a, …) + b)                        -> batchNormTraining(a, …, b, relu=true)
//   batchNormGradient(a, …, select(y > 0, g, 0))             -> batchNormGradient(a, …, g, y, relu=true)
//
// Either of the addition and the relu may be missing. What the select gives is the gradient to the addend,
// too: where it has other uses it becomes the op's fourth result. The ops join if nothing else uses the
// values between them, their types agree and they have the same pin. A backend rounds the result once, not
// after each op.
//
// The joined op stands where its first user or its last operand asks for it: ops are written in an order of
// their own, every op behind its operands.
#include "compiler/passes/constant_values.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// The ops that become one: `norm` and those that it takes over.
struct Joined {
  OpId norm;
  llvm::SmallVector<OpId, 2> taken;
  OpAttributes attributes;
  llvm::SmallVector<ValueId, 6> operands;
  llvm::SmallVector<ValueId, 4> results; ///< the old values that the results stand for; invalid: none
};

class Search {
 public:
  explicit Search(const Graph& graph)
      : graph_(graph), constants_(graph), uses_(graph.valueCount(), 0), joinedOf_(graph.opCount(), none) {
    for (const Fetch& fetch : graph.fetches()) {
      ++uses_[fetch.value];
    }
    for (const OpId op : graph.ops()) {
      for (const ValueId operand : graph[op].operands) {
        ++uses_[operand];
      }
    }
  }

  void run() {
    for (const OpId op : graph_.opsOf(OpKind::Relu)) {
      joinForward(op, graph_[op].operands[0], true);
    }
    for (const OpId op : graph_.opsOf(OpKind::Add)) {
      if (joinedOf_[op] == none) {
        joinSum(op, OpId());
      }
    }
    for (const OpId op : graph_.opsOf(OpKind::BatchNormGradient)) {
      joinBackward(op);
    }
  }

  bool empty() const { return all_.empty(); }
  const Joined* of(OpId op) const {
    return joinedOf_[op] == none ? nullptr : &all_[static_cast<size_t>(joinedOf_[op])];
  }

 private:
  static constexpr int32_t none = -1;

  void joinForward(OpId relu, ValueId operand, bool mayBeSum) {
    const OpId maker = graph_[operand].producer;
    if (isFreeNorm(operand, relu)) {
      add(maker, {relu}, ValueId(), graph_[relu].firstResult, true);
    } else if (mayBeSum && graph_[maker].kind() == OpKind::Add && uses_[operand] == 1 &&
               samePin(maker, relu)) {
      joinSum(maker, relu);
    }
  }

  // An addition, and the relu of it or an invalid id.
  void joinSum(OpId sum, OpId relu) {
    const OpRow& row = graph_[sum];
    for (size_t i = 0; i < 2; ++i) {
      const ValueId normal = row.operands[i], addend = row.operands[1 - i];
      if (isFreeNorm(normal, sum) && graph_.typeOf(addend) == graph_.typeOf(normal) &&
          !dependsOn(addend, graph_[normal].producer)) {
        llvm::SmallVector<OpId, 2> taken = {sum};
        if (relu.valid()) {
          taken.push_back(relu);
        }
        add(graph_[normal].producer, taken, addend, graph_[taken.back()].firstResult, relu.valid());
        return;
      }
    }
  }

  /// Whether `value` is the normalised result of a plain batch normalisation that only `reader` uses.
  bool isFreeNorm(ValueId value, OpId reader) const {
    const OpId maker = graph_[value].producer;
    const auto* norm = graph_[maker].getIf<ops::BatchNormTraining>();
    return norm != nullptr && !norm->relu && graph_[maker].operands.size() == 3 &&
           value == graph_[maker].firstResult && uses_[value] == 1 && joinedOf_[maker] == none &&
           samePin(maker, reader) && graph_.typeOf(graph_[reader].firstResult) == graph_.typeOf(value);
  }

  bool samePin(OpId a, OpId b) const { return graph_[a].pin == graph_[b].pin; }

  bool dependsOn(ValueId value, OpId op) const {
    const OpId maker = graph_[value].producer;
    if (maker.index() < op.index()) {
      return false;
    }
    std::vector<bool> depends(maker.index() - op.index() + 1, false);
    depends[0] = true;
    for (uint32_t i = op.index() + 1; i <= maker.index(); ++i) {
      depends[i - op.index()] = llvm::any_of(graph_[OpId(i)].operands, [&](ValueId operand) {
        const uint32_t from = graph_[operand].producer.index();
        return from >= op.index() && depends[from - op.index()];
      });
    }
    return depends.back();
  }

  void add(OpId norm, llvm::ArrayRef<OpId> taken, ValueId addend, ValueId result, bool relu) {
    const OpRow& row = graph_[norm];
    auto op = row.as<ops::BatchNormTraining>();
    op.relu = relu;
    Joined joined{norm, {taken.begin(), taken.end()}, op, {row.operands.begin(), row.operands.end()}, {}};
    if (addend.valid()) {
      joined.operands.push_back(addend);
    }
    for (const ValueId old : row.results()) {
      joined.results.push_back(old == row.firstResult ? result : old);
    }
    keep(std::move(joined));
  }

  void joinBackward(OpId gradient) {
    const OpRow& row = graph_[gradient];
    auto op = row.as<ops::BatchNormGradient>();
    const ValueId cotangent = row.operands[4];
    const OpId maker = graph_[cotangent].producer;
    const auto gate = op.relu || op.addend ? std::nullopt : gateOf(maker, graph_.typeOf(cotangent));
    const bool inOrder = gate && llvm::all_of(row.operands, [&](ValueId operand) {
                           return operand == cotangent || graph_[operand].producer.index() < maker.index();
                         });
    if (!inOrder || joinedOf_[maker] != none || !samePin(maker, gradient)) {
      return;
    }
    op.relu = true;
    op.addend = uses_[cotangent] > 1;
    Joined joined{gradient, {maker}, op, {row.operands.begin(), row.operands.end()}, {}};
    joined.operands[4] = graph_[maker].operands[1];
    joined.operands.push_back(*gate);
    llvm::append_range(joined.results, row.results());
    if (op.addend) {
      joined.results.push_back(cotangent);
    }
    keep(std::move(joined));
  }

  // y of select(y > 0, g, 0), all of one type.
  std::optional<ValueId> gateOf(OpId select, const TensorType& type) {
    const OpRow& row = graph_[select];
    if (row.kind() != OpKind::Select || graph_.typeOf(row.operands[1]) != type || !isZero(row.operands[2])) {
      return std::nullopt;
    }
    const OpRow& condition = graph_[graph_[row.operands[0]].producer];
    const auto* compare = condition.getIf<ops::Compare>();
    if (compare == nullptr || compare->direction != Direction::Gt || !isZero(condition.operands[1]) ||
        graph_.typeOf(condition.operands[0]) != type) {
      return std::nullopt;
    }
    return condition.operands[0];
  }
  bool isZero(ValueId value) {
    const auto number = constants_.number(value);
    return number && *number == 0;
  }

  void keep(Joined joined) {
    const auto index = static_cast<int32_t>(all_.size());
    joinedOf_[joined.norm] = index;
    for (const OpId op : joined.taken) {
      joinedOf_[op] = index;
    }
    all_.push_back(std::move(joined));
  }

  const Graph& graph_;
  ConstantValues constants_;
  SideTable<ValueId, uint32_t> uses_;
  SideTable<OpId, int32_t> joinedOf_;
  std::vector<Joined> all_;
};

class Writing {
 public:
  Writing(const Graph& graph, const Search& found) : graph_(graph), found_(found), rewriter_(graph) {}

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      write(op);
    }
    return std::move(rewriter_).finish();
  }

 private:
  // Behind the ops that it needs: depth first, with a stack of its own.
  void write(OpId wanted) {
    llvm::SmallVector<OpId, 16> stack = {wanted};
    while (!stack.empty()) {
      const OpId op = stack.back();
      if (isWritten(op)) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (const ValueId operand : operandsOf(op)) {
        if (!isWritten(graph_[operand].producer)) {
          stack.push_back(graph_[operand].producer);
        }
      }
      if (stack.size() == before) {
        append(op);
        stack.pop_back();
      }
    }
  }

  llvm::ArrayRef<ValueId> operandsOf(OpId op) const {
    const Joined* joined = found_.of(op);
    return joined != nullptr ? llvm::ArrayRef<ValueId>(joined->operands)
                             : llvm::ArrayRef<ValueId>(graph_[op].operands);
  }
  bool isWritten(OpId op) const {
    const Joined* joined = found_.of(op);
    return written_.count(joined != nullptr ? joined->norm : op) != 0;
  }

  void append(OpId op) {
    const Joined* joined = found_.of(op);
    if (joined == nullptr) {
      rewriter_.copy(op);
      written_.insert(op);
      return;
    }
    written_.insert(joined->norm);
    llvm::SmallVector<ValueId, 6> operands;
    for (const ValueId operand : joined->operands) {
      operands.push_back(rewriter_.mapped(operand));
    }
    const OpId made =
        rewriter_.append(joined->attributes, operands, joined->norm, graph_.nameOf(joined->results[0]));
    for (uint32_t i = 0; i < joined->results.size(); ++i) {
      const ValueId now = rewriter_.builder().result(made, i);
      rewriter_.builder().rename(now, graph_.nameOf(joined->results[i]));
      rewriter_.replace(joined->results[i], now);
    }
  }

  const Graph& graph_;
  const Search& found_;
  Rewriter rewriter_;
  llvm::DenseSet<OpId> written_;
};

} // namespace

Result<Graph> fuseBatchNorm(const Graph& graph, const PassOptions& /*options*/) {
  if (graph.opsOf(OpKind::BatchNormTraining).empty() && graph.opsOf(OpKind::BatchNormGradient).empty()) {
    return graph;
  }
  Search search(graph);
  search.run();
  return search.empty() ? graph : Writing(graph, search).run();
}

} // namespace dfc
