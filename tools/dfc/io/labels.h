// Labels that name no class: softmaxCrossEntropy gives NaN for them, which says neither where nor why. Fed
// data is looked through once, before the first step, so that steps cost nothing.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/literal.h"

#include <optional>

namespace dfc::tool {

struct WrongLabel {
  std::string message;    ///< "element 7 is 12, but op 'loss' has 10 classes, 0 to 9"
  bool surelyUsed = true; ///< false: the graph takes slices of the input, perhaps without this element
};

/// The first element of `data`, fed to `input`, that a softmaxCrossEntropy of the graph would take for a
/// label and that is none of its classes; none where all is well or the input feeds no labels. Follows the
/// input through transfers, views, transposes and slices.
std::optional<WrongLabel> wrongLabel(const Graph& graph, std::string_view input, const Literal& data);

} // namespace dfc::tool
