// FiniteCheck: looks at what each command of a queue computes, and stops the step at the first that is not
// finite. For SessionOptions::checkFinite. Copies and transfers are not looked at: they only pass values on.
//
// Assumes that it is called on the queue's own thread, before and after each command, so that no queue writes
// the bytes that it reads: other queues wait for the command's end before they reuse them.
#pragma once

#include "runtime/backend.h"
#include "runtime/finite/finite.h"

namespace dfc {

class FiniteCheck {
 public:
  /// `plan` and the arenas of the commands outlive it.
  FiniteCheck(const Executable& plan, llvm::ArrayRef<Command> commands);

  /// Keeps the ranges of operands that the command may overwrite with its result, and all of those of a fused
  /// op.
  void before(size_t command, const Step& step);
  /// Throws NotFiniteError where a result has an element that is NaN, or infinite where the graph does not
  /// ask for infinities: by a constant that holds some, as masks of scores do, or by attention's logSumExp of
  /// a query that sees no key. It names the op, or the input, parameter or constant that the op reads such
  /// elements from. The hint says where in a fused op they begin.
  void after(size_t command, const Step& step);

 private:
  struct Row {
    OpId op; ///< invalid: nothing to look at
    llvm::SmallVector<Location, 3> operands;
    llvm::SmallVector<Location, 1> results;
    llvm::SmallVector<std::optional<ElementRange>, 3> overwritten; ///< by operand, of the step under way
    llvm::SmallVector<Literal, 3> kept;                            ///< likewise, of a fused op
  };
  std::span<const std::byte> bytesOf(const Location& location, const Step& step);
  ElementRange operandRange(const Row& row, size_t operand, const Step& step);
  void refuseSource(const Row& row, const ElementRange& result, const Step& step);
  [[noreturn]] void refuse(const Row& row, ValueId result, const ElementRange& range, const Step& step);
  std::string operandsText(const Row& row, const Step& step);
  std::string operandText(const Row& row, size_t operand, const Step& step);
  std::string partText(const Row& row, bool infinitiesPass, const Step& step);

  const Executable& plan_;
  std::vector<Row> rows_;        // by command
  std::vector<std::byte> bytes_; // what lies in memory that the host cannot address
};

} // namespace dfc
