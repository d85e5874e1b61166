// Split rules that families of ops share.
#pragma once

#include "ir/graph/rules/split_rule.h"

namespace dfc {

/// Operands broadcast to one shape, which the results have: every axis free, (a b, b)->(a b).
SplitRule elementwiseSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results);
/// Of an op without operands: every axis of the result is free.
SplitRule sourceSplit(const TensorType& result);
/// Each of `axes` of operand 0 as the same axis of all results; other operands whole.
SplitRule sameAxesSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                        llvm::ArrayRef<size_t> axes);
/// The same of all axes but `axis`, counted from the end if negative.
SplitRule otherAxesSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                         int64_t axis);
/// Of a reduction over `axes` (counted from the front) of operand 0: the other axes are free; the reduced
/// axes have `kind`, or are not cut where `kind` is Free.
SplitRule reductionSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                         llvm::ArrayRef<int64_t> axes, bool keepDims, SplitKind kind);

/// The axis of `operand` that broadcasting aligns with `axis` of `shape`: whole where it is missing or 1.
SplitAxis broadcastAxis(const TensorType& operand, const Shape& shape, size_t axis);

} // namespace dfc
