// Plans whose invariant ops are computed once: the results are to the bit those of plans that compute them in
// every step, on one device and on several, whatever happens to the weights between steps.
#include "tests/property/plan_runs.h"

#include "ir/plan/state/preparation.h"
#include "runtime/checkpoint.h"
#include "tests/support/parsed.h"
#include "tests/support/temporary_folder.h"

using namespace dfc;
using namespace dfc::test;

namespace {

/// Packed weights with scales, a batch norm's factors, a table that is sliced and joined.
constexpr const char* layerText = R"(graph layer {
  input x : f32[4, 8]
  parameter packed : u8[8, 6] = constant(3)
  parameter scale : f32[6] = uniform(0.5, 1.5, seed=1)
  parameter gamma : f32[6] = uniform(0.5, 1.5, seed=2)
  parameter variance : f32[6] = uniform(0.5, 1.5, seed=3)
  parameter table : f32[16, 6] = normal(0, 1, seed=4)
  w = mul(sub(cast(packed, to=f32), 1.5), scale)
  factor = div(gamma, sqrt(add(variance, 0.001)))
  places = slice(table, starts=[3, 0], ends=[7, 6])
  y = add(mul(matmul(x, w), factor), places)
  fetch y
  fetch factor
})";

CompileOptions without(CompileOptions options = {}) {
  options.skipPasses.emplace_back("hoist_invariant_ops");
  return options;
}

std::unique_ptr<Session> opened(std::shared_ptr<const Executable> plan, const Session* state = nullptr) {
  SessionOptions options;
  options.gpuBackend = "emulated"; // bits are compared, also on a host with GPUs
  auto session = state == nullptr ? Session::open(std::move(plan), options)
                                  : Session::open(std::move(plan), options, *state);
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

Literal resultOf(Session& session, const std::string& fetch = "y") {
  const Graph layer = parsed(layerText);
  return session.run(randomFeeds(layer, 1)).orThrow().at(fetch);
}

/// What a plan without a preparation gives for this state.
Literal expectedOf(const NamedLiterals& state) {
  const auto session = opened(planOf(parsed(layerText), machineOf({}), without()));
  REQUIRE(session->setState(state).ok());
  return resultOf(*session);
}

size_t stepsOf(const Executable& plan) { return plan.schedule().steps.size(); }

std::vector<std::string> namesOf(const std::vector<Session::Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Session::Parameter& row : parameters) {
    names.push_back(row.name);
  }
  return names;
}

/// Policies that split may split a step without hoisted ops otherwise, and sums of other parts round
/// otherwise: few of their graphs may differ. All others have the same bits.
void checkRandomGraphs(uint64_t first, uint64_t last) {
  size_t prepared = 0, split = 0, different = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    RandomGraphOptions options;
    options.ops = 24;
    const Graph graph = randomGraph(seed, options);
    const Machine machine = machineOf({.gpus = static_cast<int>(seed % 3), .peers = seed % 2 == 0});
    CompileOptions choices;
    choices.policy = seed % 8 == 0 ? "auto" : seed % 8 == 1 ? "split" : "heft";
    const auto once = planOf(graph, machine, choices);
    prepared += once->preparation() != nullptr ? 1 : 0;
    const auto expected = run(planOf(graph, machine, without(choices)), graph, seed, 2);
    const auto actual = run(once, graph, seed, 2);
    INFO("seed " << seed);
    if (choices.policy == "heft") {
      checkSame(expected, actual);
    } else {
      split += once->preparation() != nullptr ? 1 : 0;
      different += difference(expected, actual).empty() ? 0 : 1;
    }
  }
  CHECK(prepared > (last - first) / 4);
  CHECK(split > 0);
  CHECK(different <= split / 20);
}

} // namespace

