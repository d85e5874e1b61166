#include "tools/library/host_links.h"

#include "compiler/compile.h"
#include "ir/author/dsl.h"
#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "runtime/errors.h"
#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace dfc {
namespace {

constexpr int fewTrips = 4, manyTrips = 20;

/// `trips` times to the GPU and back, an op of few elements at either end.
Graph roundTrips(const std::string& host, const std::string& gpu, int trips) {
  Builder builder("probe");
  Tensor y = builder.input("x", f32({16}));
  for (int i = 0; i < trips; ++i) {
    y = tanh(y).on(gpu);
    y = tanh(y).on(host);
  }
  builder.fetch("y", y);
  auto graph = std::move(builder).finish();
  DFC_ASSERT(graph.ok(), render(graph.errors()));
  return *std::move(graph);
}

/// The median of several steps, one at a time, when caches, kernels and threads are warm.
double stepSeconds(const Graph& graph, const Machine& machine, const SessionOptions& options) {
  constexpr size_t warm = 10, timed = 51;
  CompileOptions pinned;
  pinned.policy = "pins";
  auto plan = compile(graph, machine, RooflineCostModel(), pinned);
  DFC_ASSERT(plan.ok(), render(plan.errors()));
  const auto session = Session::open(std::make_shared<const Executable>(*std::move(plan)), options);
  if (!session) {
    throw MachineError(render(session.errors()));
  }
  std::vector<double> seconds;
  for (size_t step = 0; step < warm + timed; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    const auto results = (*session)->run({{"x", filledLiteral(f32({16}), 0.5)}});
    if (!results) {
      throw MachineError(render(results.errors()));
    }
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin() + warm, seconds.end());
  return seconds[warm + timed / 2];
}

LinkRow* firstLink(Machine& machine, DeviceId from, DeviceId to) {
  const Route* route = machine.directRoute(from, to);
  return route != nullptr && !route->links.empty() ? &machine.links[route->links.front()] : nullptr;
}

void measure(Machine& machine, DeviceId gpu, const SessionOptions& options) {
  const DeviceRow &host = machine.devices[machine.host()], &other = machine.devices[gpu];
  LinkRow *in = firstLink(machine, machine.host(), gpu), *out = firstLink(machine, gpu, machine.host());
  if (in == nullptr || out == nullptr) {
    return;
  }
  const auto seconds = [&](int trips) {
    return stepSeconds(roundTrips(host.name, other.name, trips), machine, options);
  };
  const double trip = (seconds(manyTrips) - seconds(fewTrips)) / (manyTrips - fewTrips);
  const double copies = trip - host.launchSeconds - other.launchSeconds;
  const double before = in->latencySeconds + out->latencySeconds;
  if (copies > before) {
    const double share = before > 0 ? in->latencySeconds / before : 0.5;
    in->latencySeconds = roundedFigure(copies * share);
    out->latencySeconds = roundedFigure(copies * (1 - share));
  }
}

} // namespace

void measureHostLinks(Machine& machine, const SessionOptions& options) {
  for (const DeviceId device : machine.devices.ids()) {
    if (machine.devices[device].kind == DeviceKind::Gpu) {
      measure(machine, device, options);
    }
  }
}

} // namespace dfc
