// One walk over the ops: each value takes over the marks of what it is made from.
#include "compiler/passes/unscaled_gradients.h"
#include "ir/author/gradient_rule.h"
#include "ir/graph/rules/precision.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// As set_precision settles it.
bool isF16Product(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  switch (row.kind()) {
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::Conv2d:
  case OpKind::FusedConv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::Attention:
  case OpKind::AttentionGradient: break;
  default: return false;
  }
  const ElementType element = graph.typeOf(row.operands[0]).element;
  const Precision stated = precisionOf(row.attributes);
  const bool isNarrowed = row.kind() != OpKind::FusedMatmul && row.kind() != OpKind::FusedConv2d &&
                          (stated == Precision::Unstated || stated == Precision::F16);
  return element == ElementType::F16 || (element == ElementType::F32 && isNarrowed);
}

// The other kinds of gradients are layers, too: a transposed convolution is a conv2dInputGradient.
bool isGradientAlone(OpKind kind) {
  switch (kind) {
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNormGradient:
  case OpKind::AttentionGradient:
  case OpKind::Conv2dFilterGradient: return true;
  default: return false;
  }
}

} // namespace

UnscaledGradients::UnscaledGradients(const Graph& graph, const Differentiations& written,
                                     const GradientUpdates& updates)
    : graph_(graph), written_(written), marks_(graph.valueCount(), 0) {
  for (const OpId op : graph.ops()) {
    mark(op);
    const ValueId first = graph[op].firstResult;
    const bool isNeeded =
        llvm::any_of(graph[op].results(), [&](ValueId result) { return updates.isNeeded(result); });
    if (isNeeded && written.innerUseAt(op) != nullptr) {
      kept_ = kept_.valid() ? kept_ : op;
      keptInF16_ = keptInF16_.valid() || (marks_[first] & OfF16) == 0 ? keptInF16_ : op;
    }
  }
}

void UnscaledGradients::mark(OpId op) {
  int marks = (isF16Product(graph_, op) ? int{OfF16} : 0) | (isSpelledOut(op) ? int{OfGradient} : 0);
  for (const ValueId operand : graph_[op].operands) {
    marks |= marks_[operand];
  }
  for (const ValueId result : graph_[op].results()) {
    marks_[result] = static_cast<uint8_t>(marks);
  }
}

bool UnscaledGradients::isSpelledOut(OpId op) const {
  return !written_.isOfCall(op) &&
         (isGradientAlone(graph_[op].kind()) || hasNameOfGradient(op) || isInScopeOfGradient(op));
}

// "<x>.gradient", as `gradients` calls that of x.
bool UnscaledGradients::hasNameOfGradient(OpId op) const {
  constexpr std::string_view suffix = ".gradient";
  return llvm::any_of(graph_[op].results(), [&](ValueId result) {
    const std::string_view name = graph_.nameOf(result);
    return name.ends_with(suffix) && graph_.findValue(name.substr(0, name.size() - suffix.size())).valid();
  });
}

// The op's scope is that of the gradients of an op whose result it reads. A scope " backward" alone may be
// the other direction of a recurrent net.
bool UnscaledGradients::isInScopeOfGradient(OpId op) const {
  const std::string_view scope = graph_.scopeOf(op);
  return (scope.ends_with(" gradient") || scope.find(" backward") != std::string_view::npos) &&
         llvm::any_of(graph_[op].operands, [&](ValueId operand) {
           return gradientScope(graph_.scopeOf(graph_[operand].producer)) == scope;
         });
}

Diagnostics UnscaledGradients::warnOfKeptCall() const {
  if (!keptInF16_.valid()) {
    return {};
  }
  const InnerUse use = *written_.innerUseAt(keptInF16_);
  const OpId maker = graph_[use.value].producer;
  const std::string by = use.reader.valid() ? fmt::format("'{}' reads it", graph_.nameOf(use.reader))
                                            : std::string("it is fetched");
  return {
      inScope({Severity::Warning, graph_.locationOf(use.reader.valid() ? use.reader : maker),
               fmt::format("in f16 no loss of this step is scaled: '{}' is inside a call of gradients that "
                           "trains, and {}, so that the call cannot be taken of a scaled loss",
                           graph_.nameOf(use.value), by),
               "use nothing but the call's results, or scale the loss yourself (LossScaling)"},
              graph_.scopeOf(use.reader.valid() ? use.reader : maker))};
}

Diagnostics UnscaledGradients::warnOfSpelledOut() const {
  std::vector<OpId> assigns;
  llvm::copy_if(graph_.opsOf(OpKind::Assign), std::back_inserter(assigns),
                [&](OpId assign) { return marks_[graph_[assign].operands[1]] == (OfF16 | OfGradient); });
  if (assigns.empty()) {
    return {};
  }
  const size_t others = assigns.size() - 1;
  const std::string also = others == 0 ? " is" : fmt::format(" and {} more are", others);
  return {{Severity::Warning, graph_.locationOf(assigns.front()),
           fmt::format("parameter '{}'{} updated by f16 gradients of a loss that is not scaled: the graph "
                       "spells its gradients out, and those below 6e-8 become 0",
                       graph_.nameOf(graph_[assigns.front()].operands[0]), also),
           "scale the loss where the graph is written (LossScaling), request the gradients in the file "
           "(gradients(loss, ...)), or take bf16; without the pass scale_losses nothing is said"}};
}

} // namespace dfc
