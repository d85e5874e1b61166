// The picture of predicted above measured, over the hand plan: the text to the letter, and where boxes stand.
#include "ir/draw/trace_dot.h"

#include "ir/draw/trace_layout.h"
#include "ir/plan/executable_parts.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

using namespace dfc;

namespace {

/// Measured as predicted, but each `stretch` times as long and 1 s after its predecessors.
TraceComparison comparisonOf(const Executable& plan, double stretch) {
  Trace measured = predictedTrace(plan);
  for (Span& span : measured.spans) {
    span.begin *= stretch;
    span.end = span.begin + 0.75 * stretch;
  }
  TraceComparison comparison{plan,
                             traceStep(predictedTrace(plan), plan, 0),
                             traceStep(measured, plan, 0),
                             {},
                             "step 0 of the trace"};
  comparison.path = criticalPath(comparison.measured, plan.schedule());
  return comparison;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("trace picture: the text of the hand plan's") {
  const auto plan = test::HandPlan().seal();
  REQUIRE(plan.ok());
  test::checkGolden("pictures/trace.dot", traceDot(comparisonOf(*plan, 2)));
}

TEST_CASE("trace picture: emulated devices are named in the title") {
  const auto plan = test::HandPlan().seal();
  REQUIRE(plan.ok());
  TraceComparison comparison = comparisonOf(*plan, 2);
  CHECK(count(traceDot(comparison), "emulated") == 0);
  comparison.backends = {"cpu", "emulated"};
  CHECK(count(traceDot(comparison),
              "gpu0 was emulated by the host: measured times there are not those of a GPU") == 1);
}

TEST_CASE("trace picture: one scale while the makespans are near each other") {
  const auto plan = test::HandPlan().seal();
  REQUIRE(plan.ok());
  // measured: the last begin, 2 x 7 s, and 1.5 s: 15.5 s, 1.94 times 8 s
  const TraceComparison near = comparisonOf(*plan, 2);
  CHECK(near.measured.makespan == 15.5);
  const TraceLayout layout = layOutTrace(*plan, near.predicted, near.measured);
  CHECK(layout.oneScale());
  CHECK(layout.x(15.5, true) == layout.width);
  CHECK(layout.x(15.5, false) == layout.width);
  // stretched by 4: 28 + 3 = 31 s, 3.9 times 8 s
  const TraceComparison far = comparisonOf(*plan, 4);
  const TraceLayout apart = layOutTrace(*plan, far.predicted, far.measured);
  CHECK_FALSE(apart.oneScale());
  CHECK(apart.x(31, true) == apart.width);
  CHECK(apart.x(8, false) == apart.width);
  CHECK(traceDot(far).find("the two rows have different scales") != std::string::npos);
}

TEST_CASE("trace picture: every step stands in both rows, the path is marked in both") {
  const auto plan = test::HandPlan().seal();
  REQUIRE(plan.ok());
  const TraceComparison comparison = comparisonOf(*plan, 2);
  const std::string dot = traceDot(comparison);
  CHECK(count(dot, "tooltip=\"predicted: ") == 10);
  CHECK(count(dot, "tooltip=\"measured: ") == 10);
  // x, x@gpu0, y, z, z@cpu0, v, v@gpu0, w@gpu0.next, in two rows, and the sample of the legend
  REQUIRE(comparison.path.size() == 8);
  CHECK(count(dot, "color=\"#e6007a\", penwidth=2.4") == 2 * 8 + 1);
  CHECK(count(dot, "color=\"#e6007a\", penwidth=1.8") == 7 + 1); // the seven arrows between them
  const TraceLayout layout = layOutTrace(*plan, comparison.predicted, comparison.measured);
  for (const TraceBand& band : layout.bands) {
    CHECK(band.predictedY > band.measuredY);
  }
  CHECK(layout.bands.size() == 5); // all five queues do something
}
