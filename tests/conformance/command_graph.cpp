// The transitive closure by a search from each command.
#include "tests/conformance/command_graph.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

bool overlap(const Location& a, const Location& b) {
  return a.base == Location::Base::Arena && b.base == a.base && a.arena == b.arena &&
         a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

bool overlap(llvm::ArrayRef<Location> some, llvm::ArrayRef<Location> others) {
  return llvm::any_of(some, [&](const Location& a) {
    return llvm::any_of(others, [&](const Location& b) { return overlap(a, b); });
  });
}

} // namespace

bool conflict(const Command& a, const Command& b) {
  return a.kind != Command::Kind::Nothing && b.kind != Command::Kind::Nothing &&
         (overlap(a.results, b.results) || overlap(a.results, b.operands) || overlap(a.operands, b.results));
}

CommandGraph::CommandGraph(const std::vector<Program>& programs, const ProgressBoard& board) {
  close(edges(programs, board));
}

std::vector<std::vector<size_t>> CommandGraph::edges(const std::vector<Program>& programs,
                                                     const ProgressBoard& board) {
  std::map<const ProgressWord*, size_t> firstOf;
  for (const Program& program : programs) {
    firstOf[&board[program.queue.index()]] = all_.size();
    for (const Command& command : program.commands) {
      if (command.step.valid()) {
        byStep_[command.step.index()] = all_.size();
      }
      all_.push_back(&command);
    }
  }
  std::vector<std::vector<size_t>> next(all_.size());
  for (const Program& program : programs) {
    const size_t first = firstOf.at(&board[program.queue.index()]);
    for (size_t i = first; i < first + program.commands.size(); ++i) {
      if (i > first) {
        next[i - 1].push_back(i);
      }
      for (const WaitFor& wait : all_[i]->waits) {
        if (wait.offset > 0) { // else for an earlier step
          const size_t before = firstOf.at(wait.word) + wait.offset - 1;
          next[before].push_back(i);
          published_ = published_ && all_[before]->publishes;
        }
      }
    }
  }
  return next;
}

void CommandGraph::close(const std::vector<std::vector<size_t>>& next) {
  for (const std::vector<size_t>& follow : next) {
    std::vector<bool>& reached = after_.emplace_back(next.size());
    std::vector<size_t> open = follow;
    while (!open.empty()) {
      const size_t b = open.back();
      open.pop_back();
      if (!reached[b]) {
        reached[b] = true;
        open.insert(open.end(), next[b].begin(), next[b].end());
      }
    }
  }
}

bool CommandGraph::acyclic() const {
  for (size_t a = 0; a < size(); ++a) {
    if (after_[a][a]) {
      return false;
    }
  }
  return true;
}

size_t CommandGraph::races() const {
  size_t count = 0;
  for (size_t a = 0; a < size(); ++a) {
    for (size_t b = a + 1; b < size(); ++b) {
      count += !after_[a][b] && !after_[b][a] && conflict(*all_[a], *all_[b]) ? 1 : 0;
    }
  }
  return count;
}

} // namespace dfc::test
