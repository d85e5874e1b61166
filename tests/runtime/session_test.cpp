// Sessions: results, feeds, state and trace over the cpu and emulated gpus.
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"

#include "ir/plan/executable_parts.h"
#include "runtime/backend.h"
#include "runtime/checkpoint.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "tests/support/temporary_folder.h"

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace dfc;
using namespace dfc::test;

namespace {

/// z = x * y + 2, all on cpu0.
Graph smallest() {
  Builder g("smallest");
  const Tensor x = g.input("x", f32({3}));
  const Tensor y = g.input("y", f32({3}));
  g.fetch("z", (x * y + 2).named("z"));
  return finished(std::move(g));
}

/// a = x * x on gpu0, b = a + x on gpu1, c = b + a on cpu0: copies in, out and between peers.
Graph threeDevices() {
  Builder g("three");
  const Tensor x = g.input("x", f32({2}));
  const Tensor a = (x * x).named("a").on("gpu0");
  const Tensor b = (a + x).named("b").on("gpu1");
  g.fetch("c", (b + a).named("c").on("cpu0"));
  return finished(std::move(g));
}

/// w <- w + x each step; fetches the old value times 10.
Graph counter() {
  Builder g("counter");
  const Tensor x = g.input("x", f32({2}));
  const Tensor w = g.parameter("w", f32({2}), constantInit(1));
  g.fetch("seen", (w * 10).named("seen"));
  g.assign(w, (w + x).named("next"));
  return finished(std::move(g));
}

std::filesystem::path scratch(const std::string& name) {
  static const TemporaryFolder folder;
  return folder.path() / name;
}

} // namespace

TEST_CASE("session: the smallest graph gives its result") {
  const auto session = opened(tinyPlan(smallest(), smallMachine(0)));
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
  const auto session = opened(tinyPlan(smallest(), smallMachine(0)));
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

TEST_CASE("session: state persists from step to step, and reads see the old value") {
  const auto session = opened(tinyPlan(counter(), smallMachine(0)));
  const NamedLiterals feeds{{"x", floats({2}, {1, 2})}};
  CHECK(valuesOf(session->run(feeds)->at("seen")) == Floats{10, 10});
  CHECK(valuesOf(session->run(feeds)->at("seen")) == Floats{20, 30}); // (1 + 1) * 10, (1 + 2) * 10
  CHECK(valuesOf(session->state().at("w")) == Floats{3, 5});          // 1 + 2*1, 1 + 2*2
}

TEST_CASE("session: state on a gpu, set and read back") {
  Builder g("gpu state");
  const auto x = g.input("x", f32({2}));
  {
    const auto guard = g.on("gpu0");
    const Tensor w = g.parameter("w", f32({2}), constantInit(1));
    g.assign(w, w + x);
  }
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(1)));
  REQUIRE(session->setState({{"w", floats({2}, {5, 6})}}).ok());
  REQUIRE(session->run({{"x", floats({2}, {1, 1})}}).ok());
  CHECK(valuesOf(session->state().at("w")) == Floats{6, 7});
}

