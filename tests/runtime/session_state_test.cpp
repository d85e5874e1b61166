// The state of sessions: parameters from step to step, set and read, in checkpoints and from other files.
#include "tests/runtime/session_support.h"

#include "ir/graph/initialise.h"
#include "ir/plan/executable_parts.h"
#include "runtime/checkpoint.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"
#include "runtime/weights/load_weights.h"
#include "tests/support/temporary_folder.h"

#include <filesystem>

using namespace dfc;
using namespace dfc::test;

namespace {

std::filesystem::path scratch(const std::string& name) {
  static const TemporaryFolder folder;
  return folder.path() / name;
}

Literal filled(const Shape& shape, double value) {
  Literal literal(f32(shape));
  for (int64_t i = 0; i < shape.elements(); ++i) {
    literal.set(i, value);
  }
  return literal;
}

} // namespace

TEST_CASE("session: state persists from step to step, and reads see the old value") {
  const auto session = opened(tinyPlan(countingGraph(), smallMachine(0)));
  const NamedLiterals feeds{{"x", floats({2}, {1, 2})}};
  CHECK(valuesOf(session->run(feeds)->at("seen")) == Floats{10, 10});
  CHECK(valuesOf(session->run(feeds)->at("seen")) == Floats{20, 30}); // (1 + 1) * 10, (1 + 2) * 10
  CHECK(valuesOf(session->state().at("w")) == Floats{3, 5});          // 1 + 2*1, 1 + 2*2
}

TEST_CASE("session: a view of a parameter is the parameter") {
  auto session = opened(tinyPlan(countingGraph(), smallMachine(0)));
  const Literal view = session->view("w").orThrow();
  Literal written = view;
  CHECK(valuesOf(view) == Floats{1, 1});
  REQUIRE(session->run({{"x", floats({2}, {1, 2})}}).ok());
  CHECK(valuesOf(view) == Floats{2, 3});
  written.mutableData<float>()[0] = 9; // a copy's
  CHECK(valuesOf(session->state().at("w")) == Floats{2, 3});
  CHECK(session->view("v").errors()[0].message == "the plan has no parameter 'v'");
  session.reset();
  CHECK(valuesOf(view) == Floats{2, 3});
}

TEST_CASE("session: products see the weights that the caller sets between steps") {
  for (const int gpus : {0, 1}) {
    Builder g("layer");
    const auto x = g.input("x", f32({3, 200}));
    {
      const auto guard = g.on(gpus == 0 ? "cpu0" : "gpu0");
      const Tensor w = g.parameter("w", f32({200, 100}), constantInit(1));
      g.fetch("y", matmul(x, w));
    }
    const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(gpus)));
    const NamedLiterals feeds{{"x", filled({3, 200}, 2)}};
    for (const double weight : {1., 3., -1.}) {
      if (weight != 1) {
        REQUIRE(session->setState({{"w", filled({200, 100}, weight)}}).ok());
      }
      for (int step = 0; step < 2; ++step) {
        const Literal y = session->run(feeds)->at("y");
        CHECK((y.at(0) == 400 * weight && y.at(299) == 400 * weight)); // 200 * 2 * weight
      }
    }
  }
}

TEST_CASE("session: no view of a parameter in a device's own memory") {
  Builder g("gpu state");
  const auto guard = g.on("gpu0");
  const Tensor w = g.parameter("w", f32({2}), constantInit(1));
  g.fetch("y", w * 2);
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(1)));
  CHECK(session->view("w").errors()[0].hint == "copy it with Session::state");
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

