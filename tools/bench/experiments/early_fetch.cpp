// A fetch that is read while the rest of its step still runs.
#include "tools/bench/experiments/experiments.h"

#include "ir/author/dsl.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

/// One product is fetched at once, a long chain of them at the end.
Result<Graph> earlyAndLate(const std::string& gpu, int64_t size, int length) {
  Builder g("early and late");
  const auto here = g.on(gpu);
  const Tensor x = g.parameter("x", f32({size, size}), uniform(0, 2.0 / static_cast<double>(size), 1));
  Tensor y = matmul(x, x);
  g.fetch("early", y); // the first product itself: no op of the plan comes before it
  for (int i = 0; i < length; ++i) {
    y = matmul(y, x);
  }
  g.fetch("late", reduceSum(y));
  return std::move(g).finish();
}

Status readEarly(Harness& harness, Row& row) {
  const auto prepared = harness.prepare(earlyAndLate(harness.gpus()[0], harness.sizes().independent, 50));
  if (!prepared) {
    return prepared.errors();
  }
  std::vector<double> early, whole;
  bool ranOn = true;
  for (uint32_t i = 0; i < 2 + harness.longSteps().samples; ++i) {
    const double begin = steadySeconds();
    const auto pending = prepared->session->submit({});
    if (!pending) {
      return pending.errors();
    }
    if (const auto value = pending->wait("early"); !value) {
      return value.errors();
    }
    early.push_back(steadySeconds() - begin);
    ranOn = ranOn && !pending->done();
    pending->wait();
    whole.push_back(steadySeconds() - begin);
  }
  row.time = spreadOf({early.begin() + 2, early.end()});
  row.checks.push_back(against(row, "the whole step", spreadOf({whole.begin() + 2, whole.end()}).median));
  row.checks.push_back(fact("the rest still ran when it was read", ranOn));
  return success();
}

} // namespace

void earlyFetch(Harness& harness) {
  const std::string description = "a fetch read while the step still computes";
  if (harness.gpus().empty()) {
    return harness.lacking("early_fetch", description, "the machine has no GPU");
  }
  if (harness.wants("early_fetch")) {
    harness.attempt("early_fetch", description, [&](Row& row) { return readEarly(harness, row); });
  }
}

} // namespace dfc::bench
