// SplitRule: how an op may be cut into parts that run apart, one on each device. A rule is a list of factors,
// as in Shardy's OpShardingRule and nnScaler's annotations: matmul is (i,k),(k,j)->(i,j), with k summed. A
// factor says where its positions lie along an axis of each operand and result, compound factors of reshape
// and windows with halos included, and how the parts' results become the whole's. An axis that no factor
// names is never cut.
#pragma once

#include "ir/graph/tensor_type.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <string>

namespace dfc {

/// How the parts' results are combined into the whole's.
enum class SplitKind : uint8_t {
  Free,    ///< concatenated
  Sum,     ///< a result with the axis is made of pieces; one without it is the sum of the parts' results
  Max,     ///< likewise the largest, element by element
  Min,     ///< likewise the smallest
  Product, ///< likewise the product
  Scan,   ///< pieces that lack the sum of all operands of earlier parts (of later ones: SplitFactor::reverse)
  Window, ///< pieces, of operands whose ranges overlap (halos)
};

/// Elements, or positions of a factor, from `begin` up to `end`.
struct SplitRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  friend bool operator==(const SplitRange&, const SplitRange&) = default;
};

/// Where the positions of a factor lie in one tensor.
struct SplitAxis {
  enum class Form : uint8_t {
    Whole,    ///< no axis: each part reads or makes the whole tensor
    Partial,  ///< of an operand: no axis, and the parts' operands add up to the whole's
    Forward,  ///< position p looks at the elements p * stride - low + i, i < span
    Backward, ///< element e looks at the positions e * stride - low + i, i < span
  };
  Form form = Form::Whole;
  size_t axis = 0;
  int64_t length = 1; ///< of the axis
  int64_t stride = 1, span = 1, low = 0;

  bool cut() const { return form == Form::Forward || form == Form::Backward; }
  /// The elements, of an axis that is cut, that positions look at, or that look at them.
  SplitRange elements(SplitRange positions) const;
  friend bool operator==(const SplitAxis&, const SplitAxis&) = default;
};

/// Position p is element p of an axis.
SplitAxis alongAxis(const TensorType& type, size_t axis);
/// Position p is `size` neighbouring elements: an axis of aligned groups.
SplitAxis groupsAlongAxis(const TensorType& type, size_t axis, int64_t size);
/// Position p is element p - first, where there is one: an operand of concat, a result of split.
SplitAxis pieceOfAxis(const TensorType& type, size_t axis, int64_t first);

struct SplitFactor {
  SplitKind kind = SplitKind::Free;
  int64_t extent = 0; ///< positions; parts are ranges of them, in order
  bool reverse = false;
  llvm::SmallVector<SplitAxis, 3> operands;
  llvm::SmallVector<SplitAxis, 2> results;
  /// All operands and results whole.
  SplitFactor(SplitKind kind, int64_t extent, size_t operandCount, size_t resultCount)
      : kind(kind), extent(extent), operands(operandCount), results(resultCount) {}
};

struct SplitRule {
  llvm::SmallVector<SplitFactor, 4> factors; ///< each of two positions or more
  /// Sets of operands in which the op is linear: if each of a set is a partial sum and the others are whole,
  /// the results are partial sums. (Floats round on the way, as everywhere.)
  llvm::SmallVector<llvm::SmallVector<uint32_t, 2>, 2> linearIn;

  /// Keeps a factor that can be cut.
  void add(SplitFactor factor) {
    if (factor.extent > 1) {
      factors.push_back(std::move(factor));
    }
  }
  SplitRule&& with(llvm::SmallVector<llvm::SmallVector<uint32_t, 2>, 2> linear) && {
    linearIn = std::move(linear);
    return std::move(*this);
  }
};

/// The type of a part of a tensor.
TensorType partType(const TensorType& whole, const SplitAxis& axis, SplitRange positions);

/// A part of a call: positions `range` of a factor.
struct SplitPart {
  const SplitFactor& factor;
  SplitRange range;
  llvm::ArrayRef<TensorType> operands, results; ///< types of the whole
  TensorType operandType(size_t i) const { return partType(operands[i], factor.operands[i], range); }
  TensorType resultType(size_t i) const { return partType(results[i], factor.results[i], range); }
};

/// "(ac,cb)->(ab) c:sum": a letter for each factor, in each tensor at its axis; "_" for an axis that is not
/// cut. A compound or strided axis has its stride before the letter, an operand that must be a partial sum is
/// "+".
std::string toString(const SplitRule& rule, llvm::ArrayRef<TensorType> operands,
                     llvm::ArrayRef<TensorType> results);

} // namespace dfc
