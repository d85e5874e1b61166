#include "ir/graph/rewriter.h"

namespace dfc {

Rewriter::Rewriter(const Graph& old) : old_(old), builder_(old), map_(old.valueCount()) {}

ValueId Rewriter::mapped(ValueId oldValue) const {
  DFC_ASSERT(map_[oldValue].valid(),
             "value '" + std::string(old_.nameOf(oldValue)) + "' is not in the new graph");
  return map_[oldValue];
}

OpId Rewriter::copy(OpId oldOp) {
  const OpRow& row = old_[oldOp];
  llvm::SmallVector<ValueId, 3> operands;
  for (const ValueId operand : row.operands) {
    operands.push_back(mapped(operand));
  }
  const OpId made = builder_.appendInterned(row.attributes, operands, old_.provenanceOf(oldOp));
  DFC_ASSERT(made.valid(), "a copied op is ill-typed: " + render(builder_.errors()));
  for (uint32_t i = 0; i < row.resultCount; ++i) {
    const ValueId oldValue(row.firstResult.index() + i);
    map_[oldValue] = builder_.result(made, i);
    if (i > 0) {
      builder_.rename(map_[oldValue], old_[oldValue].name);
    }
  }
  return made;
}

OpId Rewriter::append(OpAttributes attributes, llvm::ArrayRef<ValueId> newOperands, OpId like,
                      std::string_view name) {
  InternedProvenance provenance = old_.provenanceOf(like);
  if (!name.empty()) {
    provenance.name = builder_.intern(name);
  }
  const OpId made = builder_.appendInterned(std::move(attributes), newOperands, provenance);
  DFC_ASSERT(made.valid(), "a pass made an ill-typed op: " + render(builder_.errors()));
  return made;
}

void Rewriter::replace(ValueId oldValue, ValueId newValue) {
  DFC_ASSERT(old_.typeOf(oldValue) == builder_.soFar().typeOf(newValue),
             "replacement of '" + std::string(old_.nameOf(oldValue)) + "' has another type");
  map_[oldValue] = newValue;
}

Graph Rewriter::finish() && {
  for (const Fetch& fetch : old_.fetches()) {
    builder_.fetch(old_.text(fetch.name), mapped(fetch.value));
  }
  Result<Graph> graph = std::move(builder_).finish();
  DFC_ASSERT(graph.ok(), "a pass broke the graph: " + render(graph.errors()));
  return *std::move(graph);
}

} // namespace dfc
