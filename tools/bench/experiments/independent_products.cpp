// Independent products without pins: how many run at once, in the plan and in the measured trace.
#include "tools/bench/experiments/traced.h"
#include "tools/bench/graphs/parallel.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr int productCount = 8;

bool anyComputation(const Executable& plan, StepId step) {
  return computationOn(DeviceKind::Gpu)(plan, step) || computationOn(DeviceKind::Cpu)(plan, step);
}

Status runIndependent(Harness& harness, Row& row) {
  Variation traced;
  traced.trace = true;
  const auto prepared =
      harness.prepare(independentProducts(productCount, harness.sizes().independent), traced);
  if (!prepared) {
    return prepared.errors();
  }
  measureSteps(*prepared, harness.longSteps(), row);
  prepared->session->takeTrace();
  const Trace measured = tracedSteps(*prepared, 5);
  const int planned = mostAtOnce(predictedTrace(*prepared->plan), *prepared->plan, anyComputation);
  const int seen = mostAtOnce(measured, *prepared->plan, anyComputation);
  row.checks.push_back(fact("several at once in the plan", planned > 1));
  row.checks.push_back(harness.seen("several at once in the trace", seen > 1));
  row.notes.push_back(fmt::format("at most {} at once in the plan, {} in the measured trace", planned, seen));
  return keepTrace(harness, "independent_products", *prepared, measured, row);
}

} // namespace

void independentProducts(Harness& harness) {
  if (harness.wants("independent_products")) {
    const int64_t size = harness.sizes().independent;
    harness.attempt("independent_products",
                    fmt::format("{0} independent products of {1}x{1} f32, placed by dfc", productCount, size),
                    [&](Row& row) { return runIndependent(harness, row); });
  }
}

} // namespace dfc::bench