TEST_CASE("preparation: a step computes what depends on its feeds, to the same bits") {
  const Graph layer = parsed(layerText);
  for (const int gpus : {0, 2}) {
    for (const char* policy : {"single", "heft", "split", "auto"}) {
      INFO(gpus << " GPUs, policy " << policy);
      CompileOptions options;
      options.policy = policy;
      const Machine machine = machineOf({.gpus = gpus, .peers = true});
      const auto once = planOf(layer, machine, options);
      REQUIRE(once->preparation() != nullptr);
      CHECK(preparationSize(*once).computations >= 2); // w is small, and computed in the cache
      CHECK(preparationSize(*once).bytes >= 4 * (6 + 4 * 6));
      const auto always = planOf(layer, machine, without(options));
      CHECK(always->preparation() == nullptr);
      CHECK(once->predictedSeconds() <= always->predictedSeconds() * (1 + 1e-9));
      checkSame(run(always, layer, 1, 3), run(once, layer, 1, 3));
    }
  }
}

TEST_CASE("preparation: a weight that is cut, or read on another device") {
  const Graph layer = parsed(layerText);
  const Machine machine = machineOf({.gpus = 2, .peers = true});
  const auto expected = run(planOf(layer, machineOf({}), without()), layer, 1, 2);
  for (const std::vector<SplitWish>& splits :
       {std::vector<SplitWish>{{"y", 1, "gpu*"}}, {{"w", 0, "gpu*"}}, {{"y", 0, "gpu*"}}}) {
    CompileOptions options;
    options.splits = splits;
    const auto plan = planOf(layer, machine, options);
    REQUIRE(plan->preparation() != nullptr);
    // Parts of w along its rows give partial sums, which round otherwise than those of one device.
    checkSame(run(planOf(layer, machine, without(options)), layer, 1, 2), run(plan, layer, 1, 2));
  }
  for (uint64_t seed = 0; seed < 8; ++seed) {
    CompileOptions options;
    options.pins = randomPins(layer, seed);
    options.policy = "pins";
    const auto plan = planOf(layer, machine, options);
    REQUIRE(plan->preparation() != nullptr);
    checkSame(expected, run(plan, layer, 1, 2));
  }
}

TEST_CASE("preparation: random graphs have the bits of plans without") { checkRandomGraphs(0, 40); }

TEST_CASE("preparation: random graphs, the long run", "[heavy]") { checkRandomGraphs(1000, 2000); }

TEST_CASE("preparation: prepared parameters are no state, and a written weight is prepared anew") {
  for (const int gpus : {0, 2}) {
    const auto session = opened(planOf(parsed(layerText), machineOf({.gpus = gpus}), {}));
    const std::vector<std::string> names = {"packed", "scale", "gamma", "variance", "table"};
    CHECK(namesOf(session->parameters()) == names);
    CHECK(session->state().size() == names.size());
    CHECK(!session->view("w").ok());
    CHECK(!session->setState({{"w", Literal(TensorType{ElementType::F32, dfc::Shape({8, 6})})}}).ok());

    CHECK(bitDifference(expectedOf({}), resultOf(*session)) == "");
    Dice dice(5);
    for (const std::string name : {"packed", "gamma", "table", "scale"}) {
      NamedLiterals state = session->state();
      const auto pending = session->submit(randomFeeds(parsed(layerText), 1)); // still sees the old weight
      const Literal before = expectedOf(state);
      state[name] = randomLiteral(state[name].type(), dice);
      REQUIRE(session->setState({{name, state[name]}}).ok());
      INFO(name);
      CHECK(bitDifference(before, pending->wait().at("y")) == "");
      CHECK(bitDifference(expectedOf(state), resultOf(*session)) == "");
      CHECK(bitDifference(expectedOf(state), resultOf(*session)) == "");
    }
  }
}

TEST_CASE("preparation: a checkpoint of a plan with one is that of a plan without") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "state.safetensors").string();
  const Graph layer = parsed(layerText);
  const auto from = opened(planOf(layer, machineOf({}), {}));
  const NamedLiterals state = randomParameters(layer, 7);
  REQUIRE(from->setState(state).ok());
  REQUIRE(saveState(*from, file).ok());
  const auto to = opened(planOf(layer, machineOf({.gpus = 1}), {}));
  CHECK(bitDifference(expectedOf({}), resultOf(*to)) == "");
  REQUIRE(loadState(*to, file).ok());
  CHECK(bitDifference(expectedOf(state), resultOf(*to)) == "");
  const auto plain = opened(planOf(layer, machineOf({}), without()));
  REQUIRE(loadState(*plain, file).ok());
}

