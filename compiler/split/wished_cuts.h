// The cuts that are asked for, by callers (SplitWish) and by the graph's `cut` ops: checked against the
// machine and against one another, and made requirements of the choice of a split.
#pragma once

#include "compiler/split/choose_split.h"
#include "compiler/split/split_wish.h"
#include "compiler/split/take_cuts.h"

#include <string>
#include <vector>

namespace dfc {

/// One wish. Errors about it are located where it was written, if a graph says it.
struct WishedCut {
  std::string text; ///< "split 'x:0=gpu*'", "cut(x, axis=0, devices=\"gpu*\")"
  std::vector<ValueId> values;
  int64_t axis = 0; ///< counted from the end where negative
  std::string devices;
  SourceLocation where;
  std::string scope;
};

/// Of a graph that takeCuts gave, with its cuts: callers' wishes first. A caller's pattern that names no
/// value is an error.
Result<std::vector<WishedCut>> wishedCuts(const TakenCuts& taken, llvm::ArrayRef<SplitWish> wishes);

/// The devices that all of them name; of no wishes none. Errors: one names less than two devices, or others
/// than the first.
Result<std::vector<DeviceId>> devicesOf(llvm::ArrayRef<WishedCut> wishes, const Machine& machine);

/// Restricts the choices to those that meet the wishes. Errors: a value that cannot be cut along its axis, or
/// not beside an earlier wish.
Diagnostics require(const Graph& graph, llvm::ArrayRef<WishedCut> wishes, SplitChoices& choices);

/// The error about wishes that `require` accepts one by one, and that no layout of the ops between meets: of
/// the first one that those before it leave no layout for. `choices`: without any of them.
Diagnostic contradiction(const Graph& graph, llvm::ArrayRef<WishedCut> wishes, const SplitChoices& choices);

/// The error located at the wish.
Diagnostic errorAt(const WishedCut& wish, std::string message, std::string hint);

} // namespace dfc
