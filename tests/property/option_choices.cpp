#include "tests/property/option_choices.h"

#include "compiler/split/relayout_seconds.h"

#include <cmath>
#include <optional>

namespace dfc::test {
namespace {

class Search {
 public:
  Search(const Graph& graph, const SplitChoices& choices, double price, bool everyOption,
         const ChoiceVisitor& visitor)
      : graph_(graph), choices_(choices), everyOption_(everyOption), visitor_(visitor),
        problem_(choices.problemAt(price).choice), ops_(static_cast<uint32_t>(graph.opCount())),
        option_(ops_, 0), decided_(ops_, false), rank_(ops_), tablesOf_(ops_), broughtOf_(ops_) {
    for (const bool later : {false, true}) { // parameters without an assign behind their readers
      for (const OpId op : graph.ops()) {
        if (isFree(op) == later) {
          rank_[op.index()] = static_cast<uint32_t>(order_.size());
          order_.push_back(op.index());
        }
      }
    }
    addTables();
  }

  void run() { visitFrom(0, 0); }

 private:
  struct Brought {
    uint32_t variable;
    std::vector<const ChoiceTable*> tables;
  };

  bool isFree(OpId op) const {
    return graph_[op].kind() == OpKind::Parameter &&
           llvm::none_of(graph_.opsOf(OpKind::Assign),
                         [&](OpId assign) { return graph_[graph_[assign].operands[0]].producer == op; });
  }

  // Each table at the last of its ops; the layout that several readers share behind the last of these.
  void addTables() {
    std::vector<std::vector<const ChoiceTable*>> tables(problem_.options.size());
    const auto last = [&](llvm::ArrayRef<const ChoiceTable*> some) {
      uint32_t rank = 0;
      for (const ChoiceTable* table : some) {
        for (const uint32_t v : table->variables) {
          rank = v < ops_ ? std::max(rank, rank_[v]) : rank;
        }
      }
      return order_[rank];
    };
    for (const ChoiceTable& table : problem_.tables) {
      const uint32_t highest = *std::max_element(table.variables.begin(), table.variables.end());
      if (highest < ops_) {
        tablesOf_[last({&table})].push_back(&table);
      } else {
        tables[highest].push_back(&table);
      }
    }
    for (uint32_t v = ops_; v < problem_.options.size(); ++v) {
      broughtOf_[last(tables[v])].push_back({v, tables[v]});
    }
  }

  void visitFrom(size_t rank, double cost) {
    if (rank == order_.size()) {
      ended_ = !visitor_.visit(option_, cost);
      return;
    }
    const uint32_t op = order_[rank];
    const auto only = everyOption_ ? std::nullopt : askedOf(OpId(op));
    const uint32_t begin = only.value_or(0), end = only ? *only + 1 : problem_.options[op];
    decided_[op] = true;
    for (uint32_t option = begin; option < end && !ended_; ++option) {
      option_[op] = option;
      const double sum = cost + costOf(op);
      if (std::isfinite(sum) && visitor_.isWorth(option_, decided_)) {
        visitFrom(rank + 1, sum);
      }
    }
    decided_[op] = false;
  }

  /// The option that gives the one layout that all readers of a free parameter ask for.
  std::optional<uint32_t> askedOf(OpId parameter) const {
    if (!isFree(parameter)) {
      return std::nullopt;
    }
    std::optional<Layout> asked;
    for (const OpId op : graph_.ops()) {
      for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
        if (graph_[graph_[op].operands[i]].producer == parameter) {
          const Layout& layout = choices_.options(op)[option_[op.index()]].operands[i];
          if (asked && !(*asked == layout)) {
            return std::nullopt;
          }
          asked = layout;
        }
      }
    }
    const auto options = choices_.options(parameter);
    for (uint32_t i = 0; asked && i < options.size(); ++i) {
      if (options[i].results[0] == *asked) {
        return i;
      }
    }
    return std::nullopt;
  }

  double costOf(uint32_t op) const {
    double sum = 0;
    for (const ChoiceTable* table : tablesOf_[op]) {
      sum += entry(*table, 0);
    }
    for (const Brought& brought : broughtOf_[op]) {
      double least = never;
      for (uint32_t layout = 0; layout < problem_.options[brought.variable]; ++layout) {
        double costs = 0;
        for (const ChoiceTable* table : brought.tables) {
          costs += entry(*table, layout);
        }
        least = std::min(least, costs);
      }
      sum += least;
    }
    return sum;
  }

  double entry(const ChoiceTable& table, uint32_t layout) const {
    size_t at = 0;
    for (const uint32_t v : table.variables) {
      at = at * problem_.options[v] + (v < ops_ ? option_[v] : layout);
    }
    return table.costs[at];
  }

  const Graph& graph_;
  const SplitChoices& choices_;
  const bool everyOption_;
  const ChoiceVisitor& visitor_;
  const ChoiceProblem problem_;
  const uint32_t ops_;
  std::vector<uint32_t> option_;
  std::vector<bool> decided_;
  std::vector<uint32_t> order_, rank_;                    // ops by rank, and ranks by op
  std::vector<std::vector<const ChoiceTable*>> tablesOf_; // by the last of their ops
  std::vector<std::vector<Brought>> broughtOf_;
  bool ended_ = false;
};

} // namespace

void forEachChoice(const Graph& graph, const SplitChoices& choices, double price, bool everyOption,
                   const ChoiceVisitor& visitor) {
  Search(graph, choices, price, everyOption, visitor).run();
}

} // namespace dfc::test