TEST_CASE("preparation: steps of another session that shares the weights are seen, also when it is closed") {
  Graph training = parsed(R"(graph training {
    input rate : f32[]
    parameter gamma : f32[6] = uniform(0.5, 1.5, seed=2)
    parameter variance : f32[6] = uniform(0.5, 1.5, seed=3)
    assign(gamma, add(gamma, rate))
  })");
  const Graph layer = parsed(layerText);
  const NamedLiterals rate{{"rate", Literal::scalar<float>(0.25F)}};
  for (const bool trainerFirst : {false, true}) {
    auto trainer = trainerFirst ? opened(planOf(training, machineOf({}), {})) : nullptr;
    const auto evaluator = opened(planOf(layer, machineOf({}), {}), trainer.get());
    if (!trainerFirst) {
      trainer = opened(planOf(training, machineOf({}), {}), evaluator.get());
    }
    const auto second = opened(planOf(layer, machineOf({}), {}), evaluator.get());
    for (int i = 0; i < 3; ++i) {
      CHECK(bitDifference(expectedOf(evaluator->state()), resultOf(*evaluator)) == "");
      REQUIRE(trainer->run(rate).ok());
      CHECK(bitDifference(expectedOf(second->state()), resultOf(*second)) == "");
    }
    const NamedLiterals before = evaluator->state();
    CHECK(bitDifference(expectedOf(before), resultOf(*evaluator)) == "");
    REQUIRE(trainer->submit(rate).ok());
    trainer.reset();
    CHECK(bitDifference(before.at("gamma"), evaluator->state().at("gamma")) != "");
    CHECK(bitDifference(expectedOf(evaluator->state()), resultOf(*evaluator)) == "");
    REQUIRE(second->setState({{"scale", Literal::of<float>({6}, {1, 2, 3, 4, 5, 6})}}).ok());
    CHECK(bitDifference(expectedOf(second->state()), resultOf(*evaluator)) == "");
    CHECK(bitDifference(expectedOf(second->state()), resultOf(*second)) == "");
  }
}

TEST_CASE("preparation: a plan file holds it") {
  const Graph layer = parsed(layerText);
  const auto plan = planOf(layer, machineOf({.gpus = 2, .peers = true}), {});
  const std::vector<std::byte> bytes = plan->serialise();
  const auto read = Executable::parse(bytes, "layer.plan");
  INFO(render(read.errors()));
  REQUIRE(read.ok());
  REQUIRE(read->preparation() != nullptr);
  CHECK(read->serialise() == bytes);
  CHECK(preparationSize(*read).bytes == preparationSize(*plan).bytes);
  checkSame(run(plan, layer, 1, 2), run(std::make_shared<const Executable>(*read), layer, 1, 2));
}

TEST_CASE("preparation: one that does not fit the plan is refused") {
  const auto messageOf = [](const Result<Executable>& both) {
    REQUIRE(!both.ok());
    return both.errors().front().message;
  };
  const auto plan = planOf(parsed(layerText), machineOf({}), {});
  const auto always = planOf(parsed(layerText), machineOf({}), without());
  REQUIRE(plan->preparation() != nullptr);
  CHECK(messageOf(plan->preparedBy(*always)) ==
        "the preparation: it has inputs, fetches or a preparation of its own");
  const auto elsewhere = planOf(parsed(layerText), machineOf({.gpus = 1}), without());
  CHECK(messageOf(elsewhere->preparedBy(*plan->preparation())) ==
        "the preparation: it is for another machine than the step");
  CHECK(messageOf(always->preparedBy(*plan->preparation())).find("the step has no parameter '") !=
        std::string::npos); // it reads no prepared ones
  const auto counting = planOf(parsed(R"(graph counting {
    parameter gamma : f32[6] = zeros()
    assign(gamma, add(gamma, 1.0))
  })"),
                               machineOf({}), {});
  const auto writing =
      planOf(parsed("graph g { parameter gamma : f32[6] = zeros() \n fetch gamma }"), machineOf({}), {});
  CHECK(messageOf(writing->preparedBy(*counting)) ==
        "the preparation: parameter 'gamma', which it assigns, is the author's");
  CHECK(messageOf(counting->preparedBy(*counting)) ==
        "the preparation: parameter 'gamma' changes in every step");
}