TEST_CASE("session: a parameter kept in 16 bits follows its original, first, set and updated") {
  for (const int gpus : {0, 1}) {
    Builder g("narrow state");
    const auto x = g.input("x", f32({2}));
    {
      const auto guard = g.on(gpus == 0 ? "cpu0" : "gpu0");
      const Tensor w = g.parameter("w", f32({2}), constantInit(1 + 0x1p-9)); // 1 in bf16
      g.fetch("rounded", cast(cast(w, ElementType::BF16) * 2.0, ElementType::F32));
      g.assign(w, w + x);
    }
    const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(gpus)));
    const NamedLiterals feeds{{"x", floats({2}, {1, 2})}};
    CHECK(valuesOf(session->run(feeds)->at("rounded")) == Floats{2, 2});
    CHECK(valuesOf(session->run(feeds)->at("rounded")) == Floats{4, 6});
    CHECK(valuesOf(session->state().at("w")) == Floats{3 + 0x1p-9F, 5 + 0x1p-9F});
    CHECK(session->state().size() == 1);
    REQUIRE(session->setState({{"w", floats({2}, {256.75F, -8})}}).ok());
    CHECK(valuesOf(session->run(feeds)->at("rounded")) == Floats{512, -16}); // bf16 has 8 bits
  }
}

