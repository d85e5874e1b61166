// See shares.h. With divisible seconds w, fixed seconds f and one end T for all devices, share = (T - f) / w,
// and the shares add up to 1 at T = (1 + sum of f / w) / (sum of 1 / w).
#include "compiler/split/shares/shares.h"

#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <numeric>

namespace dfc {
namespace {

std::vector<double> inProportion(llvm::ArrayRef<DeviceWork> works) {
  std::vector<double> rates;
  for (const DeviceWork& work : works) {
    const double seconds = work.whole();
    rates.push_back(seconds > 0 && std::isfinite(seconds) ? 1 / seconds : 1);
  }
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  for (double& rate : rates) {
    rate /= sum;
  }
  return rates;
}

} // namespace

DeviceWork workOn(const Graph& graph, const Machine& machine, const CostModel& cost, DeviceId device) {
  DeviceWork work;
  for (const OpId op : graph.ops()) {
    if (classOf(graph[op].kind()) != OpClass::Source) {
      const double seconds = cost.opSeconds(graph, op, machine, device);
      const double busy = std::isfinite(seconds) ? cost.utilisation(graph, op, machine, device) : 1;
      work.divisible += seconds * busy;
      work.fixed += seconds * (1 - busy);
    }
  }
  return work;
}

std::vector<double> balancedShares(llvm::ArrayRef<DeviceWork> works) {
  if (llvm::all_of(works, [&](const DeviceWork& work) {
        return work == works.front();
      })) { // exactly, so that rounding makes no part larger than another
    return std::vector<double>(works.size(), 1.0 / static_cast<double>(works.size()));
  }
  double rates = 0, held = 1;
  for (const DeviceWork& work : works) {
    if (!(work.divisible > 0) || !std::isfinite(work.whole())) {
      return inProportion(works);
    }
    rates += 1 / work.divisible;
    held += work.fixed / work.divisible;
  }
  std::vector<double> shares;
  for (const DeviceWork& work : works) {
    shares.push_back((held / rates - work.fixed) / work.divisible);
  }
  return llvm::all_of(shares, [](double share) { return share > 0; }) ? shares : inProportion(works);
}

} // namespace dfc
