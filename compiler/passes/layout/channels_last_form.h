// Ops between convolutions, for choose_layout.
#pragma once

#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// The op with its axes renumbered for operands [N, H, W, C] in place of [N, C, H, W]; none where the order
/// of elements matters to it, or to the order of its result's.
std::optional<OpAttributes> formWithChannelsLast(const OpRow& row);

} // namespace dfc