TEST_CASE("session: a filter that no step assigns may be set between steps") {
  // Kernels keep such a filter packed; one that is fed is packed in each step.
  const TensorType image = f32({2, 8, 10, 10}), filter = f32({48, 8, 3, 3});
  const auto convolved = [&](bool isParameter) {
    Builder g("evaluation");
    const Tensor x = g.input("x", image);
    const Tensor w = isParameter ? g.parameter("w", filter, constantInit(1)) : g.input("w", filter);
    g.fetch("y", conv2d(x, w));
    return opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  };
  const auto kept = convolved(true), fed = convolved(false);
  const auto drawn = [](const TensorType& type, int64_t seed) {
    ops::Parameter values;
    values.type = type;
    values.initialiser = ops::Parameter::Initialiser::Normal;
    values.b = 1;
    values.seed = seed;
    return initialise(values);
  };
  for (int64_t step = 0; step < 4; ++step) {
    const Literal x = drawn(image, step), w = drawn(filter, 10 + step / 2);
    if (step % 2 == 0) {
      REQUIRE(kept->setState({{"w", w}}).ok());
    }
    CHECK(kept->run({{"x", x}})->at("y") == fed->run({{"x", x}, {"w", w}})->at("y"));
  }
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

TEST_CASE("session: checkpoints restore the parameters, and a foreign file changes nothing") {
  const auto session = opened(tinyPlan(countingGraph(), smallMachine(0)));
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

TEST_CASE("session: setState comes after all steps that were submitted before") {
  const auto session = opened(tinyPlan(countingGraph(), smallMachine(0)));
  const NamedLiterals start = session->state();
  for (int attempt = 0; attempt < 20; ++attempt) {
    for (int step = 0; step < 8; ++step) {
      REQUIRE(session->submit({{"x", floats({2}, {1, 2})}}).ok());
    }
    REQUIRE(session->setState(start).ok());
    CHECK(session->state() == start);
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

  const auto checkpoint = opened(tinyPlan(countingGraph(), smallMachine(0)));
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

TEST_CASE("session: a part of a parameter reads its place in the file of the whole") {
  const auto folder = scratch("parts");
  std::filesystem::create_directories(folder);
  REQUIRE(writeNpy((folder / "w.npy").string(), floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})).ok());
  ops::Parameter part;
  part.type = f32({2, 2});
  part.initialiser = Initialiser::Kind::File;
  part.file = "w.npy";
  part.part.starts = {1, 1};
  part.part.whole = {3, 4};
  Builder g("part from a file");
  g.fetch("w", g.op(part, {}, std::source_location::current()));
  const auto session =
      opened(tinyPlan(finished(std::move(g)), smallMachine(0)), {.dataFolder = folder.string()});
  CHECK(valuesOf(session->run({})->at("w")) == Floats{5, 6, 9, 10});
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
  CHECK(opened(tinyPlan(smallestGraph(), smallMachine(0)))->parameters().empty());
}

namespace {

/// w f32[2], all `start`, and its replica in `element` on gpu0; x plus each.
std::shared_ptr<const Executable> replicaPlan(ElementType element, double start = 1) {
  Builder g("replica");
  const Tensor w = g.parameter("w", f32({2}), constantInit(start));
  const Tensor replica = g.parameter("w on gpu0", {element, {2}}, constantInit(start)).on("gpu0");
  const Tensor x = g.input("x", f32({2}));
  g.fetch("here", x + w);
  g.fetch("there", (x + cast(replica, ElementType::F32).on("gpu0")).on("gpu0"));
  const Machine machine = smallMachine(1);
  PlacedGraph placed = placeByPins(finished(std::move(g)), machine);
  const auto producer = [&](const char* name) { return placed.graph[placed.graph.findValue(name)].producer; };
  placed.replicas[producer("w on gpu0")] = producer("w");
  auto plan = Executable::seal(placed, plainSchedule(placed, machine), plainMemory(placed, machine), machine,
                               "by hand");
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return std::make_shared<const Executable>(*std::move(plan));
}

} // namespace

TEST_CASE("session: a value that a replica of f16 would have as infinity is refused") {
  const auto session = opened(replicaPlan(ElementType::F16));
  const Status set = session->setState({{"w", floats({2}, {7, 1e6F})}});
  REQUIRE(!set.ok());
  CHECK(messagesOf(set.errors()) ==
        Strings{
            "parameter 'w': element 1 is 1000000, which its copy for products in f16 cannot hold | plan with "
            "the precision bf16, which has the range of f32, or scale the weights"});
  const TemporaryFolder folder;
  const std::string path = folder.file("w.safetensors");
  REQUIRE(writeSafetensors(path, {{"w", floats({2}, {7, 1e6F})}}).ok());
  CHECK(loadState(*session, path).errors().at(0).where.file == path);
  for (const bool partial : {false, true}) {
    WeightOptions options;
    options.partial = partial;
    CHECK(loadWeights(*session, path, options).errors().at(0).where.file == path);
  }
  CHECK(session->state().at("w") == floats({2}, {1, 1}));
  REQUIRE(session->setState({{"w", floats({2}, {7, std::numeric_limits<float>::infinity()})}}).ok());
  CHECK(session->run({{"x", floats({2}, {1, 2})}})->at("there").at(0) == 8);
  const auto begun = Session::open(replicaPlan(ElementType::F16, 1e6));
  REQUIRE(!begun.ok());
  CHECK(begun.errors()[0].message ==
        "parameter 'w': element 0 is 1000000, which its copy for products in f16 cannot hold");
}

TEST_CASE("session: a parameter that starts beyond the range of its type is refused where it was written") {
  Builder g("half");
  for (const auto& [name, start] : {std::pair("a", constantInit(65520)), std::pair("b", uniform(0, 1e6, 1)),
                                    std::pair("c", constantInit(65519)),
                                    std::pair("d", constantInit(-std::numeric_limits<double>::infinity()))}) {
    g.fetch(name, g.parameter(name, {ElementType::F16, {2}}, start) * 2);
  }
  const auto session = Session::open(tinyPlan(finished(std::move(g)), smallMachine(0)));
  REQUIRE(!session.ok());
  const std::string way =
      " | give a smaller number, or the parameter a wider type; write infinity where it is meant";
  CHECK(messagesOf(session.errors()) ==
        Strings{"parameter 'a' starts with 65520, which f16 cannot hold" + way,
                "parameter 'b' starts with 1000000, which f16 cannot hold" + way});
  CHECK(session.errors()[0].where.line > 0);
}

TEST_CASE("session: setState sets a parameter's replicas too") {
  const auto session = opened(replicaPlan(ElementType::F32));
  CHECK(session->parameters().size() == 1);
  REQUIRE(session->setState({{"w", floats({2}, {5, 6})}}).ok());
  const auto results = session->run({{"x", floats({2}, {1, 2})}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("here")) == Floats{6, 8});
  CHECK(valuesOf(results->at("there")) == Floats{6, 8});
}
