// Training in f16 on every backend: gradients below f16's range train, gradients above it change nothing but
// the scale, without a word from the author (the pass scale_losses).
#include "tests/conformance/contenders.h"
#include "tests/conformance/require_plan.h"

#include "ir/author/gradients.h"
#include "ir/author/optimizers.h"
#include "runtime/checkpoint.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Two layers that learn the sign of a sum, trained by Adam on `weight` times the loss.
Graph network(double weight) {
  Builder g("network");
  const Tensor x = g.input("x", f32({16, 8})), target = g.input("target", f32({16, 4}));
  const Tensor w1 = g.parameter("w1", f32({8, 16}), glorot(1)),
               w2 = g.parameter("w2", f32({16, 4}), glorot(2));
  const Tensor miss = matmul(tanh(matmul(x, w1)), w2) - target;
  const Tensor loss = reduceMean(miss * miss).named("loss");
  adam({w1, w2}, gradients(loss * weight, {w1, w2}), {.rate = 0.02, .epsilon = 1e-12});
  g.fetch("loss", loss);
  return requireGraph(std::move(g));
}

NamedLiterals feeds() {
  Dice dice(7);
  NamedLiterals feeds = {{"x", Literal(f32({16, 8}))}, {"target", Literal(f32({16, 4}))}};
  for (int64_t row = 0; row < 16; ++row) {
    double sum = 0;
    for (int64_t column = 0; column < 8; ++column) {
      const double value = dice.unit() - 0.5;
      sum += value;
      feeds.at("x").set(8 * row + column, value);
    }
    for (int64_t column = 0; column < 4; ++column) {
      feeds.at("target").set(4 * row + column, sum > 0 ? 0.5 : -0.5);
    }
  }
  return feeds;
}

std::unique_ptr<Session> opened(const Graph& graph, const Contender& contender, bool scaled,
                                Precision precision = Precision::F16) {
  CompileOptions options;
  options.precision = precision;
  if (!scaled) {
    options.skipPasses = {"scale_losses"};
  }
  auto session = Session::open(requirePlan(graph, contender.machine(), options), contender.options());
  INFO(render(session.errors()));
  REQUIRE(session.ok());
  return *std::move(session);
}

/// The loss of the last of some steps.
double lossAfter(Session& session, int steps) {
  double loss = 0;
  for (int step = 0; step < steps; ++step) {
    const auto results = session.run(feeds());
    REQUIRE(results.ok());
    loss = results->at("loss").at(0);
  }
  return loss;
}

constexpr double tiny = 1e-8; // of slopes near 1/64: f16 has nothing between 0 and 6e-8
constexpr double huge = 1e3;  // times 65536 and a slope: far above 65504
constexpr double vast = 1e8;  // times a slope alone: the same

} // namespace

TEST_CASE("scaled training: a loss that underflows in f16 trains, and does not without the pass") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    const auto session = opened(network(tiny), contender, true);
    const double first = lossAfter(*session, 1), last = lossAfter(*session, 60);
    CHECK(last < 0.5 * first);
    const auto plain = opened(network(tiny), contender, false);
    const double rounding = 5e-4; // of one product in f16: the two graphs are fused differently
    CHECK(lossAfter(*plain, 1) == Approx(first).epsilon(rounding));
    CHECK(lossAfter(*plain, 60) == Approx(first).epsilon(rounding));
  }
}

TEST_CASE("scaled training: a step with infinite gradients changes the scale alone, until they are finite") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    const auto session = opened(network(huge), contender, true);
    NamedLiterals before = session->state();
    REQUIRE(before.size() == 10); // two weights, four moments, two powers, the scale, finite steps
    const double first = lossAfter(*session, 1);
    CHECK(session->state().at("lossScale").at(0) == 32768);
    before.at("lossScale") = Literal::scalar(32768.0F);
    CHECK(session->state() == before);
    const double last = lossAfter(*session, 100);
    CHECK(last < 0.5 * first);
    CHECK(session->state().at("lossScale").at(0) < 65536);
    CHECK(session->state().at("lossScale.finiteSteps").at(0) > 0);
  }
}

TEST_CASE("scaled training: gradients that no scale makes finite cost no weight") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    INFO(contender.name);
    const auto session = opened(network(vast), contender, true);
    NamedLiterals before = session->state();
    lossAfter(*session, 160); // 2^16 halved 160 times is 2^-144, whose reciprocal f32 does not hold
    before.at("lossScale") = Literal::scalar(1.0F);
    CHECK(session->state() == before);
  }
}

TEST_CASE("scaled training: a checkpoint goes on in a plan of any other precision") {
  const Contender contender = contenders(Aspect::Values).front();
  TemporaryFolder folder;
  const std::string path = folder.file("state.safetensors");
  const Precision all[] = {Precision::F16, Precision::Bf16, Precision::Ieee};
  for (const Precision from : all) {
    for (const Precision to : all) {
      const auto first = opened(network(1), contender, true, from),
                 then = opened(network(1), contender, true, to);
      const double before = lossAfter(*first, 30);
      REQUIRE(saveState(*first, path).ok());
      const Status restored = loadState(*then, path);
      INFO(render(restored.errors()));
      REQUIRE(restored.ok());
      CHECK(then->state().at("w1") == first->state().at("w1"));
      CHECK(then->state().count("lossScale") == (to == Precision::F16 ? 1 : 0));
      CHECK(lossAfter(*then, 1) == Approx(lossAfter(*first, 1)).epsilon(0.05));
      CHECK(lossAfter(*then, 30) < before);
    }
  }
}
