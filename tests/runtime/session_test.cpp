// Sessions: results, feeds and trace over the cpu and emulated gpus.
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"

#include "ir/plan/executable_parts.h"
#include "runtime/backend.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

/// a = x * x on gpu0, b = a + x on gpu1, c = b + a on cpu0: copies in, out and between peers.
Graph threeDevices() {
  Builder g("three");
  const Tensor x = g.input("x", f32({2}));
  const Tensor a = (x * x).named("a").on("gpu0");
  const Tensor b = (a + x).named("b").on("gpu1");
  g.fetch("c", (b + a).named("c").on("cpu0"));
  return finished(std::move(g));
}

} // namespace

TEST_CASE("session: the smallest graph gives its result") {
  const auto session = opened(tinyPlan(smallestGraph(), smallMachine(0)));
  const auto results = session->run({{"x", floats({3}, {1, 2, 3})}, {"y", floats({3}, {4, 5, 6})}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("z")) == Floats{6, 12, 20}); // 1*4+2, 2*5+2, 3*6+2
  CHECK(session->deviceReport() == Strings{"cpu0: cpu"});
}

TEST_CASE("session: no plan at all is a mistake that is said") {
  const auto session = Session::open(nullptr);
  REQUIRE_FALSE(session.ok());
  CHECK_THAT(session.errors().front().message, containing("Session::open of no plan"));
}

TEST_CASE("session: values travel between a cpu and two gpus") {
  const auto session = opened(tinyPlan(threeDevices(), smallMachine(2)));
  for (float round = 1; round < 20; ++round) {
    const auto results = session->run({{"x", floats({2}, {round, -round})}});
    REQUIRE(results.ok());
    // c = (x*x + x) + x*x
    CHECK(valuesOf(results->at("c")) == Floats{2 * round * round + round, 2 * round * round - round});
  }
  CHECK(session->deviceReport() == Strings{"cpu0: cpu", "gpu0: emulated", "gpu1: emulated"});
}

