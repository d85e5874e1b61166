// gradients: puts ordinary ops in the place of every `gradients` op, by the rules of ir/author/gradients.h.
//
// The new ops have the scopes and pins that `dfc::gradients` gives them. A request's results hand their names
// on, unless they are the default ones, which say less than "<x>.gradient" does. Inputs and parameters are
// copied first, so that no new op can take a name by which a caller feeds or restores a value. Mistakes
// (an op without a gradient on the way) are located at the request; all requests are looked at before the
// pass gives up.
#include "ir/author/gradients.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

class Expansion {
 public:
  explicit Expansion(const Graph& graph) : graph_(graph), rewriter_(graph), builder_(rewriter_.builder()) {}

  Result<Graph> run() && {
    for (const OpId op : graph_.ops()) {
      if (isNamedByCallers(op)) {
        rewriter_.copy(op);
      }
    }
    for (const OpId op : graph_.ops()) {
      if (!isNamedByCallers(op) && operandsExist(op)) {
        graph_[op].kind() == OpKind::Gradients ? expand(op) : static_cast<void>(rewriter_.copy(op));
      }
    }
    if (!rewriter_.builder().errors().empty()) {
      return rewriter_.builder().errors();
    }
    const Diagnostics warnings = rewriter_.builder().warnings();
    return Result<Graph>(std::move(rewriter_).finish()).withWarnings(warnings);
  }

 private:
  bool isNamedByCallers(OpId op) const {
    return graph_[op].kind() == OpKind::Input || graph_[op].kind() == OpKind::Parameter;
  }
  // False behind a request that failed, which has been reported.
  bool operandsExist(OpId op) const {
    return llvm::all_of(graph_[op].operands, [&](ValueId operand) { return rewriter_.isMapped(operand); });
  }
  Tensor tensor(ValueId old) { return {&builder_, rewriter_.mapped(old)}; }

  void expand(OpId request) {
    const OpRow& row = graph_[request];
    const Builder::Guard place = builder_.at(graph_.locationOf(request));
    const auto firstNew = static_cast<uint32_t>(rewriter_.builder().soFar().valueCount());
    std::vector<Tensor> wrt;
    for (const ValueId x : llvm::drop_begin(row.operands)) {
      wrt.push_back(tensor(x));
    }
    const size_t errorsBefore = rewriter_.builder().errors().size();
    const std::vector<Tensor> derivatives = gradients(tensor(row.operands.front()), wrt);
    if (rewriter_.builder().errors().size() == errorsBefore) {
      replaceResults(row, derivatives, firstNew);
    }
  }

  void replaceResults(const OpRow& request, const std::vector<Tensor>& derivatives, uint32_t firstNew) {
    size_t next = 0;
    for (const ValueId result : request.results()) {
      const ValueId derivative = derivatives[next++].value();
      rewriter_.replace(result, derivative);
      handName(result, derivative, firstNew);
    }
  }

  void handName(ValueId from, ValueId to, uint32_t firstNew) {
    const std::string_view name = graph_.nameOf(from);
    const bool isDefault = name.starts_with(nameOf(OpKind::Gradients));
    if (!isDefault && to.index() >= firstNew && named_.insert(to).second) {
      rewriter_.builder().rename(to, name);
    }
  }

  const Graph& graph_;
  Rewriter rewriter_;
  Builder builder_;
  llvm::DenseSet<ValueId> named_; // by an earlier result of a request
};

} // namespace

Result<Graph> expandGradients(const Graph& graph, const PassOptions& /*options*/) {
  const bool asked = !graph.opsOf(OpKind::Gradients).empty();
  return asked ? Expansion(graph).run() : Result<Graph>(graph);
}

} // namespace dfc
