#include "tools/bench/experiments/experiments.h"

namespace dfc::bench {
namespace {

constexpr Experiment rows[] = {
#define DFC_EXPERIMENT(function, keys) {function, keys},
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT
};

} // namespace

llvm::ArrayRef<Experiment> allExperiments() { return rows; }

} // namespace dfc::bench
