// Translates steps to commands: positions, values of progress words, addresses.
#include "runtime/cuda/stream/peer_programs.h"
#include "ir/plan/executable_parts.h"

namespace dfc::cuda {
namespace {

class Rewriter {
 public:
  Rewriter(const Executable& plan, std::vector<Program> programs, const ProgressBoard& board)
      : schedule_(plan.schedule()), lowered_(plan.launches().peers), programs_(std::move(programs)),
        board_(board), command_(schedule_.steps.size()), ends_(schedule_.steps.size()) {
    for (Program& program : programs_) {
      for (size_t i = 0; i < program.commands.size(); ++i) {
        note(program, i);
      }
    }
  }

  std::vector<Program> run() {
    const size_t steps = schedule_.steps.size();
    const auto before = awaitedSteps(
        steps, [&](StepId step) -> llvm::ArrayRef<StepId> { return schedule_.steps[step].waits; });
    const auto now =
        awaitedSteps(steps, [&](StepId step) -> llvm::ArrayRef<StepId> { return lowered_.waits[step]; });
    for (const StepId step : command_.ids()) {
      if (Command* command = command_[step]; command != nullptr) {
        const bool last = ends_[step].offset == ends_[step].perStep;
        command->publishes = now[step] || last || (command->publishes && !before[step]);
        setWaits(*command, lowered_.waits[step]);
      }
    }
    for (const PeerRead& read : lowered_.reads) {
      readAtSource(read);
    }
    return std::move(programs_);
  }

 private:
  // Each step's command, and the wait for its end. For a step of another program this is a wait that a
  // command of this program already has.
  void note(Program& program, size_t position) {
    Command& command = program.commands[position];
    if (!command.step.valid()) {
      return;
    }
    command_[command.step] = &command;
    ends_[command.step] = {&board_[program.queue.index()], program.commands.size(), position + 1};
    const auto& waits = schedule_.steps[command.step].waits;
    for (size_t i = 0; i < waits.size(); ++i) {
      DFC_ASSERT(command.waits[i].offset > 0, "a step's waits come before those for earlier steps");
      ends_[waits[i]] = command.waits[i];
    }
  }

  // Waits for earlier executions of the plan stay.
  void setWaits(Command& command, llvm::ArrayRef<StepId> steps) const {
    llvm::erase_if(command.waits, [](const WaitFor& wait) { return wait.offset > 0; });
    for (const StepId step : steps) {
      DFC_ASSERT(ends_[step].word != nullptr, "a wait for a queue that the plan's own waits name");
      command.waits.push_back(ends_[step]);
    }
  }

  void readAtSource(const PeerRead& read) {
    Command *transfer = command_[read.transfer], *reader = command_[read.reader];
    DFC_ASSERT(transfer != nullptr && reader != nullptr && transfer->kind == Command::Kind::Transfer &&
                   transfer->operands[0].base == Location::Base::Arena,
               "a transfer between GPUs of the group");
    reader->operands[read.operand] = transfer->operands[0];
    transfer->kind = Command::Kind::Nothing;
    transfer->operands.clear();
    transfer->results.clear();
  }

  const Schedule& schedule_;
  const PeerReads& lowered_;
  std::vector<Program> programs_;
  const ProgressBoard& board_;
  SideTable<StepId, Command*> command_; // null for steps of other programs
  SideTable<StepId, WaitFor> ends_;
};

} // namespace

std::vector<Program> withPeerReads(const Executable& plan, std::vector<Program> programs,
                                   const ProgressBoard& board) {
  return plan.launches().peers.reads.empty() ? std::move(programs)
                                             : Rewriter(plan, std::move(programs), board).run();
}

} // namespace dfc::cuda
