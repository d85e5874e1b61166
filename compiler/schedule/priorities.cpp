// The rows of priorities.def as a list.
#include "compiler/schedule/priorities.h"

#include <array>

namespace dfc {

llvm::ArrayRef<PriorityRow> allPriorities() {
  static constexpr std::array rows = {
#define DFC_PRIORITY(function, name, gain, what) PriorityRow{&(function), name, gain, what},
#include "compiler/schedule/priorities.def"
#undef DFC_PRIORITY
  };
  static_assert(!rows.empty(), "a schedule needs a priority");
  return rows;
}

} // namespace dfc
