// A trace comes back as it was written, and what is not the trace of this plan is refused where it differs.
#include "ir/plan/trace_reader.h"

#include "tests/ir/plan/plan_fixture.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

Executable sealed() {
  Result<Executable> executable = test::HandPlan().seal();
  REQUIRE(executable.ok());
  return *std::move(executable);
}

Trace twoRounds(const Executable& plan) {
  Trace trace = predictedTrace(plan);
  trace.origin = Trace::Origin::Measured;
  trace.backends = {"cpu", "emulated"};
  const std::vector<Span> first = trace.spans;
  for (Span span : first) {
    span.stepNumber = 1;
    span.begin = 10 + 1.5 * span.begin;
    span.end = 10 + 1.5 * span.end;
    trace.spans.push_back(span);
  }
  return trace;
}

std::string fileOf(const Executable& plan) {
  const Trace predicted = predictedTrace(plan), measured = twoRounds(plan);
  return chromeTrace({&predicted, &measured}, plan);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.rfind(from); // of the two processes the last is the measured one
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// What the file is refused with.
std::string refusal(const std::string& text, const Executable& plan) {
  const auto trace = parseMeasuredTrace(text, "t.json", plan);
  REQUIRE_FALSE(trace.ok());
  return render(trace.errors());
}

constexpr const char* hint =
    "  hint: run this plan again with dfc run PLAN --trace FILE.json, and draw that file\n";

} // namespace

TEST_CASE("trace reader: what was written comes back") {
  const Executable plan = sealed();
  const auto read = parseMeasuredTrace(fileOf(plan), "t.json", plan);
  REQUIRE(read.ok());
  CHECK(read->origin == Trace::Origin::Measured);
  CHECK(read->backends == std::vector<std::string>{"cpu", "emulated"});
  const Trace expected = twoRounds(plan);
  REQUIRE(read->spans.size() == expected.spans.size());
  for (size_t i = 0; i < expected.spans.size(); ++i) {
    CHECK(read->spans[i].step == expected.spans[i].step);
    CHECK(read->spans[i].stepNumber == expected.spans[i].stepNumber);
    CHECK(std::abs(read->spans[i].begin - expected.spans[i].begin) <= 1e-9); // ns are what the file keeps
    CHECK(std::abs(read->spans[i].end - expected.spans[i].end) <= 1e-9);
  }
}

TEST_CASE("trace reader: a file without backends is read") {
  const Executable plan = sealed();
  const Trace predicted = predictedTrace(plan);
  Trace measured = twoRounds(plan);
  measured.backends.clear();
  const auto read = parseMeasuredTrace(chromeTrace({&predicted, &measured}, plan), "t.json", plan);
  REQUIRE(read.ok());
  CHECK(read->backends.empty());
  CHECK(refusal(replaced(fileOf(plan), R"("gpu0":"emulated")", R"("gpu0":3)"), plan)
            .find("args.backends.gpu0: number where ") != std::string::npos);
}

TEST_CASE("trace reader: the trace of another plan is refused at the first difference") {
  const Executable plan = sealed();
  const std::string file = fileOf(plan);
  const std::string op = refusal(replaced(file, R"("name":"v","cat")", R"("name":"u","cat")"), plan);
  CHECK(op.find("t.json:") == 0);
  CHECK(op.find(".name: the trace of another plan: this one has no op 'u'\n") != std::string::npos);
  CHECK(op.find(hint) != std::string::npos);
  const std::string queue =
      refusal(replaced(file, R"({"name":"gpu0 copyIn"})", R"({"name":"gpu7 copyIn"})"), plan);
  CHECK(queue.find("args.name: the trace of another plan: machine 'hand' has no queue 'gpu7 copyIn'") !=
        std::string::npos);
  const std::string moved = refusal(replaced(file, R"("name":"z","cat":"compute","pid":2,"tid":4)",
                                             R"("name":"z","cat":"compute","pid":2,"tid":3)"),
                                    plan);
  CHECK(moved.find("the trace of another plan: in this one 'z' runs on gpu0 compute") != std::string::npos);

  test::HandPlan other;
  other.step("w@gpu0.next").end = 9;
  other.schedule.makespan = 9;
  const auto slower = other.seal();
  REQUIRE(slower.ok());
  CHECK(refusal(file, *slower)
            .find("the trace of another plan: this one predicts 'w@gpu0.next' from 7.00 s to "
                  "9.00 s, that one from 7.00 s to 8.00 s") != std::string::npos);
}

TEST_CASE("trace reader: broken files are refused where they break") {
  const Executable plan = sealed();
  const std::string file = fileOf(plan);
  CHECK(refusal(file.substr(0, file.find("\"dur\"")), plan).find("  hint: the file ends too early") !=
        std::string::npos);
  CHECK(refusal("", plan).find("hint: the file is empty") != std::string::npos);
  CHECK(refusal("[]", plan).find("a trace holds one object") != std::string::npos);
  CHECK(refusal("{}", plan).find("\"traceEvents\" is missing") != std::string::npos);
  CHECK(refusal(R"({"traceEvents": 3})", plan).find("traceEvents: number where an array belongs") !=
        std::string::npos);
  CHECK(refusal(R"({"traceEvents": [7]})", plan).find("traceEvents[0]: number where an object belongs") !=
        std::string::npos);
  const Trace predicted = predictedTrace(plan);
  CHECK(refusal(chromeTrace({&predicted}, plan), plan).find("traceEvents: there are no measured spans") !=
        std::string::npos);
  CHECK(refusal(replaced(file, R"("dur":1500000.000)", R"("dur":-1)"), plan)
            .find("dur: a span does not end before it begins") != std::string::npos);
  CHECK(refusal(replaced(file, R"("dur":1500000.000)", R"("dur":"long")"), plan)
            .find("dur: string where a number belongs") != std::string::npos);
  CHECK(refusal(replaced(file, R"("step":1)", R"("step":-1)"), plan)
            .find("step: -1 is no whole number in range") != std::string::npos);
  CHECK(refusal(replaced(file, R"("step":1)", R"("step":0)"), plan)
            .find("the same op in step 0 a second time") != std::string::npos);
}
