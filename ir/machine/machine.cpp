// Queries of a machine: the host, the route between two devices, the duration of a copy. Assumes a machine
// that verifyMachine accepts; promises the same answer every time.
#include "ir/machine/machine.h"

#include "ir/machine/hockney.h"
#include "ir/machine/paths.h"
#include "ir/machine/tiles.h"
#include "ir/machine/waves.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

bool allAre(const ByElementType& figures, double figure) {
  return std::all_of(figures.begin(), figures.end(), [&](double one) { return one == figure; });
}

} // namespace

std::string_view name(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu: return "cpu";
  case DeviceKind::Gpu: return "gpu";
  }
  DFC_UNREACHABLE("device kind");
}

double DeviceRow::matmulRate(ElementType element, bool tf32, const ProductShape& product) const {
  const auto type = static_cast<size_t>(element);
  const bool own = tf32 && element == ElementType::F32 && tf32Flops > 0;
  const double busy = busyPart(product, kind == DeviceKind::Gpu ? multiprocessors : 0);
  const double ofWindows =
      tf32 && element == ElementType::F32 ? tf32ConvolutionFlops : convolutionFlops[type];
  if (product.windows && ofWindows > 0) {
    return ofWindows * busy;
  }
  const double contiguous = own ? tf32Flops : peakFlops[type];
  const double strided = own ? tf32StridedFlops : stridedFlops[type];
  const double peak = product.strided && strided > 0 ? strided : contiguous;
  // Filling the pipelines of the matrix units takes as long at either rate.
  const double slower = contiguous > 0 ? peak / contiguous : 1;
  const double half = (own ? tf32HalfInner : matmulHalfInner[type]) * slower;
  const auto width = static_cast<double>(byteWidth(element));
  const double halfTile = own ? tf32HalfTile : matmulHalfTile[type];
  if (kind == DeviceKind::Gpu && halfTile > 0 && peak > 0 && multiprocessors > 0 && product.hasResult()) {
    const TileRates rates{peak,          half / width,   halfTile, static_cast<double>(multiprocessors),
                          launchSeconds, memoryBandwidth};
    return flopsOf(product) / tiledSeconds(product, rates);
  }
  const double bytes = product.inner * width;
  const double rate = bytes > 0 ? Hockney{peak, half}.rate(bytes) : peak;
  return rate * busy;
}

double DeviceRow::launchOf(ElementType element, bool tf32, const ProductShape& product) const {
  const bool own = tf32 && element == ElementType::F32 && tf32LaunchSeconds > 0;
  const double library = own ? tf32LaunchSeconds : matmulLaunchSeconds[static_cast<size_t>(element)];
  return library > 0 && product.hasResult() ? library : launchSeconds;
}

bool DeviceRow::hasOneHalfInner() const { return allAre(matmulHalfInner, tf32HalfInner); }
bool DeviceRow::hasOneHalfTile() const { return allAre(matmulHalfTile, tf32HalfTile); }
bool DeviceRow::hasOneMatmulLaunch() const { return allAre(matmulLaunchSeconds, tf32LaunchSeconds); }

bool alike(const DeviceRow& a, const DeviceRow& b) {
  return a.kind == b.kind && a.model == b.model && a.memoryBytes == b.memoryBytes &&
         a.computeQueues == b.computeQueues && a.peakFlops == b.peakFlops && a.tf32Flops == b.tf32Flops &&
         a.matmulHalfInner == b.matmulHalfInner && a.tf32HalfInner == b.tf32HalfInner &&
         a.convolutionFlops == b.convolutionFlops && a.tf32ConvolutionFlops == b.tf32ConvolutionFlops &&
         a.matmulHalfTile == b.matmulHalfTile && a.tf32HalfTile == b.tf32HalfTile &&
         a.stridedFlops == b.stridedFlops && a.tf32StridedFlops == b.tf32StridedFlops &&
         a.memoryBandwidth == b.memoryBandwidth && a.launchSeconds == b.launchSeconds &&
         a.matmulLaunchSeconds == b.matmulLaunchSeconds && a.tf32LaunchSeconds == b.tf32LaunchSeconds &&
         a.cacheBytes == b.cacheBytes && a.multiprocessors == b.multiprocessors &&
         a.stepOverheadSeconds == b.stepOverheadSeconds;
}

DeviceId Machine::host() const {
  for (const DeviceId device : devices.ids()) {
    if (devices[device].kind == DeviceKind::Cpu) {
      return device;
    }
  }
  DFC_UNREACHABLE("machine '" + name + "' has no cpu");
}

DeviceId Machine::findDevice(std::string_view wanted) const {
  for (const DeviceId device : devices.ids()) {
    if (devices[device].name == wanted) {
      return device;
    }
  }
  return {};
}

const Route* Machine::directRoute(DeviceId from, DeviceId to) const {
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [&](const Route& route) { return route.from == from && route.to == to; });
  return found == routes.end() ? nullptr : &*found;
}

double Machine::seconds(const Route& route, int64_t bytes) const {
  double latency = 0;
  double bandwidth = std::numeric_limits<double>::infinity();
  for (const LinkId link : route.links) {
    latency += links[link].latencySeconds;
    if (links[link].bandwidth > 0) {
      bandwidth = std::min(bandwidth, links[link].bandwidth);
    }
  }
  return latency + static_cast<double>(bytes) / bandwidth;
}

std::optional<std::vector<Route>> Machine::path(DeviceId from, DeviceId to, int64_t bytes) const {
  return Paths(*this).path(from, to, bytes);
}

} // namespace dfc
