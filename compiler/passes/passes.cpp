// The rows of passes.def as a list.
#include "compiler/passes/passes.h"

#include <array>

namespace dfc {

llvm::ArrayRef<PassRow> allPasses() {
  static constexpr std::array rows = {
#define DFC_PASS(function, name, why) PassRow{&(function), name, why},
#include "compiler/passes/passes.def"
#undef DFC_PASS
  };
  static_assert(rows.front().run == expandGradients, "compile() runs the first before the others");
  return rows;
}

} // namespace dfc
