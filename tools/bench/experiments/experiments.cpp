#include "tools/bench/experiments/experiments.h"

namespace dfc::bench {
namespace {

constexpr void (*functions[])(Harness&) = {
#define DFC_EXPERIMENT(function, name, book, title) function,
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT
};

} // namespace

llvm::ArrayRef<void (*)(Harness&)> allExperiments() { return functions; }

} // namespace dfc::bench
