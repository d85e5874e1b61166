#include "compiler/split/bound/relayout_floor.h"

#include "compiler/split/sum_form.h"
#include "ir/base/assert.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace dfc {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Steps of a power of two between the sizes at which a cost model is asked about copies.
constexpr int64_t probes = 16;

bool isOfFile(const Route& route, const Machine& machine, const CostModel& cost) {
  return llvm::all_of(llvm::ArrayRef<int64_t>{0, 1 << 10, 1 << 16, 1 << 20, 1 << 26}, [&](int64_t bytes) {
    return cost.transferSeconds(machine, route, bytes) == machine.seconds(route, bytes);
  });
}

double bandwidthOf(const Route& route, const Machine& machine) {
  double least = unlimited;
  for (const LinkId link : route.links) {
    const double bandwidth = machine.links[link].bandwidth;
    least = bandwidth > 0 ? std::min(least, bandwidth) : least;
  }
  return least;
}

double latencyOf(const Route& route, const Machine& machine) { return machine.seconds(route, 0); }

// The highest rate of a copy of any size: seconds grow with the bytes, so between two sizes the rate is at
// most that of the larger one in the seconds of the smaller one.
double measuredRate(const Route& route, const Machine& machine, const CostModel& cost) {
  double most = 0, before = cost.transferSeconds(machine, route, 1);
  for (int64_t octave = probes; octave < int64_t{1} << 40; octave *= 2) {
    for (int64_t bytes = octave; bytes < 2 * octave; bytes += octave / probes) {
      most = std::max(most, before > 0 ? static_cast<double>(bytes) / before : unlimited);
      before = cost.transferSeconds(machine, route, bytes);
    }
  }
  return most;
}

double rateOf(const Route& route, const Machine& machine, const CostModel& cost) {
  return isOfFile(route, machine, cost) ? bandwidthOf(route, machine) : measuredRate(route, machine, cost);
}

bool isOfMesh(DeviceId device, const Mesh& mesh) { return llvm::is_contained(mesh.devices, device); }

// Whether no path from the mesh to the device, which is the cheapest one, ends with this route: every other
// device of the mesh has a direct route that is as quick at any size.
bool isIdle(const Route& route, const Mesh& mesh, const Machine& machine) {
  return !isOfMesh(route.from, mesh) && llvm::all_of(mesh.devices, [&](DeviceId from) {
    const Route* direct = from == route.to ? &route : machine.directRoute(from, route.to);
    return direct != nullptr && latencyOf(*direct, machine) <= latencyOf(route, machine) &&
           bandwidthOf(*direct, machine) >= bandwidthOf(route, machine);
  });
}

/// A route into a device, and its rate.
struct Arrival {
  const Route* route = nullptr;
  double rate = 0;
};

// The rate of the links that together carry all of the routes: of each link its slots at the rate of the
// quickest route, the one that carries the most routes first.
double rateOver(std::vector<Arrival> arrivals, const Machine& machine) {
  const std::vector<Arrival> all = arrivals;
  const auto carries = [](LinkId link) {
    return [link](const Arrival& one) { return llvm::is_contained(one.route->links, link); };
  };
  double rate = 0;
  while (!arrivals.empty()) {
    LinkId most;
    for (const LinkId link : machine.links.ids()) {
      const auto count = machine.links[link].slots > 0 ? llvm::count_if(arrivals, carries(link)) : 0;
      most = count > (most.valid() ? llvm::count_if(arrivals, carries(most)) : 0) ? link : most;
    }
    if (!most.valid()) {
      return unlimited;
    }
    double quickest = 0;
    for (const Arrival& one : llvm::make_filter_range(all, carries(most))) {
      quickest = std::max(quickest, one.rate);
    }
    rate += quickest * machine.links[most].slots;
    llvm::erase_if(arrivals, carries(most));
  }
  return rate;
}

} // namespace

Traffic leastTraffic(const Layout& from, const Layout& to, const TensorType& type, const Mesh& mesh) {
  using Form = Layout::Form;
  const auto k = static_cast<double>(mesh.size());
  const double others = (k - 1) / k;
  if (from == to || from.form == Form::OnAll || to.isPartial()) {
    return {}; // the shares of a sum may be the value and zeros
  }
  if (!from.isPartial()) { // a device may have the piece that it wants: pieces are of any lengths
    const double values = to.form == Form::OnAll ? others : 0;
    return from.isCut() ? Traffic{values, 0} : Traffic{0, values};
  }
  if (to.form != Form::OnAll) {
    return {0, others};
  }
  const bool scatters = llvm::any_of(
      type.shape.dims(), [&](int64_t length) { return length >= static_cast<int64_t>(mesh.size()); });
  switch (cheapestSum(type.bytes(), scatters, mesh).form) {
  case SumForm::Exchange: return {0, k - 1};
  case SumForm::Doubling: return {0, std::log2(k)};
  case SumForm::Scatter: return {others, others};
  }
  DFC_UNREACHABLE("a sum of another form");
}

ArrivalRate arrivalRate(const Mesh& mesh, const Machine& machine, const CostModel& cost) {
  ArrivalRate into;
  for (const DeviceId to : mesh.devices) {
    std::vector<Arrival> arrivals;
    for (const Route& route : machine.routes) {
      if (route.to == to && !isIdle(route, mesh, machine)) {
        arrivals.push_back({&route, rateOf(route, machine, cost)});
        into.isOfMachineFile = into.isOfMachineFile && isOfFile(route, machine, cost);
      }
    }
    into.bytesPerSecond = std::max(into.bytesPerSecond, rateOver(std::move(arrivals), machine));
  }
  into.bytesPerSecond = into.bytesPerSecond == unlimited ? 0 : into.bytesPerSecond;
  return into;
}

bool mayReadPeers(const Mesh& mesh, const Machine& machine) {
  return llvm::all_of(mesh.devices,
                      [&](DeviceId device) { return machine.devices[device].kind == DeviceKind::Gpu; });
}

} // namespace dfc
