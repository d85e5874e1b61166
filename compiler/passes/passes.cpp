// The rows of passes.def as a list.
#include "compiler/passes/passes.h"

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

} // namespace dfc
