// The page of `dfc view -o page.html`: a plan, its explanation, and what was measured, in one file.
#pragma once

#include "tools/dfc/planning.h"

#include <optional>

namespace dfc::tool {

/// The source is a graph file, which is planned and explained, or a plan. `trace`: "" for none; `step` as of
/// `compareWithTrace`.
Result<std::string> pageOf(const std::string& source, const PlanOptions& options, const std::string& trace,
                           std::optional<uint32_t> step);

} // namespace dfc::tool
