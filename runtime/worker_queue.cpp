// The execute loop of queues that a host thread drives.
#include "runtime/worker_queue.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

#include <new>

namespace dfc {

WorkerQueue::WorkerQueue(const Executable& plan, const Program& program, ProgressBoard& board,
                         std::unique_ptr<WorkMaker> maker, const WorkerOptions& options)
    : plan_(plan), board_(board), word_(board[program.queue.index()]), queue_(program.queue),
      perStep_(program.commands.size()), maker_(std::move(maker)), marks_(options.marks) {
  if (options.checkFinite) {
    check_.emplace(plan, program.commands);
  }
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    addCommand(command, maker_->prepare(plan, command), i + 1);
  }
  thread_ = std::thread([this] { serve(); });
}

WorkerQueue::~WorkerQueue() {
  stopping_.store(true, std::memory_order_seq_cst);
  launches_.ring();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WorkerQueue::addCommand(const Command& command, PreparedCall work, uint64_t offset) {
  if (regions_.empty() || regions_.back().publishes != 0 || !command.waits.empty()) {
    regions_.emplace_back();
  }
  waits_.insert(waits_.end(), command.waits.begin(), command.waits.end());
  const Marks::Name mark = work.run != nullptr ? markOf(command.op) : nullptr;
  commands_.push_back({work, command.op, command.step, mark});
  if (work.run != nullptr) {
    calls_.push_back({work, command.op, mark});
  }
  Region& region = regions_.back();
  region.waitsEnd = static_cast<uint32_t>(waits_.size());
  region.callsEnd = static_cast<uint32_t>(calls_.size());
  region.commandsEnd = static_cast<uint32_t>(commands_.size());
  region.publishes =
      command.publishes && offset != perStep_ ? offset : 0; // the end of the step publishes itself
}

Marks::Name WorkerQueue::markOf(OpId op) const {
  return marks_ != nullptr ? marks_->name(markText(plan_.graph(), op)) : nullptr;
}

void WorkerQueue::run(const PreparedCall& work, Marks::Name mark, uint64_t step) const {
  const Mark range(marks_, mark, step);
  work.run(work.context);
}

void WorkerQueue::launch(const Step& step) {
  {
    const std::lock_guard lock(mutex_);
    launched_.push_back(step);
  }
  launches_.publish(++launchCount_);
}

void WorkerQueue::serve() {
  for (uint64_t served = 0;; ++served) {
    if (!launches_.wait(served + 1, stopping_, board_.spins()) && launches_.ended() <= served) {
      return;
    }
    Step step;
    {
      const std::lock_guard lock(mutex_);
      step = launched_.front();
      launched_.pop_front();
    }
    runStep(step);
  }
}

void WorkerQueue::runStep(const Step& step) {
  try {
    if (!board_.stops(step.number)) {
      maker_->bind(step);
      step.traced || check_ ? runEach(step) : runPlain(step);
      board_.stops(step.number); // an end that comes too late is a failure too
    }
  } catch (...) {
    board_.fail(step.number, describe(std::current_exception()));
  }
  setCurrent({});
  word_.publish(perStep_ * (step.number + 1));
}

bool WorkerQueue::passWaits(uint32_t& wait, uint32_t end, uint64_t step) const {
  for (; wait < end; ++wait) {
    if (!board_.await(waits_[wait], step)) {
      return false;
    }
  }
  return true;
}

void WorkerQueue::runPlain(const Step& step) {
  const uint64_t before = perStep_ * step.number;
  uint32_t wait = 0, call = 0;
  for (const Region& region : regions_) {
    if (!passWaits(wait, region.waitsEnd, step.number)) {
      return;
    }
    for (; call < region.callsEnd; ++call) {
      const Call& next = calls_[call];
      setCurrent(next.op);
      if (board_.stops(step.number)) {
        return;
      }
      run(next.work, next.mark, step.number);
    }
    setCurrent({});
    if (region.publishes != 0) {
      word_.publish(before + region.publishes);
    }
  }
}

// Command by command: for a trace, or to look at what each has computed.
void WorkerQueue::runEach(const Step& step) {
  if (step.traced) {
    spans_.reserve(spans_.size() + commands_.size());
  }
  const uint64_t before = perStep_ * step.number;
  uint32_t wait = 0, command = 0;
  for (const Region& region : regions_) {
    if (!passWaits(wait, region.waitsEnd, step.number)) {
      return;
    }
    for (; command < region.commandsEnd; ++command) {
      const TracedCommand& next = commands_[command];
      setCurrent(next.op);
      if (board_.stops(step.number)) {
        return;
      }
      const double begin = steadySeconds();
      runCommand(command, step);
      if (step.traced && next.step.valid()) {
        spans_.push_back({next.step, static_cast<uint32_t>(step.number), begin, steadySeconds()});
      }
    }
    setCurrent({});
    if (region.publishes != 0) {
      word_.publish(before + region.publishes);
    }
  }
}

void WorkerQueue::runCommand(size_t command, const Step& step) {
  const TracedCommand& next = commands_[command];
  if (next.work.run == nullptr) {
    return;
  }
  if (check_) {
    check_->before(command, step);
  }
  run(next.work, next.mark, step.number);
  if (check_) {
    check_->after(command, step);
  }
}

OpId WorkerQueue::current() const { return OpId(currentOp_.load(std::memory_order_relaxed)); }

std::exception_ptr WorkerQueue::describe(const std::exception_ptr& error) const {
  const std::string queue = plan_.schedule().nameOf(queue_, plan_.machine());
  const OpId op = current();
  const std::string where = op.valid() ? fmt::format("{}, op '{}'", queue, plan_.graph().nameOf(op)) : queue;
  try {
    std::rethrow_exception(error);
  } catch (const InternalError&) {
    return error;          // our own bug says itself where it is
  } catch (const Error&) { // NotFiniteError and CustomError say where
    return error;
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(MachineError(where + ": the host is out of memory"));
  } catch (const std::exception& cause) {
    return std::make_exception_ptr(MachineError(fmt::format("{}: {}", where, cause.what())));
  }
}

} // namespace dfc
