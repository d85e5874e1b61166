#include "compiler/split/choice/eliminate.h"

#include "ir/base/assert.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace dfc {
namespace {

/// Costs over sorted variables, the last one the fastest.
struct CostTable {
  std::vector<uint32_t> variables;
  std::vector<double> costs;
};

constexpr uint32_t mostOptions = 256;

/// How a variable follows from its neighbours, once these are known.
struct Answer {
  uint32_t variable = 0;
  std::vector<uint32_t> neighbours;
  std::vector<uint8_t> option; ///< by the neighbours' options, the last one the fastest
};

/// What becomes of a variable whose elimination would need a table of more than the given entries.
enum class Large : uint8_t {
  Settle, ///< it gets an option: the cost is one of a choice
  Divide, ///< its tables, in groups, have an option each (mini-buckets): the cost is a lower bound
};

class Elimination {
 public:
  Elimination(const ChoiceProblem& problem, size_t mostEntries, Large large)
      : problem_(problem), mostEntries_(mostEntries), large_(large), tablesOf_(problem.options.size()),
        done_(problem.options.size()), stampOf_(problem.options.size(), 0) {
    DFC_ASSERT(llvm::all_of(problem.options, [](uint32_t count) { return count <= mostOptions; }),
               "a variable of more options than an answer can name");
    for (const ChoiceTable& table : problem.tables) {
      addSorted(table);
    }
    for (uint32_t v = 0; v < problem.options.size(); ++v) {
      if (problem.options[v] == 1) { // in no table
        done_[v] = true;
        answers_.push_back({v, {}, {0}});
      }
    }
  }

  ChoiceResult run() {
    for (uint32_t v = 0; v < problem_.options.size(); ++v) {
      if (!done_[v]) {
        offer(v);
      }
    }
    while (!order_.empty()) {
      const auto [entries, v] = order_.top();
      order_.pop();
      if (done_[v]) {
        continue;
      }
      const size_t now = entriesOf(v);
      if (now != entries) {
        order_.push({now, v}); // its neighbours changed
      } else if (now <= mostEntries_) {
        eliminate(v);
      } else if (large_ == Large::Settle) {
        settle(v);
      } else {
        divide(v);
      }
    }
    return answer();
  }