TEST_CASE("session: setState sets all or nothing") {
  Builder g("two");
  const Tensor a = g.parameter("alpha", f32({2}), constantInit(1));
  const Tensor b = g.parameter("beta", f32({1}), constantInit(2));
  g.fetch("sum", a + b);
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  const Status set = session->setState({{"alpha", floats({2}, {9, 9})},
                                        {"beta", floats({2}, {9, 9})},
                                        {"gama", Literal()},
                                        {"betta", Literal()}});
  CHECK(messagesOf(set.errors()) ==
        Strings{"parameter 'beta' is f32[1], but the value given is f32[2] | give a value of type f32[1]",
                "the plan has no parameter named 'betta' | did you mean 'beta'?",
                "the plan has no parameter named 'gama' | its parameters: alpha, beta"});
  CHECK(valuesOf(session->run({})->at("sum")) == Floats{3, 3});
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
  const auto session = opened(tinyPlan(counter(), smallMachine(0)), {.maxInFlight = 3});
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

TEST_CASE("session: checkpoints restore the parameters, and a foreign file changes nothing") {
  const auto session = opened(tinyPlan(counter(), smallMachine(0)));
  const NamedLiterals feeds{{"x", floats({2}, {1, 2})}};
  REQUIRE(session->run(feeds).ok());
  const std::string path = scratch("counter.safetensors").string();
  REQUIRE(saveState(*session, path).ok());
  REQUIRE(session->run(feeds).ok());
  REQUIRE(loadState(*session, path).ok());
  CHECK(valuesOf(session->state().at("w")) == Floats{2, 3});
  Builder g("other");
  g.fetch("v", g.parameter("v", f32({2}), constantInit(8)));
  const auto other = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  CHECK(messagesOf(loadState(*other, path).errors()) ==
        Strings{"has values for 0 of the plan's one parameter; 1 is missing: 'v'; 1 of its values is of no "
                "parameter: 'w' | use a file that was saved from this graph"});
  CHECK(valuesOf(other->state().at("v")) == Floats{8, 8});
}

TEST_CASE("session: a checkpoint whose parameters have other shapes is one error, too") {
  const auto net = [](int64_t width) {
    Builder g("net");
    g.fetch("y",
            g.parameter("w", f32({width}), constantInit(1)) + g.parameter("b", f32({1}), constantInit(1)));
    return opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  };
  const std::string path = scratch("narrow.safetensors").string();
  REQUIRE(saveState(*net(2), path).ok());
  CHECK(messagesOf(loadState(*net(3), path).errors()) ==
        Strings{"has values for 1 of the plan's 2 parameters; 1 is of another type: 'w' (f32[2], not f32[3]) "
                "| use a file that was saved from this graph"});
}

namespace {

/// With "lossScale" from the author, from a pass or from nobody.
std::unique_ptr<Session> scaledNet(bool ofAuthor, bool ofPlan) {
  GraphBuilder graph("net");
  Builder pass(graph);
  Tensor y = pass.parameter("w", f32({2}), constantInit(1));
  y = ofAuthor ? y * pass.parameter("lossScale", f32({}), constantInit(2)) : y;
  y = ofPlan ? y * pass.derivedParameter("lossScale", f32({}), constantInit(4)) : y;
  pass.fetch("y", y);
  return opened(tinyPlan(*std::move(graph).finish(), smallMachine(0)));
}

} // namespace

TEST_CASE("session: a checkpoint may lack what a plan derived, and hold what another plan derived") {
  const std::string with = scratch("scaled.safetensors").string(),
                    without = scratch("plain.safetensors").string();
  const auto plain = scaledNet(false, false), scaled = scaledNet(false, true), own = scaledNet(true, false);
  REQUIRE(plain->setState({{"w", floats({2}, {5, 6})}}).ok());
  REQUIRE(saveState(*plain, without).ok());
  CHECK(render(loadState(*scaled, without).errors()) == "");
  CHECK(valuesOf(scaled->state().at("w")) == Floats{5, 6});
  CHECK(scaled->state().at("lossScale").at(0) == 4);

  REQUIRE(scaled->setState({{"w", floats({2}, {7, 8})}, {"lossScale", Literal::scalar(16.0F)}}).ok());
  REQUIRE(saveState(*scaled, with).ok());
  CHECK(render(loadState(*plain, with).errors()) == "");
  CHECK(valuesOf(plain->state().at("w")) == Floats{7, 8});
  CHECK(plain->state().count("lossScale") == 0);
  REQUIRE(loadState(*own, with).ok());
  CHECK(own->state().at("lossScale").at(0) == 16);
  REQUIRE(loadState(*scaledNet(false, true), with).ok());

  CHECK(
      messagesOf(loadState(*own, without).errors()) ==
      Strings{"has values for 1 of the plan's 2 parameters; 1 is missing: 'lossScale' | use a file that was "
              "saved from this graph"});
  CHECK_FALSE(scaled->setState({{"lossScale", floats({2}, {1, 2})}}).ok());
  CHECK_FALSE(plain->setState({{"lossScaling", Literal::scalar(1.0F)}}).ok());
}

TEST_CASE("session: options that cannot hold are errors, all at once") {
  const auto plan = tinyPlan(smallest(), smallMachine(0));
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

TEST_CASE("session: setState comes after all steps that were submitted before") {
  const auto session = opened(tinyPlan(counter(), smallMachine(0)));
  const NamedLiterals start = session->state();
  for (int attempt = 0; attempt < 20; ++attempt) {
    for (int step = 0; step < 8; ++step) {
      REQUIRE(session->submit({{"x", floats({2}, {1, 2})}}).ok());
    }
    REQUIRE(session->setState(start).ok());
    CHECK(session->state() == start);
  }
}

TEST_CASE("session: the steps of each trace are counted from its first") {
  const auto session = opened(tinyPlan(counter(), smallMachine(0)), {.trace = true});
  for (int trace = 0; trace < 2; ++trace) {
    REQUIRE(session->run({{"x", floats({2}, {1, 2})}}).ok());
    REQUIRE(session->run({{"x", floats({2}, {1, 2})}}).ok());
    const Trace taken = session->takeTrace();
    REQUIRE_FALSE(taken.spans.empty());
    CHECK(taken.spans.front().stepNumber == 0);
    CHECK(taken.spans.back().stepNumber == 1);
  }
}

TEST_CASE("session: what names the tensor of a file follows the last '#'") {
  const auto folder = scratch("data#0") / "dir#1";
  std::filesystem::create_directories(folder);
  const NamedLiterals tensors{{"w", floats({2}, {3, 4})}, {"v", floats({2}, {5, 6})}};
  REQUIRE(writeSafetensors((folder / "all.safetensors").string(), tensors).ok());
  Builder g("from files");
  g.fetch("w", g.parameter("w", f32({2}), fromFile("dir#1/all.safetensors#w")));
  g.fetch("v", g.parameter("v", f32({2}), fromFile((folder / "all.safetensors#v").string())));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)),
                              {.dataFolder = folder.parent_path().string()});
  const auto results = session->run({});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("w")) == Floats{3, 4});
  CHECK(valuesOf(results->at("v")) == Floats{5, 6});
}

