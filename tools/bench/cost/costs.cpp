#include "tools/bench/cost/costs.h"

namespace dfc::bench {
namespace {

constexpr Cost rows[] = {
#define DFC_COST(function, keys) {function, keys},
#include "tools/bench/cost/costs.def"
#undef DFC_COST
};

} // namespace

llvm::ArrayRef<Cost> allCosts() { return rows; }

} // namespace dfc::bench