TEST_CASE("preparation: it is left out where memory does not suffice for kept values") {
  const Graph layer = parsed(R"(graph wide {
    input x : f32[2, 1100]
    parameter packed : u8[1100, 1100] = constant(3)
    y = matmul(x, sub(cast(packed, to=f32), 1.5))
    z = matmul(x, mul(cast(packed, to=f32), 0.5))
    fetch y
    fetch z
  })");
  Machine machine = machineOf({});
  const auto ample = planOf(layer, machine, {});
  REQUIRE(ample->preparation() != nullptr);
  CHECK(preparationSize(*ample).bytes == 2 * 4'840'000); // f32 of both
  machine.devices[machine.host()].memoryBytes =
      9'500'000; // 1.2 MB of packed weights, and one of both at a time
  const auto tight = planOf(layer, machine, {});
  CHECK(tight->preparation() == nullptr);
  // Multiples of 0.5, whose sums are exact in any order: a kernel that keeps a constant operand packed may
  // add up in another.
  Literal x(TensorType{ElementType::F32, dfc::Shape({2, 1100})});
  Dice dice(1);
  for (float& element : x.mutableData<float>()) {
    element = static_cast<float>(dice.below(9) - 4);
  }
  const auto expected = opened(tight)->run({{"x", x}}).orThrow(),
             actual = opened(ample)->run({{"x", x}}).orThrow();
  CHECK(bitDifference(expected.at("y"), actual.at("y")) == "");
  CHECK(bitDifference(expected.at("z"), actual.at("z")) == "");
}

TEST_CASE("preparation: random graphs in little memory have the same bits, or no plan") {
  size_t prepared = 0, left = 0;
  CompileOptions options;
  options.policy = "heft";
  for (uint64_t seed = 100; seed < 120; ++seed) {
    const Graph graph = randomGraph(seed);
    const auto roomy = planOf(graph, machineOf({.gpus = 1}), options);
    for (const double share : {1.3, 1.0, 0.8}) {
      Machine machine = roomy->machine();
      for (const DeviceId device : machine.devices.ids()) {
        const auto bytes = static_cast<double>(roomy->memory().arenaBytes[device]);
        machine.devices[device].memoryBytes = static_cast<int64_t>(share * bytes) + 1;
      }
      const auto plan = compile(graph, machine, RooflineCostModel(), options);
      INFO("seed " << seed << ", share " << share);
      if (plan && plan->policy().find("micro-batches") == std::string::npos) {
        (plan->preparation() != nullptr ? prepared : left) += roomy->preparation() != nullptr ? 1 : 0;
        checkSame(run(roomy, graph, seed, 2), run(std::make_shared<const Executable>(*plan), graph, seed, 2));
      }
    }
  }
  CHECK(prepared > 0);
  CHECK(left > 0);
}

TEST_CASE("preparation: what steps assign is not prepared, and the rest of such a graph is") {
  const Graph graph = parsed(R"(graph adapter {
    input x : f32[2, 4]
    parameter packed : f16[4, 4] = constant(3)
    parameter trained : f32[4, 4] = uniform(0.5, 1.5, seed=2)
    base = sub(cast(packed, to=f32), 1.5)
    t = exp(trained)
    y = add(matmul(x, base), matmul(x, t))
    assign(trained, add(trained, 0.125))
    fetch y
  })");
  const auto plan = planOf(graph, machineOf({}), {});
  REQUIRE(plan->preparation() != nullptr);
  CHECK(preparationSize(*plan).bytes == 4 * 4 * 4); // base
  CHECK(stepsOf(*plan) >= 3);
  checkSame(run(planOf(graph, machineOf({}), without()), graph, 1, 3), run(plan, graph, 1, 3));
}
