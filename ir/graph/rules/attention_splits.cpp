#include "ir/graph/rules/attention_splits.h"

#include "ir/graph/rules/attention_shape.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

enum class AttentionTensor : uint8_t { Queries, Keys, Mask }; // heads and rows of queries; of keys; of scores

class AttentionFactors {
 public:
  // Operands and results in order; the last of four or seven operands is the mask.
  AttentionFactors(const ops::Attention& op, OperandTypes operands, OperandTypes results, bool gradient)
      : op_(op), shape_(knownAttentionShape(op, operands)), scores_(shape_.scores()), operands_(operands),
        results_(results) {
    using enum AttentionTensor;
    of_ = {Queries, Keys, Keys};
    if (gradient) {
      of_.append({Queries, Queries, Queries});
    }
    of_.resize(operands.size(), Mask);
    made_ = gradient ? llvm::SmallVector<AttentionTensor, 3>{Queries, Keys, Keys}
                     : llvm::SmallVector<AttentionTensor, 3>{Queries, Queries};
    made_.resize(results.size());
  }

  SplitRule rule() {
    for (size_t axis = 0; axis < shape_.batch.rank(); ++axis) {
      add(
          shape_.batch[axis], true, true,
          [&](AttentionTensor, const TensorType& type) { return alongAxis(type, axis); }, axis, 1);
    }
    if (op_.layout != AttentionLayout::Packed) {
      heads();
      rows();
    }
    return std::move(rule_);
  }

 private:
  size_t headAxis() const { return shape_.batch.rank() + (op_.layout == AttentionLayout::Heads ? 0 : 1); }
  size_t rowAxis() const {
    return shape_.batch.rank() + (shape_.headAxis && op_.layout == AttentionLayout::Heads ? 1 : 0);
  }

  void heads() {
    if (!shape_.headAxis || shape_.keyHeads == 0) {
      return;
    }
    const bool shared = shape_.keyHeads == 1; // all heads share one of keys, which each part reads
    const int64_t group = shared ? 1 : shape_.group();
    add(
        shared ? shape_.heads : shape_.keyHeads, true, !shared,
        [&](AttentionTensor tensor, const TensorType& type) {
          return groupsAlongAxis(type, headAxis(), tensor == AttentionTensor::Keys ? 1 : group);
        },
        shape_.batch.rank(), group);
  }

  void rows() {
    const auto along = [&](AttentionTensor, const TensorType& type) { return alongAxis(type, rowAxis()); };
    add(shape_.queries, true, false, along, scores_.rank() - 2, 1);
  }

  // Adds a factor that cuts the query tensors, the key tensors or both. A mask is cut along axis `ofScores`
  // of the scores, in groups of `group` heads.
  void add(int64_t extent, bool queries, bool keys,
           llvm::function_ref<SplitAxis(AttentionTensor, const TensorType&)> along, size_t ofScores,
           int64_t group) {
    const bool all = (queries || !has(AttentionTensor::Queries)) && (keys || !has(AttentionTensor::Keys));
    SplitFactor factor(all ? SplitKind::Free : SplitKind::Sum, extent, operands_.size(), results_.size());
    const auto place = [&](AttentionTensor tensor, const TensorType& type) {
      if (tensor != AttentionTensor::Mask) {
        return (tensor == AttentionTensor::Queries ? queries : keys) ? along(tensor, type) : SplitAxis{};
      }
      SplitAxis at = broadcastAxis(type, scores_, ofScores);
      return at.cut() ? groupsAlongAxis(type, at.axis, group) : at;
    };
    for (size_t i = 0; i < operands_.size(); ++i) {
      factor.operands[i] = place(of_[i], operands_[i]);
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      factor.results[i] = place(made_[i], results_[i]);
    }
    rule_.add(std::move(factor));
  }
  bool has(AttentionTensor tensor) const { return llvm::is_contained(made_, tensor); }

  const ops::Attention& op_;
  AttentionShape shape_;
  Shape scores_;
  OperandTypes operands_, results_;
  llvm::SmallVector<AttentionTensor, 7> of_;
  llvm::SmallVector<AttentionTensor, 3> made_;
  SplitRule rule_;
};

} // namespace

bool attentionQueriesCut(const ops::Attention& op, const SplitPart& part) {
  const SplitAxis& q = part.factor.operands[0];
  const bool headsFirst = op.layout == AttentionLayout::Heads;
  const size_t rank = part.operands[0].shape.rank();
  return op.layout != AttentionLayout::Packed && q.cut() && q.axis + (headsFirst ? 2 : 3) == rank;
}

SplitRule attentionSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results) {
  return AttentionFactors(op, operands, results, false).rule();
}

SplitRule attentionGradientSplit(const ops::Attention& op, OperandTypes operands, OperandTypes results) {
  return AttentionFactors(op, operands, results, true).rule().with({{3, 5}});
}

} // namespace dfc
