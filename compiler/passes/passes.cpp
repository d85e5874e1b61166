// The rows of passes.def as a list.
#include "compiler/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dfc {

llvm::ArrayRef<PassRow> allPasses() {
  static constexpr std::array rows = {
#define DFC_PASS(function, name, phase, why) PassRow{&(function), name, PassPhase::phase, why},
#include "compiler/passes/passes.def"
#undef DFC_PASS
  };
  static_assert(std::is_sorted(rows.begin(), rows.end(),
                               [](const PassRow& a, const PassRow& b) { return a.phase < b.phase; }),
                "passes run in the order of their rows, phase by phase");
  return rows;
}

std::vector<std::string> skippableNames() {
  std::vector<std::string> names;
  for (const PassRow& row : allPasses()) {
    names.emplace_back(row.name);
  }
  names.emplace_back(hoistName);
  return names;
}

Diagnostics checkPassNames(llvm::ArrayRef<std::string> names) {
  const std::vector<std::string> known = skippableNames();
  Diagnostics errors;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = nearestName(name, known);
      errors.push_back(errorWithoutPlace(fmt::format("there is no pass '{}' to skip", name),
                                         near ? fmt::format("did you mean '{}'?", *near)
                                              : fmt::format("the passes are {}", fmt::join(known, ", "))));
    }
  }
  return errors;
}

} // namespace dfc
