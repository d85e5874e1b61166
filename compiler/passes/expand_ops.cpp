#include "compiler/passes/expand_ops.h"

namespace dfc {

Result<Graph> OpExpansion::run(Chosen chosen, Expand expand) && {
  const auto all = graph_.ops();
  return std::move(*this).run(std::vector<OpId>(all.begin(), all.end()), chosen, expand);
}

Result<Graph> OpExpansion::run(llvm::ArrayRef<OpId> order, Chosen chosen, Expand expand) && {
  for (const OpId op : graph_.ops()) {
    if (isNamedByCallers(op)) {
      rewriter_.copy(op);
    }
  }
  for (const OpId op : order) {
    if (!isNamedByCallers(op) && operandsExist(op)) {
      chosen(op) ? expandOp(op, expand) : static_cast<void>(rewriter_.copy(op));
    }
  }
  if (!rewriter_.builder().errors().empty()) {
    return rewriter_.builder().errors();
  }
  const Diagnostics warnings = rewriter_.builder().warnings();
  return Result<Graph>(std::move(rewriter_).finish()).withWarnings(warnings);
}

bool OpExpansion::isNamedByCallers(OpId op) const {
  return graph_[op].kind() == OpKind::Input || graph_[op].kind() == OpKind::Parameter;
}

// False behind an op that failed, which has been reported, and behind one that was dropped.
bool OpExpansion::operandsExist(OpId op) const {
  return llvm::all_of(graph_[op].operands, [&](ValueId operand) { return rewriter_.isMapped(operand); });
}

void OpExpansion::expandOp(OpId op, Expand expand) {
  const OpRow& row = graph_[op];
  const Builder::Guard place = builder_.at(graph_.locationOf(op));
  const auto firstNew = static_cast<uint32_t>(rewriter_.builder().soFar().valueCount());
  std::vector<Tensor> operands;
  for (const ValueId operand : row.operands) {
    operands.emplace_back(&builder_, rewriter_.mapped(operand));
  }
  const size_t errorsBefore = rewriter_.builder().errors().size();
  const std::vector<Tensor> results = expand(op, operands);
  if (rewriter_.builder().errors().size() != errorsBefore) {
    return;
  }
  if (results.empty()) {
    return;
  }
  size_t next = 0;
  for (const ValueId result : row.results()) {
    const ValueId made = results[next++].value();
    rewriter_.replace(result, made);
    handName(op, result, made, firstNew);
  }
}

void OpExpansion::replace(ValueId old, Tensor made, uint32_t firstNew) {
  const OpId op = graph_[old].producer;
  GraphBuilder& builder = rewriter_.builder();
  rewriter_.replace(old, made.value());
  handName(op, old, made.value(), firstNew);
  const OpId maker = builder.soFar()[made.value()].producer;
  if (made.value().index() >= firstNew && !graph_.pinOf(op).empty()) {
    builder.repin(maker, graph_.pinOf(op));
  }
}

void OpExpansion::handName(OpId op, ValueId from, ValueId to, uint32_t firstNew) {
  const std::string_view name = graph_.nameOf(from);
  const bool isDefault = name.starts_with(nameOf(graph_[op].kind()));
  if (!isDefault && to.index() >= firstNew && named_.insert(to).second) {
    rewriter_.builder().rename(to, name);
  }
}

} // namespace dfc