TEST_CASE("session: all mistakes of the feeds come at once, each naming the input") {
  const auto session = opened(tinyPlan(smallestGraph(), smallMachine(0)));
  const auto wrong =
      session->run({{"x", floats({2}, {1, 2})}, {"yy", floats({3}, {4, 5, 6})}, {"extra", Literal()}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(messagesOf(wrong.errors()) ==
        Strings{"the plan has no input named 'extra' | the inputs are 'x' f32[3], 'y' f32[3]",
                "input 'x' is f32[3], but the value fed is f32[2] | feed a value of shape [3], or compile "
                "the graph for "
                "[2]",
                "the plan has no input named 'yy' | did you mean 'y'?",
                "input 'y' is not fed | feed a value of type f32[3]"});
  const auto both = session->run({{"x", Literal(i32({2}))}, {"y", floats({3}, {4, 5, 6})}});
  CHECK(messagesOf(both.errors()) ==
        Strings{"input 'x' is f32[3], but the value fed is i32[2] | convert the value to f32; and feed a "
                "value of shape [3], or compile the graph for [2]"});
  const auto type = session->run({{"x", Literal(i32({3}))}, {"y", floats({3}, {4, 5, 6})}});
  CHECK(messagesOf(type.errors()) ==
        Strings{"input 'x' is f32[3], but the value fed is i32[3] | convert the value to "
                "f32"});
  CHECK(session->run({{"x", floats({3}, {1, 2, 3})}, {"y", floats({3}, {4, 5, 6})}}).ok()); // still usable
}

TEST_CASE("session: values that were fed to one another's inputs are told as swapped") {
  Builder g("pair");
  const Tensor images = g.input("images", f32({2, 3})), labels = g.input("labels", i64({2}));
  g.fetch("loss", softmaxCrossEntropy(images, labels));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  const auto wrong = session->run({{"images", Literal(i64({2}))}, {"labels", Literal(f32({2, 3}))}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(messagesOf(wrong.errors()) ==
        Strings{"the values of inputs 'images' and 'labels' are swapped: each fits the other, f32[2, 3] and "
                "i64[2] | feed each to the other's name"});
}

TEST_CASE("session: results outlive the steps that follow") {
  const auto session = opened(tinyPlan(threeDevices(), smallMachine(2)));
  std::vector<NamedLiterals> results;
  for (float round = 0; round < 10; ++round) {
    results.push_back(*session->run({{"x", floats({2}, {round, 1})}}));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const auto x = static_cast<float>(i);
    CHECK(valuesOf(results[i].at("c")) == Floats{2 * x * x + x, 3});
  }
}

TEST_CASE("session: steps in flight see the feeds as they were when submitted") {
  const auto session = opened(tinyPlan(countingGraph(), smallMachine(0)), {.maxInFlight = 3});
  Literal x = floats({2}, {0, 0});
  std::vector<Session::Pending> pending;
  for (int i = 1; i <= 50; ++i) {
    x.set(0, i); // detaches from what earlier steps were fed
    pending.push_back(*session->submit({{"x", x}}));
  }
  session->waitAll();
  for (size_t i = 0; i < pending.size(); ++i) {
    CHECK(pending[i].done());
    const auto n = static_cast<float>(i);
    CHECK(valuesOf(pending[i].wait().at("seen"))[0] == 10 * (1 + n * (n + 1) / 2)); // 1 + the sum of 1 ... n
  }
  CHECK(valuesOf(session->state().at("w")) == Floats{1 + 50 * 51 / 2, 1});
}

TEST_CASE("session: one fetch by name, and a wrong name") {
  const auto session = opened(tinyPlan(threeDevices(), smallMachine(2)));
  const auto pending = session->submit({{"x", floats({2}, {2, 3})}});
  REQUIRE(pending.ok());
  CHECK(valuesOf(*pending->wait("c")) == Floats{10, 21}); // 4 + 2 + 4, 9 + 3 + 9
  CHECK(messagesOf(pending->wait("loss").errors()) ==
        Strings{"the plan fetches nothing named 'loss' | its fetches: c"});
}

TEST_CASE("session: a value fetched twice, an input, a parameter and a constant can be fetched") {
  Builder g("fetches");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({2}), constantInit(4));
  const Tensor y = (x + w).named("y");
  g.fetch("x", x);
  g.fetch("w", w);
  g.fetch("c", g.constant(floats({1}, {7})));
  g.fetch("y", y);
  g.fetch("again", y);
  g.fetch("flat", reshape(x, {1, 2}));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  const auto results = session->run({{"x", floats({2}, {1, 2})}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("x")) == Floats{1, 2});
  CHECK(valuesOf(results->at("w")) == Floats{4, 4});
  CHECK(valuesOf(results->at("c")) == Floats{7});
  CHECK(valuesOf(results->at("y")) == Floats{5, 6});
  CHECK(valuesOf(results->at("again")) == Floats{5, 6});
  CHECK(results->at("flat") == floats({1, 2}, {1, 2}));
}

TEST_CASE("session: a value may be fetched from the gpu that makes it") {
  Builder g("on gpu");
  const Tensor x = g.input("x", f32({2}));
  g.fetch("y", (x + x).named("y").on("gpu0"));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(1), true));
  CHECK(valuesOf(session->run({{"x", floats({2}, {1, 2})}})->at("y")) == Floats{2, 4});
}

TEST_CASE("session: a plan without inputs, and one without steps") {
  Builder g("none");
  g.fetch("p", g.parameter("p", f32({2}), constantInit(3)));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  CHECK(valuesOf(session->run({})->at("p")) == Floats{3, 3});
  CHECK(messagesOf(session->run({{"p", Literal()}}).errors()) ==
        Strings{"the plan has no input named 'p' | the plan has no inputs"});
  Builder h("nothing");
  h.fetch("c", h.constant(Literal(f32({0}))));
  CHECK(opened(tinyPlan(finished(std::move(h)), smallMachine(0)))->run({})->at("c").type() == f32({0}));
  const auto empty = opened(tinyPlan(finished(Builder("empty")), smallMachine(0)));
  CHECK(empty->run({})->empty());
}

TEST_CASE("session: the trace holds every step once a round, rounds one after the other") {
  const auto plan = tinyPlan(threeDevices(), smallMachine(2));
  const auto session = opened(plan, {.trace = true});
  std::vector<Session::Pending> pending;
  constexpr uint32_t rounds = 5;
  for (uint32_t i = 0; i < rounds; ++i) {
    pending.push_back(*session->submit({{"x", floats({2}, {1, 2})}}));
  }
  const Trace trace = session->takeTrace();
  CHECK(trace.origin == Trace::Origin::Measured);
  REQUIRE(trace.spans.size() == rounds * plan->schedule().steps.size());
  CHECK(trace.spans.front().begin == 0);
  std::vector<double> firstBegin(rounds, 1e9), lastEnd(rounds, 0);
  for (const Span& span : trace.spans) {
    firstBegin.at(span.stepNumber) = std::min(firstBegin.at(span.stepNumber), span.begin);
    lastEnd.at(span.stepNumber) = std::max(lastEnd.at(span.stepNumber), span.end);
    CHECK(span.begin <= span.end);
  }
  for (uint32_t i = 1; i < rounds; ++i) {
    CHECK(lastEnd[i - 1] <= firstBegin[i]);
  }
  CHECK(session->takeTrace().spans.empty());
}

TEST_CASE("session: emulated memory is NaN before anything is written, and nobody else's") {
  const Machine machine = smallMachine(1);
  const auto group = backendNamed("emulated")->open({DeviceRequest{machine.devices[DeviceId(1)], 0}}, {});
  const auto arena = group->allocate(0, 4 * sizeof(float));
  Floats seen(4);
  arena->read(0, std::as_writable_bytes(std::span(seen)));
  CHECK(std::all_of(seen.begin(), seen.end(), [](float value) { return std::isnan(value); }));
  CHECK(arena->hostAddress() == nullptr);
}

TEST_CASE("session: null devices keep the order and compute nothing") {
  const auto plan = tinyPlan(threeDevices(), smallMachine(2));
  const auto session = opened(plan, {.cpuBackend = "null", .gpuBackend = "null", .trace = true});
  const auto results = session->run({{"x", floats({2}, {1, 2})}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("c")) == Floats{0, 0});
  CHECK(session->takeTrace().spans.size() == plan->schedule().steps.size());
}

TEST_CASE("session: options that cannot hold are errors, all at once") {
  const auto plan = tinyPlan(smallestGraph(), smallMachine(0));
  const auto wrong = Session::open(
      plan, {.maxInFlight = 0, .timeoutSeconds = -1, .moduleFolder = "no/modules", .dataFolder = "no/data"});
  CHECK(
      messagesOf(wrong.errors()) ==
      Strings{"SessionOptions::moduleFolder: there is no folder 'no/modules' | name the folder that holds "
              "libdfc_onednn.so, or leave it empty for the usual places",
              "SessionOptions::dataFolder: there is no folder 'no/data' | name the folder that the "
              "initialisers' relative files start at",
              "SessionOptions::maxInFlight is 0, so that no step could be submitted | give 1 for one step at "
              "a time, 2 (the default) or more",
              "SessionOptions::timeoutSeconds is -1 | 0 means no limit"});
  CHECK(Session::open(plan, {.maxInFlight = 1, .moduleFolder = ".", .dataFolder = ""}).ok());
}

TEST_CASE("session: the steps of each trace are counted from its first") {
  const auto session = opened(tinyPlan(countingGraph(), smallMachine(0)), {.trace = true});
  for (int trace = 0; trace < 2; ++trace) {
    REQUIRE(session->run({{"x", floats({2}, {1, 2})}}).ok());
    REQUIRE(session->run({{"x", floats({2}, {1, 2})}}).ok());
    const Trace taken = session->takeTrace();
    REQUIRE_FALSE(taken.spans.empty());
    CHECK(taken.spans.front().stepNumber == 0);
    CHECK(taken.spans.back().stepNumber == 1);
  }
}
