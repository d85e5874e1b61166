// CommandGraph: the happens-before relation of a plan's commands from their queues and waits, and the data
// races that it permits. It stores every pair, so it is for plans of some thousand commands at most.
#pragma once

#include "runtime/backend.h"

#include <map>

namespace dfc::test {

/// Whether one writes bytes that the other reads or writes.
bool conflict(const Command& a, const Command& b);

/// The commands of one step, numbered queue by queue.
class CommandGraph {
 public:
  /// `programs` stay with the caller; their waits are for words of `board`.
  CommandGraph(const std::vector<Program>& programs, const ProgressBoard& board);

  size_t size() const { return all_.size(); }
  /// The number of a step's command.
  size_t of(StepId step) const { return byStep_.at(step.index()); }
  /// Whether b comes after a in every run.
  bool after(size_t a, size_t b) const { return after_[a][b]; }

  bool acyclic() const;
  /// Whether every command that is waited for publishes its end.
  bool published() const { return published_; }
  /// Pairs without an order that conflict.
  size_t races() const;

 private:
  std::vector<std::vector<size_t>> edges(const std::vector<Program>& programs, const ProgressBoard& board);
  void close(const std::vector<std::vector<size_t>>& next);

  std::vector<const Command*> all_;
  std::vector<std::vector<bool>> after_; ///< [a][b]
  std::map<uint32_t, size_t> byStep_;
  bool published_ = true;
};

} // namespace dfc::test
