// CommandOrder: the commands that a plan becomes at run time, which of them must end before which begin, and
// the orders in which they may then run, one after the other. A plan with a race has an order in which the
// race is lost; the extreme ones are where a command begins as early, or as late, as queues and waits allow.
#pragma once

#include "runtime/resolve.h"

namespace dfc::test {

/// A command by its place among all of a plan, program by program.
using CommandIndex = uint32_t;
using Sequence = std::vector<CommandIndex>;

class CommandOrder {
 public:
  struct Row {
    QueueId queue;
    uint64_t position = 0, perRound = 0;
    Command command;                  ///< its arenas stand for devices: see deviceOf
    std::vector<CommandIndex> before; ///< must have ended: the one before on its queue, and its waits
  };

  /// Any plan that `resolve` takes. Memory of cpus is taken to be in reach of the host, that of gpus not.
  explicit CommandOrder(const Executable& plan);
  CommandOrder(const CommandOrder&) = delete;
  CommandOrder& operator=(const CommandOrder&) = delete;
  ~CommandOrder();

  llvm::ArrayRef<Row> rows() const { return rows_; }
  DeviceId deviceOf(const Arena* arena) const;
  size_t fetchCount() const { return fetches_; }

  Sequence bySteps() const;          ///< in the order of step ids, as far as queues and waits allow
  Sequence early(StepId step) const; ///< nothing before the step that need not be
  Sequence late(StepId step) const;  ///< nothing after the step that need not be

 private:
  struct PaperArena;
  void addRows(const std::vector<Program>& programs, const ProgressBoard& board);
  std::vector<bool> ancestorsOf(CommandIndex command) const;
  std::vector<bool> descendantsOf(CommandIndex command) const;
  Sequence inStages(const std::vector<bool>& first) const;

  std::vector<std::unique_ptr<PaperArena>> arenas_; // by device
  std::vector<Row> rows_;
  std::vector<uint32_t> stepOf_; // of a row; the copy of a fetched value has that of the command before it
  SideTable<StepId, CommandIndex> rowOf_;
  size_t fetches_ = 0;
};

} // namespace dfc::test
