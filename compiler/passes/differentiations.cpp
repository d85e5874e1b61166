#include "compiler/passes/differentiations.h"
#include "ir/author/gradients.h"

namespace dfc {

Differentiations::Differentiations(const Graph& graph) : graph_(graph), recordOf_(graph.opCount(), none) {
  const auto& records = graph.gradientRecords();
  for (uint32_t i = 0; i < records.size(); ++i) {
    for (uint32_t op = records[i].first.index(); op < records[i].end.index(); ++op) {
      recordOf_[OpId(op)] = static_cast<int32_t>(i);
    }
  }
  // A record that stays keeps every record whose intermediate values it uses. Uses follow definitions, so
  // one walk from the last op to the first is enough.
  usedInside_.resize(records.size());
  for (const Fetch& fetch : graph.fetches()) {
    keepWhatItReads(fetch.value, OpId());
  }
  for (auto index = static_cast<uint32_t>(graph.opCount()); index-- > 0;) {
    if (!isWrittenAnew(OpId(index))) {
      keepWhatItReads(graph[OpId(index)].operands, OpId(index));
    }
  }
}

const GradientRecord* Differentiations::beginningAt(OpId op) const {
  if (!isWrittenAnew(op)) {
    return nullptr;
  }
  const GradientRecord& record = graph_.gradientRecords()[static_cast<size_t>(recordOf_[op])];
  return record.first == op ? &record : nullptr;
}

const InnerUse* Differentiations::innerUseAt(OpId op) const {
  return isOfCall(op) && !isWrittenAnew(op) ? &usedInside_[static_cast<size_t>(recordOf_[op])] : nullptr;
}

void Differentiations::keepWhatItReads(llvm::ArrayRef<ValueId> values, OpId reader) {
  const int32_t own = reader.valid() ? recordOf_[reader] : none;
  for (const ValueId value : values) {
    const OpId maker = graph_[value].producer;
    if (recordOf_[maker] != own && isWrittenAnew(maker)) {
      const auto record = static_cast<size_t>(recordOf_[maker]);
      if (!llvm::is_contained(graph_.gradientRecords()[record].results, value)) {
        usedInside_[record] = {value, reader};
      }
    }
  }
}

void differentiateAnew(const GradientRecord& record, OpExpansion& expansion, TakeGradients take) {
  const auto firstNew = static_cast<uint32_t>(expansion.builder().graph().soFar().valueCount());
  std::vector<Tensor> wrt;
  for (const ValueId x : record.wrt) {
    wrt.push_back(expansion.tensor(x));
  }
  const std::vector<Tensor> results = take(expansion.tensor(record.loss), wrt);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!expansion.isMade(record.results[i])) {
      expansion.replace(record.results[i], results[i], firstNew);
    }
  }
}

void differentiateAnew(const GradientRecord& record, OpExpansion& expansion) {
  differentiateAnew(record, expansion,
                    [](Tensor loss, const std::vector<Tensor>& wrt) { return gradients(loss, wrt); });
}

} // namespace dfc
