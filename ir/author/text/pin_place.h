// Where a graph file asks for a device: the `on` of a block or scope, for messages about that device. An op
// that the block pins may stand far below, or be one that a pass made.
#pragma once

#include "ir/base/diagnostic.h"

#include <string_view>

namespace dfc {

/// An error at the first `on DEVICE` of the text; none where there is none. `text` is UTF-8 and parses; one
/// that does not gives a place that may be a wrong one, never a fault.
std::optional<Diagnostic> errorAtPin(std::string_view text, const std::string& fileName,
                                     std::string_view device, std::string message, std::string hint);

} // namespace dfc