TEST_CASE("session: parameters from files, and what is wrong with the files") {
  const auto folder = scratch("data");
  std::filesystem::create_directories(folder);
  REQUIRE(writeNpy((folder / "w.npy").string(), floats({2}, {3, 4})).ok());
  Builder g("from files");
  g.fetch("w", g.parameter("w", f32({2}), fromFile("w.npy")));
  const auto session =
      opened(tinyPlan(finished(std::move(g)), smallMachine(0)), {.dataFolder = folder.string()});
  CHECK(valuesOf(session->run({})->at("w")) == Floats{3, 4});

  const auto checkpoint = opened(tinyPlan(counter(), smallMachine(0)));
  REQUIRE(saveState(*checkpoint, (folder / "all.safetensors").string()).ok());
  Builder h("wrong files");
  h.fetch("a", h.parameter("a", f32({3}), fromFile("w.npy")));
  h.fetch("b", h.parameter("b", f32({2}), fromFile("all.safetensors#W")));
  h.fetch("c", h.parameter("c", f32({2}), fromFile("all.safetensors")));
  const auto wrong =
      Session::open(tinyPlan(finished(std::move(h)), smallMachine(0)), {.dataFolder = folder.string()});
  REQUIRE_FALSE(wrong.ok());
  CHECK(
      messagesOf(wrong.errors()) ==
      Strings{
          "parameter 'a' is f32[3], but 'w.npy' holds f32[2] | convert the file, or give the parameter the "
          "file's type",
          "parameter 'b': '" + (folder / "all.safetensors").string() +
              "' has no tensor named 'W' | did you mean 'w'?",
          "parameter 'c': 'all.safetensors' holds several tensors | say which one: 'all.safetensors#name'"});
}

TEST_CASE("session: parameters by name and type, in order, and which of them steps change") {
  Builder g("three parameters");
  const Tensor x = g.input("x", f32({2}));
  const Tensor z = g.parameter("z", f32({2}), constantInit(1)); // not by name
  const Tensor a = g.parameter("a", i32({3}), constantInit(2));
  const Tensor b = g.parameter("b", f32({2}), constantInit(3));
  g.fetch("here", z * x + b);
  g.fetch("there", (z + x).named("there").on("gpu0"));
  g.fetch("a", a);
  g.assign(z, (z + x).named("next"));
  const auto plan = tinyPlan(finished(std::move(g)), smallMachine(1));
  const auto session = opened(plan);
  Strings rows;
  for (const Session::Parameter& row : session->parameters()) {
    rows.push_back(row.name + " " + toString(row.type) + (row.assigned ? " assigned" : ""));
  }
  CHECK(rows == Strings{"z f32[2] assigned", "a i32[3]", "b f32[2]"});
  CHECK(opened(tinyPlan(smallest(), smallMachine(0)))->parameters().empty());
}

TEST_CASE("session: setState sets a parameter's replicas too") {
  Builder g("replica");
  const Tensor w = g.parameter("w", f32({2}), constantInit(1));
  const Tensor replica = g.parameter("w on gpu0", f32({2}), constantInit(1)).on("gpu0");
  const Tensor x = g.input("x", f32({2}));
  g.fetch("here", x + w);
  g.fetch("there", (x + replica).on("gpu0"));
  const Machine machine = smallMachine(1);
  PlacedGraph placed = placeByPins(finished(std::move(g)), machine);
  const auto producer = [&](const char* name) { return placed.graph[placed.graph.findValue(name)].producer; };
  placed.replicas[producer("w on gpu0")] = producer("w");
  auto plan = Executable::seal(placed, plainSchedule(placed, machine), plainMemory(placed, machine), machine,
                               "by hand");
  REQUIRE(plan.ok());
  const auto session = opened(std::make_shared<const Executable>(*std::move(plan)));
  CHECK(session->parameters().size() == 1);
  REQUIRE(session->setState({{"w", floats({2}, {5, 6})}}).ok());
  const auto results = session->run({{"x", floats({2}, {1, 2})}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("here")) == Floats{6, 8});
  CHECK(valuesOf(results->at("there")) == Floats{6, 8});
}
