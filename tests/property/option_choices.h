// Every choice of an option for each op of a small graph that the layouts allow, by depth-first search.
#pragma once

#include "compiler/split/choose_split.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {

/// What a search over choices asks.
struct ChoiceVisitor {
  /// Of a choice for every op, with its cost by the tables. Whether to go on.
  llvm::function_ref<bool(llvm::ArrayRef<uint32_t> option, double cost)> visit;
  /// Whether choices are worth a look that begin with these options, of the ops for which `decided` is true.
  llvm::function_ref<bool(llvm::ArrayRef<uint32_t> option, const std::vector<bool>& decided)> isWorth;
};

/// Unassigned parameters: where all readers ask for one layout that an option gives, this option alone, as
/// nothing is quicker; with `everyOption` all that are allowed.
void forEachChoice(const Graph& graph, const SplitChoices& choices, double price, bool everyOption,
                   const ChoiceVisitor& visitor);

} // namespace dfc::test