 private:
  void addSorted(const ChoiceTable& given) {
    CostTable table{{given.variables.begin(), given.variables.end()}, given.costs};
    llvm::erase_if(table.variables, [&](uint32_t v) { return problem_.options[v] == 1; });
    if (table.variables.empty()) {
      cost_ += table.costs.front();
      return;
    }
    if (table.variables.size() == 2 && table.variables[0] > table.variables[1]) {
      const size_t rows = problem_.options[given.variables[0]],
                   columns = problem_.options[given.variables[1]];
      std::swap(table.variables[0], table.variables[1]);
      for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
          table.costs[c * rows + r] = given.costs[r * columns + c];
        }
      }
    }
    add(std::move(table));
  }

  void add(CostTable table) {
    DFC_ASSERT(!table.variables.empty(), "a table of no variables");
    const size_t index = tables_.size();
    for (const uint32_t v : table.variables) {
      tablesOf_[v].push_back(index);
    }
    tables_.push_back(std::move(table));
  }

  std::vector<uint32_t> neighboursIn(uint32_t v, llvm::ArrayRef<size_t> tables) const {
    std::vector<uint32_t> all;
    for (const size_t t : tables) {
      for (const uint32_t other : tables_[t].variables) {
        if (other != v) {
          all.push_back(other);
        }
      }
    }
    llvm::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  size_t entriesOf(uint32_t v) { return entriesIn(v, tablesOf_[v]); }

  // Ends at the limit: a variable of many neighbours, such as a rate that all updates read, is asked for
  // often.
  size_t entriesIn(uint32_t v, llvm::ArrayRef<size_t> tables) {
    size_t entries = problem_.options[v];
    ++stamp_;
    stampOf_[v] = stamp_;
    for (const size_t t : tables) {
      for (const uint32_t other : tables_[t].variables) {
        if (std::exchange(stampOf_[other], stamp_) == stamp_) {
          continue;
        }
        entries *= problem_.options[other];
        if (entries > mostEntries_) {
          return mostEntries_ + 1;
        }
      }
    }
    return entries;
  }

  void offer(uint32_t v) { order_.push({entriesOf(v), v}); }

  void drop(size_t t) {
    for (const uint32_t v : tables_[t].variables) {
      llvm::erase_value(tablesOf_[v], t);
    }
    tables_[t] = {};
  }

  /// The step in `table`'s costs of one option more of `v`; 0 if it is not among its variables.
  size_t strideOf(const CostTable& table, uint32_t v) const {
    size_t stride = 1;
    for (size_t i = table.variables.size(); i-- > 0;) {
      if (table.variables[i] == v) {
        return stride;
      }
      stride *= problem_.options[table.variables[i]];
    }
    return 0;
  }

  void eliminate(uint32_t v) {
    answers_.push_back(minimised(v, std::vector<size_t>(tablesOf_[v])));
    done_[v] = true;
  }

  // First fit: each table joins the first group whose elimination stays small.
  void divide(uint32_t v) {
    exact_ = false;
    std::vector<std::vector<size_t>> groups;
    for (const size_t t : tablesOf_[v]) {
      const auto group = llvm::find_if(groups, [&](std::vector<size_t> with) {
        with.push_back(t);
        return entriesIn(v, with) <= mostEntries_;
      });
      (group == groups.end() ? groups.emplace_back() : *group).push_back(t);
    }
    for (const std::vector<size_t>& group : groups) {
      minimised(v, group);
    }
    answers_.push_back({v, {}, {0}});
    done_[v] = true;
  }

  /// Replaces these tables of v by one without it.
  Answer minimised(uint32_t v, const std::vector<size_t>& own) {
    Answer answer{v, neighboursIn(v, own), {}};
    size_t entries = 1;
    for (const uint32_t other : answer.neighbours) {
      entries *= problem_.options[other];
    }
    CostTable made{answer.neighbours, std::vector<double>(entries)};
    answer.option.resize(entries);
    minimiseOver(v, own, made, answer);
    for (const size_t t : own) {
      drop(t);
    }
    if (made.variables.empty()) {
      cost_ += made.costs.front();
    } else {
      add(std::move(made));
      llvm::for_each(answer.neighbours, [&](uint32_t other) { offer(other); });
    }
    return answer;
  }

  // Walks all options of the neighbours like an odometer, with the offset into each table kept.
  void minimiseOver(uint32_t v, llvm::ArrayRef<size_t> own, CostTable& made, Answer& answer) const {
    std::vector<std::vector<size_t>> strides; // by table, by neighbour
    std::vector<size_t> ownStride, offset(own.size(), 0);
    for (const size_t t : own) {
      strides.emplace_back();
      for (const uint32_t other : answer.neighbours) {
        strides.back().push_back(strideOf(tables_[t], other));
      }
      ownStride.push_back(strideOf(tables_[t], v));
    }
    std::vector<uint32_t> at(answer.neighbours.size(), 0);
    for (size_t entry = 0; entry < made.costs.size(); ++entry) {
      double best = std::numeric_limits<double>::infinity();
      uint8_t chosen = 0;
      for (uint32_t option = 0; option < problem_.options[v]; ++option) {
        double sum = 0;
        for (size_t t = 0; t < own.size(); ++t) {
          sum += tables_[own[t]].costs[offset[t] + option * ownStride[t]];
        }
        if (sum < best) {
          best = sum;
          chosen = static_cast<uint8_t>(option);
        }
      }
      made.costs[entry] = best;
      answer.option[entry] = chosen;
      advance(at, answer.neighbours, strides, offset);
    }
  }

  void advance(std::vector<uint32_t>& at, llvm::ArrayRef<uint32_t> neighbours,
               llvm::ArrayRef<std::vector<size_t>> strides, std::vector<size_t>& offset) const {
    for (size_t i = at.size(); i-- > 0;) {
      ++at[i];
      for (size_t t = 0; t < offset.size(); ++t) {
        offset[t] += strides[t][i];
      }
      if (at[i] < problem_.options[neighbours[i]]) {
        return;
      }
      for (size_t t = 0; t < offset.size(); ++t) {
        offset[t] -= strides[t][i] * at[i];
      }
      at[i] = 0;
    }
  }

  // Gives v the option of the least costs that it could have, and takes it out of its tables.
  void settle(uint32_t v) {
    exact_ = false;
    std::vector<double> least(problem_.options[v], 0);
    for (const size_t t : tablesOf_[v]) {
      for (uint32_t option = 0; option < least.size(); ++option) {
        least[option] += leastOf(tables_[t], v, option);
      }
    }
    const auto option = static_cast<uint32_t>(std::min_element(least.begin(), least.end()) - least.begin());
    const std::vector<size_t> own = tablesOf_[v];
    for (const size_t t : own) {
      CostTable rest = restricted(tables_[t], v, option);
      drop(t);
      if (rest.variables.empty()) {
        cost_ += rest.costs.front();
      } else {
        const std::vector<uint32_t> neighbours = rest.variables;
        add(std::move(rest));
        llvm::for_each(neighbours, [&](uint32_t other) { offer(other); });
      }
    }
    done_[v] = true;
    answers_.push_back({v, {}, {static_cast<uint8_t>(option)}});
  }

  /// Calls visit(from, to) for each run of the table's costs in which v has the option.
  template <class Visit>
  void forEachRun(const CostTable& table, uint32_t v, uint32_t option, Visit visit) const {
    const size_t stride = strideOf(table, v), period = stride * problem_.options[v];
    for (size_t i = option * stride; i < table.costs.size(); i += period) {
      visit(table.costs.begin() + static_cast<std::ptrdiff_t>(i),
            table.costs.begin() + static_cast<std::ptrdiff_t>(i + stride));
    }
  }

  double leastOf(const CostTable& table, uint32_t v, uint32_t option) const {
    double least = std::numeric_limits<double>::infinity();
    forEachRun(table, v, option,
               [&](auto from, auto to) { least = std::min(least, *std::min_element(from, to)); });
    return least;
  }

  CostTable restricted(const CostTable& table, uint32_t v, uint32_t option) const {
    CostTable rest{table.variables, {}};
    llvm::erase_value(rest.variables, v);
    rest.costs.reserve(table.costs.size() / problem_.options[v]);
    forEachRun(table, v, option, [&](auto from, auto to) { rest.costs.insert(rest.costs.end(), from, to); });
    return rest;
  }

  ChoiceResult answer() const {
    ChoiceResult result{std::vector<uint32_t>(problem_.options.size(), 0), cost_, exact_};
    for (size_t a = answers_.size(); a-- > 0;) {
      const Answer& one = answers_[a];
      size_t entry = 0;
      for (const uint32_t other : one.neighbours) {
        entry = entry * problem_.options[other] + result.option[other];
      }
      result.option[one.variable] = one.option[entry];
    }
    return result;
  }

  using Offer = std::pair<size_t, uint32_t>; // entries, variable
  const ChoiceProblem& problem_;
  size_t mostEntries_;
  Large large_;
  std::vector<CostTable> tables_;
  std::vector<std::vector<size_t>> tablesOf_; // by variable
  std::vector<bool> done_;
  std::vector<uint64_t> stampOf_; // by variable: of the last count of neighbours that it was in
  uint64_t stamp_ = 0;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> order_;
  std::vector<Answer> answers_; // in the order of elimination
  double cost_ = 0;
  bool exact_ = true;
};

} // namespace

ChoiceResult eliminate(const ChoiceProblem& problem, size_t mostEntries) {
  return Elimination(problem, mostEntries, Large::Settle).run();
}

double leastBound(const ChoiceProblem& problem, size_t mostEntries) {
  return Elimination(problem, mostEntries, Large::Divide).run().cost;
}

} // namespace dfc
