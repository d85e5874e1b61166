// CpuKernel: an op prepared for its types, run on plain pointers. The cpu and the emulated backend share
// them, so both give the same bits. A kernel's result depends on its operands and types only: never on thread
// counts, on what ran before, or on where the buffers lie.
#pragma once

#include "ir/op.h"

#include <cstddef>
#include <memory>

namespace dfc {

class CpuKernel {
 public:
  virtual ~CpuKernel() = default;
  /// Buffers are row-major and aligned to 64 bytes. A result may be the very buffer of an operand where
  /// `mayRunInPlace` says so; otherwise they do not overlap. Not re-entrant: one caller at a time.
  virtual void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) = 0;
};

/// The kernel of an op for these types. `threads`: how many it may use. Every op of the table that works has
/// one; resident ops, views, transfers and requests do not (null).
std::unique_ptr<CpuKernel> makeCpuKernel(const OpAttributes& attributes, OperandTypes operands,
                                         OperandTypes results, uint32_t threads);
bool hasCpuKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results);

} // namespace dfc
