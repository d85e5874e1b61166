// A line fitted to points by gradient descent, over a CPU and an emulated GPU: planning for a machine made by
// hand, training in batches, a saved plan, a checkpoint, and errors.
#include <cmath>
#include <cstdio>
#include <dfc/dfc.h>
#include <exception>
#include <memory>

namespace {

constexpr int64_t points = 256, batch = 32;

/// y = 3 x - 1 at points of [-1, 1].
dfc::NamedLiterals line() {
  dfc::Literal x(dfc::f32({points, 1})), y(dfc::f32({points, 1}));
  for (int64_t i = 0; i < points; ++i) {
    const double at = 2.0 * static_cast<double>(i) / (points - 1) - 1;
    x.set(i, at);
    y.set(i, 3 * at - 1);
  }
  return {{"x", x}, {"y", y}};
}

dfc::Graph step() {
  dfc::Builder g("fit");
  const dfc::Tensor x = g.input("x", dfc::f32({batch, 1}));
  const dfc::Tensor y = g.input("y", dfc::f32({batch, 1}));
  const dfc::Tensor slope = g.parameter("slope", dfc::f32({1, 1}), dfc::glorot(1));
  const dfc::Tensor offset = g.parameter("offset", dfc::f32({1}));
  dfc::Tensor loss;
  {
    const auto scope = g.scope("forward", "gpu0");
    const dfc::Tensor miss = matmul(x, slope) + offset - y;
    loss = reduceMean(miss * miss);
  }
  dfc::sgd({slope, offset}, dfc::gradients(loss, {slope, offset}), /*rate=*/0.3);
  g.fetch("loss", loss);
  return std::move(g).finish().orThrow();
}

/// This host, and a GPU emulated by its threads.
dfc::Machine machine() {
  return dfc::parseMachine(R"({
    "name": "host and one GPU",
    "devices": [{"id": "cpu0", "class": "cpu", "threads": 2, "flops": {"f32": 1e11}, "memoryBandwidth": 1e10},
                {"id": "gpu0", "class": "gpu", "mem": 1000000000, "flops": {"f32": 1e13}, "memoryBandwidth": 1e12}],
    "links": [{"id": "bus", "bandwidth": 1e10, "latency": 1e-5}],
    "routes": [{"from": "cpu0", "to": "gpu0", "links": ["bus"]},
               {"from": "gpu0", "to": "cpu0", "links": ["bus"]}]})",
                           "machine")
      .orThrow();
}

bool check(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  return holds;
}

int run() {
  const auto plan = std::make_shared<const dfc::Executable>(
      dfc::compile(step(), machine(), dfc::RooflineCostModel()).orThrow());
  plan->save("fit.plan").orThrow();
  const auto session = dfc::Session::open(plan).orThrow();
  dfc::Batches batches = dfc::Batches::of(line(), batch, /*seed=*/1).orThrow();
  double loss = 0;
  for (int64_t epoch = 0; epoch < 40; ++epoch) {
    for (int64_t i = 0; i < batches.count(); ++i) {
      loss = session->run(batches.at(epoch, i)).orThrow().at("loss").at(0);
    }
  }
  dfc::saveState(*session, "fit.safetensors").orThrow();
  const auto again =
      dfc::Session::open(std::make_shared<const dfc::Executable>(dfc::Executable::load("fit.plan").orThrow()))
          .orThrow();
  dfc::loadState(*again, "fit.safetensors").orThrow();

  bool good = check(loss < 1e-6, "the line is found");
  good &= check(std::fabs(session->state().at("slope").at(0) - 3) < 1e-3, "its slope is 3");
  good &= check(again->state() == session->state(), "a saved plan goes on from the checkpoint");
  good &= check(plan->predictedSeconds() >= plan->lowerBoundSeconds(), "no schedule beats the bound");
  const auto wrong = session->run({{"x", dfc::Literal(dfc::f32({1}))}});
  good &= check(!wrong.ok(), "a wrong feed is an error of the result");
  return good ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
