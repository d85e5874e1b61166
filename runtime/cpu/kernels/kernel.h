// CpuKernel: an op prepared for its types, run on plain pointers. The cpu and the emulated backend share the
// kernels, so both give the same bits. A kernel's result depends on its operands, its types and which
// operands are constants of the plan, never on the number of threads, on earlier runs or on the addresses of
// buffers.
#pragma once

#include "ir/graph/op.h"
#include "runtime/cpu/thread_pool.h"

#include <cstddef>
#include <memory>
#include <optional>

namespace dfc {

/// What a kernel is told of an operand.
enum class Held : uint8_t {
  No,       ///< other bytes in each run
  Constant, ///< a constant of the plan, but the kernel is not told when the caller changes it between runs
  Yes       ///< the same bytes in each run until `heldChanged`
};

class CpuKernel {
 public:
  virtual ~CpuKernel() = default;
  /// Buffers are row-major and aligned to 64 bytes. A result may be the very buffer of an operand where
  /// `mayOverwrite` (ir/verify/overwrite.h) says so; otherwise they do not overlap. Not re-entrant: one
  /// caller at a time.
  virtual void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) = 0;
  /// Told at most once, before the first run. A kernel may keep what it makes of operands that are held, such
  /// as a filter in the layout of a library; whether it does. Of operands that are constants (`Constant` and
  /// `Yes` alike) it may choose another way to compute. The bits of its results are the same for both.
  virtual bool hold(llvm::ArrayRef<Held> /*operands*/) { return false; }
  /// Held operands may hold other bytes from the next run on. Only of a kernel that keeps something.
  virtual void heldChanged() {}
};

/// The buffers of a kernel that other devices write before it or read after it: a hint, on which no bit of a
/// result depends.
struct SharedBuffers {
  llvm::SmallVector<bool, 4> operands; ///< by operand; empty for none
  bool result = false;
  /// Whether the result leaves through the last-level cache, and not by non-temporal stores (cache_hints.h);
  /// unless given, where the processor can.
  std::optional<bool> byLastCache = std::nullopt;
};

/// The kernel of an op for these types; `pool` (of the device) must outlive it. Every op of the table that
/// computes has one; source ops, transfers, custom ops and requests do not (null). Views and assigns have one
/// that copies, for a plan that gives the result an offset of its own. Throws MachineError when a library
/// that the kernel needs cannot be loaded.
std::unique_ptr<CpuKernel> makeCpuKernel(const OpAttributes& attributes, OperandTypes operands,
                                         OperandTypes results, ThreadPool& pool,
                                         const SharedBuffers& shared = {});
/// Whether makeCpuKernel gives one; loads nothing.
bool hasCpuKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results);

} // namespace dfc
