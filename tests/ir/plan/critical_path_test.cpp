// One step of a trace by itself, and the critical path through it, on traces made by hand.
#include "ir/plan/critical_path.h"

#include "ir/plan/executable_parts.h"
#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"

using namespace dfc;
using After = PathSpan::After;

namespace {

/// The hand plan's spans by op; what is not named keeps its predicted time.
class HandTrace {
 public:
  HandTrace() : executable_(*plan_.seal()) {
    trace_ = predictedTrace(executable_);
    trace_.origin = Trace::Origin::Measured;
  }
  HandTrace& put(std::string_view op, double begin, double end) {
    Span& span = trace_.spans[stepOf(op).index()];
    span.begin = begin;
    span.end = end;
    return *this;
  }
  HandTrace& shift(double seconds) {
    for (Span& span : trace_.spans) {
      span.begin += seconds;
      span.end += seconds;
    }
    return *this;
  }
  StepId stepOf(std::string_view op) const { return plan_.schedule.stepOf[plan_.op(op)]; }
  TraceStep step() const { return traceStep(trace_, executable_, 0); }
  std::vector<PathSpan> path() const { return criticalPath(step(), executable_.schedule()); }
  const Executable& executable() const { return executable_; }
  Trace& trace() { return trace_; }

 private:
  test::HandPlan plan_;
  Executable executable_;
  Trace trace_;
};

void checkPath(const HandTrace& hand, const std::vector<std::pair<std::string, After>>& expected,
               const std::vector<double>& gaps) {
  const auto path = hand.path();
  REQUIRE(path.size() == expected.size());
  double sum = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    INFO(expected[i].first);
    CHECK(path[i].step == hand.stepOf(expected[i].first));
    CHECK(path[i].after == expected[i].second);
    CHECK(path[i].gap == gaps[i]);
    sum += path[i].gap + hand.step().at[path[i].step].seconds();
  }
  CHECK(sum == hand.step().makespan); // every number here is a sum of powers of two
}

} // namespace

TEST_CASE("critical path: without gaps it is the longest chain") {
  // x 0-1, x@gpu0 1-2, y 2-3, z 3-4, z@cpu0 4-5, v 5-6, v@gpu0 6-7, w@gpu0.next 7-8, each as soon as it can
  checkPath(HandTrace(),
            {{"x", After::Nothing},
             {"x@gpu0", After::Wait},
             {"y", After::Wait},
             {"z", After::Queue},
             {"z@cpu0", After::Wait},
             {"v", After::Wait},
             {"v@gpu0", After::Wait},
             {"w@gpu0.next", After::Wait}},
            {0, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("critical path: a slow op elsewhere takes it over") {
  // w.next 10.5-11.5 ends last; before it its queue's v ends at 6, and t, which it waits for, at 10: 0.5 s
  // between. t began at 0.25; the step's first begin, x's, is at 0: 0.25 + 9.75 + 0.5 + 1 = 11.5.
  const HandTrace hand = HandTrace().put("t", 0.25, 10).put("w.next", 10.5, 11.5).shift(100);
  CHECK(hand.step().makespan == 11.5);
  checkPath(hand, {{"t", After::Nothing}, {"w.next", After::Wait}}, {0.25, 0.5});
}

TEST_CASE("critical path: of predecessors that end together the queue's counts") {
  // w@gpu0.next waits for v@gpu0, which now ends with z, its queue's predecessor, at 7.
  const HandTrace hand = HandTrace().put("z", 3, 7);
  const auto path = hand.path();
  REQUIRE(path.size() == 5); // x, x@gpu0, y, z, w@gpu0.next
  CHECK(path[3].step == hand.stepOf("z"));
  CHECK(path[4].after == After::Queue);
}

TEST_CASE("critical path: a span that begins before its predecessor has ended counts back") {
  // x@gpu0's clock is 0.5 s behind: it begins at 0.5 where x ends at 1. 1 - 0.5 + 1.5 + 6 x 1 = 8.
  const HandTrace hand = HandTrace().put("x@gpu0", 0.5, 2);
  const auto path = hand.path();
  REQUIRE(path.size() == 8);
  CHECK(path[1].gap == -0.5);
  CHECK(hand.step().makespan == 8);
}

TEST_CASE("trace step: whole steps, and the one of median length") {
  HandTrace hand;
  Trace& trace = hand.trace();
  const Trace once = trace;
  trace.spans.clear();
  const auto add = [&](uint32_t stepNumber, double begin, double stretch, size_t left) {
    for (size_t i = left; i < once.spans.size(); ++i) {
      Span span = once.spans[i];
      span.stepNumber = stepNumber;
      span.begin = begin + stretch * span.begin;
      span.end = begin + stretch * span.end;
      trace.spans.push_back(span);
    }
  };
  add(2, 0, 1, 3); // seven of ten spans
  CHECK(completeSteps(trace, hand.executable()).empty());
  add(3, 16, 4, 0); // 8 s x 4
  add(4, 48, 1, 0);
  add(5, 56, 2, 0);
  add(6, 72, 8, 0);
  const std::vector<uint32_t> steps = completeSteps(trace, hand.executable());
  CHECK(steps == std::vector<uint32_t>{3, 4, 5, 6});
  // 32, 8, 16, 64 s: of 16 and 32, which are in the middle, the lower
  CHECK(medianStep(trace, hand.executable(), steps) == 5);
  CHECK(medianStep(trace, hand.executable(), std::vector<uint32_t>{3, 4, 6}) == 3);
  const TraceStep step = traceStep(trace, hand.executable(), 5);
  CHECK(step.stepNumber == 5);
  CHECK(step.makespan == 16);
  CHECK(step.at[hand.stepOf("z")].begin == 6);
  CHECK(step.at[hand.stepOf("z")].end == 8);
}
