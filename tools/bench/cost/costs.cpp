#include "tools/bench/cost/costs.h"

namespace dfc::bench {
namespace {

constexpr void (*functions[])(Harness&, const BaselineOptions&) = {
#define DFC_COST(function, name, title) function,
#include "tools/bench/cost/costs.def"
#undef DFC_COST
};

} // namespace

llvm::ArrayRef<void (*)(Harness&, const BaselineOptions&)> allCosts() { return functions; }

} // namespace dfc::bench
