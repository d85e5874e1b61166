#include "runtime/cuda/measure/probe.h"

#include "ir/machine/hockney.h"
#include "ir/machine/tiles.h"
#include "runtime/cuda/library/matmul.h"
#include "runtime/cuda/measure/convolution_rate.h"
#include "runtime/cuda/measure/noise.h"
#include "runtime/cuda/measure/probe_together.h"
#include "runtime/cuda/measure/step_overhead.h"
#include "runtime/cuda/measure/stopwatch.h"
#include "runtime/cuda/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace dfc::cuda {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, ordinal), "asking about a GPU");
  return value;
}

/// Operations a clock and multiprocessor outside the matrix units, by element type: NVIDIA's programming
/// guide, "throughput of native arithmetic instructions", compute capability 9.0; a multiply-add counts
/// twice.
double operationsPerClock(ElementType type) {
  switch (type) {
  case ElementType::F32: return 256;
  case ElementType::F64: return 128;
  case ElementType::F16:
  case ElementType::BF16: return 4096; // the matrix units, dense
  case ElementType::I32:
  case ElementType::U8:
  case ElementType::Bool: return 128;
  case ElementType::I64: return 32;
  }
  return 128;
}

DeviceRow describe(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "asking about a GPU");
  DeviceRow row;
  row.name = fmt::format("gpu{}", ordinal);
  row.kind = DeviceKind::Gpu;
  row.model = properties.name;
  row.architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
  constexpr int64_t reserve = int64_t{2} << 30; // for the context, libraries and workspaces
  row.memoryBytes = std::max<int64_t>(static_cast<int64_t>(properties.totalGlobalMem) - reserve, 1);
  row.multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
  row.threadsPerMultiprocessor = static_cast<uint32_t>(properties.maxThreadsPerMultiProcessor);
  row.sharedBytesPerBlock = static_cast<uint32_t>(properties.sharedMemPerBlockOptin);
  const double clocks = attribute(cudaDevAttrClockRate, ordinal) * 1e3 * properties.multiProcessorCount;
  for (const ElementType type : allElementTypes) {
    row.peakFlops[static_cast<size_t>(type)] = operationsPerClock(type) * clocks;
  }
  row.memoryBandwidth = 2e3 * attribute(cudaDevAttrMemoryClockRate, ordinal) *
                        attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal) / 8;
  row.cacheBytes = properties.l2CacheSize;
  row.launchSeconds = 2e-6;
  row.matmulLaunchSeconds.fill(2.2e-6);
  row.tf32LaunchSeconds = 2.2e-6;
  row.stepOverheadSeconds = 6e-6;
  return row;
}

void addRoute(Machine& machine, DeviceId from, DeviceId to, const std::string& name, double bandwidth) {
  const LinkId link = machine.links.add({name, 8e-6, bandwidth, 1});
  machine.routes.push_back({from, to, {link}});
}

/// Three digits: more would only look exact.
double rounded(double value) {
  if (value <= 0) {
    return 0;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  return std::round(value / unit) * unit;
}

/// Whether the inner dimension is contiguous in one operand of a product, or in none.
enum class InnerLayout : uint8_t { Contiguous, Strided };

/// Seconds of a product of n x inner and inner x n, one after another.
double matmulSeconds(int ordinal, ElementType type, bool tf32, int64_t n, int64_t inner,
                     InnerLayout layout = InnerLayout::Contiguous) {
  MatmulCall call;
  call.tf32 = tf32;
  call.transposeA = layout == InnerLayout::Strided;
  call.a = {type, call.transposeA ? Shape{inner, n} : Shape{n, inner}};
  call.b = {type, {inner, n}};
  call.result = {type, {n, n}};
  const DeviceBuffer a = noise(ordinal, call.a.bytes()), b = noise(ordinal, call.b.bytes());
  const DeviceBuffer out(ordinal, call.result.bytes(), "a measurement");
  const DeviceBuffer workspace(ordinal, matmulWorkspaceBytes, "a measurement");
  call.aData = a.get(), call.bData = b.get(), call.out = out.get();
  const auto launch = makeMatmul(call, ordinal, workspace.get());
  Stopwatch watch(ordinal);
  return watch.perRepetition([&](cudaStream_t stream) { launch->enqueue(stream); });
}

/// Operations a second of the same.
double matmulRate(int ordinal, ElementType type, bool tf32, int64_t n, int64_t inner,
                  InnerLayout layout = InnerLayout::Contiguous) {
  const double flops = 2 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(inner);
  return flops / matmulSeconds(ordinal, type, tf32, n, inner, layout);
}

/// n for products that are long in every dimension.
int64_t longSide(ElementType type, bool tf32) {
  return (type == ElementType::F32 && !tf32) || type == ElementType::F64 ? 4096 : 8192;
}

/// Operations a second of products whose inner dimension is contiguous in neither operand, by `peak`, those
/// of other products; 0 where they are about as quick.
double stridedRate(int ordinal, ElementType type, bool tf32, double peak) {
  constexpr double slower = 0.95;
  const int64_t n = longSide(type, tf32);
  const double part =
      matmulRate(ordinal, type, tf32, n, n, InnerLayout::Strided) / matmulRate(ordinal, type, tf32, n, n);
  return part < slower ? rounded(part * peak) : 0;
}

/// The least seconds of products so small that their work takes none.
double matmulLaunchCost(int ordinal, ElementType type, bool tf32) {
  double least = std::numeric_limits<double>::infinity();
  for (const int64_t n : {32, 64, 128}) {
    least = std::min(least, matmulSeconds(ordinal, type, tf32, n, n));
  }
  return least;
}

/// The least power of two, from 1 KiB in elements on, at which a product at its peak rate takes as long as
/// two writes of its result: a shorter one would measure the memory.
int64_t shortInner(ElementType type, double peak, double bandwidth) {
  const auto width = static_cast<double>(byteWidth(type));
  int64_t inner = 1024 / byteWidth(type);
  while (inner < (1 << 20) && 2 * static_cast<double>(inner) / peak < 2 * width / bandwidth) {
    inner *= 2;
  }
  return inner;
}

/// From two products with equal results, one of a long and one of a short inner dimension, in bytes.
Hockney matmulFigures(int ordinal, ElementType type, bool tf32, double bandwidth) {
  const int64_t n = longSide(type, tf32);
  const double rate = matmulRate(ordinal, type, tf32, n, n);
  const int64_t inner = std::min(shortInner(type, rate, bandwidth), n / 2);
  const auto bytes = [&](int64_t length) { return static_cast<double>(length * byteWidth(type)); };
  return hockneyOf(bytes(inner), matmulRate(ordinal, type, tf32, n, inner), bytes(n), rate);
}

/// From products of few tiles, whose time depends on how a library divides them.
double halfTile(int ordinal, ElementType type, bool tf32, const Hockney& figures, const DeviceRow& row) {
  const auto width = static_cast<double>(byteWidth(type));
  const TileRates rates{figures.peak,      figures.half / width, 0, static_cast<double>(row.multiprocessors),
                        row.launchSeconds, row.memoryBandwidth};
  std::vector<TileTiming> timed;
  for (const auto& [n, inner] : {std::pair(256, 1024), {256, 4096}, {512, 1024}, {512, 4096}, {768, 4096}}) {
    const Shape result{n, n};
    const double bytes = width * (2.0 * n * inner + static_cast<double>(n) * n);
    timed.push_back(
        {productShape(result, inner, false, false), matmulSeconds(ordinal, type, tf32, n, inner), bytes});
  }
  return fittedHalfTile(timed, rates, row.launchOf(type, tf32, timed.front().product));
}

constexpr int64_t copied = int64_t{256} << 20;

/// One link: the latency of a small copy, and the bandwidth of a large one beyond that latency.
void measureLink(LinkRow& link, Stopwatch& watch, std::byte* to, const std::byte* from) {
  link.latencySeconds = rounded(watch.copySeconds(to, from, 4));
  link.bandwidth =
      rounded(static_cast<double>(copied) / (watch.copySeconds(to, from, copied) - link.latencySeconds));
}

/// A GPU's side of its measurements.
struct Bench {
  int ordinal;
  DeviceBuffer device;
  PinnedBuffer host;
  Stopwatch watch;
  explicit Bench(int theOrdinal)
      : ordinal(theOrdinal), device(noise(theOrdinal, copied)), host(copied), watch(theOrdinal) {}
};

/// That a library has products of.
constexpr std::array measuredTypes = {ElementType::F32, ElementType::F64, ElementType::F16,
                                      ElementType::BF16};

/// By the library, where the machine has it.
void measureConvolutions(DeviceRow& row, Bench& bench) {
  const auto measured = [&](ElementType type, Precision precision) {
    return rounded(convolutionRate(bench.ordinal, type, precision, bench.watch));
  };
  for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    row.convolutionFlops[static_cast<size_t>(type)] = measured(type, Precision::Ieee);
  }
  row.tf32ConvolutionFlops = measured(ElementType::F32, Precision::Tf32);
}

void measureDevice(DeviceRow& row, Bench& bench) {
  const int64_t large = int64_t{1} << 30;
  const DeviceBuffer from = noise(bench.ordinal, large), to(bench.ordinal, large, "a measurement");
  row.memoryBandwidth =
      rounded(2.0 * static_cast<double>(large) / bench.watch.copySeconds(to.get(), from.get(), large));
  std::map<ElementType, Hockney> figuresOf;
  for (const ElementType type : measuredTypes) {
    const Hockney& figures = figuresOf[type] =
        matmulFigures(bench.ordinal, type, /*tf32=*/false, row.memoryBandwidth);
    row.peakFlops[static_cast<size_t>(type)] = rounded(figures.peak);
    row.matmulHalfInner[static_cast<size_t>(type)] = rounded(figures.half);
    row.stridedFlops[static_cast<size_t>(type)] = stridedRate(bench.ordinal, type, false, figures.peak);
  }
  const Hockney tf32 = matmulFigures(bench.ordinal, ElementType::F32, /*tf32=*/true, row.memoryBandwidth);
  row.tf32Flops = rounded(tf32.peak);
  row.tf32HalfInner = rounded(tf32.half);
  row.tf32StridedFlops = stridedRate(bench.ordinal, ElementType::F32, true, tf32.peak);
  measureConvolutions(row, bench);
  row.launchSeconds = rounded(bench.watch.dependentLaunchCost());
  const auto matmulLaunch = [&](ElementType type, bool inTf32) {
    return std::max(row.launchSeconds, rounded(matmulLaunchCost(bench.ordinal, type, inTf32)));
  };
  for (const ElementType type : measuredTypes) {
    row.matmulLaunchSeconds[static_cast<size_t>(type)] = matmulLaunch(type, false);
  }
  row.tf32LaunchSeconds = matmulLaunch(ElementType::F32, true);
  for (const ElementType type : measuredTypes) {
    row.matmulHalfTile[static_cast<size_t>(type)] =
        halfTile(bench.ordinal, type, false, figuresOf.at(type), row);
  }
  row.tf32HalfTile = halfTile(bench.ordinal, ElementType::F32, true, tf32, row);
  const double overhead = stepOverhead(bench.ordinal, bench.watch.launchCost());
  row.stepOverheadSeconds = rounded(overhead);
}

Route* routeOf(Machine& machine, DeviceId from, DeviceId to) {
  const auto found = std::find_if(machine.routes.begin(), machine.routes.end(),
                                  [&](const Route& route) { return route.from == from && route.to == to; });
  return found == machine.routes.end() ? nullptr : &*found;
}

LinkCopy copyTo(Machine& machine, DeviceId gpu, const Bench& bench) {
  return {routeOf(machine, machine.host(), gpu)->links[0], bench.ordinal, bench.device.get(),
          bench.host.get()};
}

LinkCopy copyFrom(Machine& machine, DeviceId gpu, const Bench& bench) {
  return {routeOf(machine, gpu, machine.host())->links[0], bench.ordinal, bench.host.get() + copied / 2,
          bench.device.get() + copied / 2};
}

/// Both directions of each bus, and the buses of all GPUs.
void measureBuses(Machine& machine, llvm::ArrayRef<DeviceId> gpus,
                  llvm::ArrayRef<std::unique_ptr<Bench>> benches) {
  std::vector<LinkCopy> in, out;
  for (size_t i = 0; i < gpus.size(); ++i) {
    in.push_back(copyTo(machine, gpus[i], *benches[i]));
    out.push_back(copyFrom(machine, gpus[i], *benches[i]));
    measureTogether(machine, machine.devices[gpus[i]].name + " in and out", {in.back(), out.back()},
                    copied / 2);
  }
  if (gpus.size() > 1) {
    measureTogether(machine, "in of all", in, copied / 2);
    measureTogether(machine, "out of all", out, copied / 2);
  }
}

/// Both directions between each two GPUs.
void measurePairs(Machine& machine, llvm::ArrayRef<DeviceId> gpus,
                  llvm::ArrayRef<std::unique_ptr<Bench>> benches) {
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = i + 1; j < gpus.size(); ++j) {
      const Route *there = routeOf(machine, gpus[i], gpus[j]), *back = routeOf(machine, gpus[j], gpus[i]);
      if (there != nullptr && back != nullptr) {
        std::byte *first = benches[i]->device.get(), *second = benches[j]->device.get();
        const LinkCopy copies[] = {
            {there->links[0], benches[i]->ordinal, second, first},
            {back->links[0], benches[j]->ordinal, first + copied / 2, second + copied / 2}};
        measureTogether(
            machine, machine.devices[gpus[i]].name + " and " + machine.devices[gpus[j]].name + " both ways",
            copies, copied / 2);
      }
    }
  }
}

} // namespace

void addGpus(Machine& machine, int count) {
  const DeviceId host = machine.host();
  std::vector<DeviceId> gpus;
  for (int i = 0; i < count; ++i) {
    gpus.push_back(machine.devices.add(describe(i)));
    const std::string& name = machine.devices[gpus.back()].name;
    addRoute(machine, host, gpus.back(), name + " in", 50e9);
    addRoute(machine, gpus.back(), host, name + " out", 50e9);
  }
  for (const DeviceId from : gpus) {
    for (const DeviceId to : gpus) {
      int direct = 0;
      const auto ordinal = [&](DeviceId gpu) { return static_cast<int>(gpu.index() - gpus[0].index()); };
      if (from != to && cudaDeviceCanAccessPeer(&direct, ordinal(from), ordinal(to)) == cudaSuccess &&
          direct != 0) {
        addRoute(machine, from, to, machine.devices[from].name + " to " + machine.devices[to].name, 300e9);
      }
    }
  }
}

void measureGpus(Machine& machine) {
  std::vector<DeviceId> gpus;
  std::vector<std::unique_ptr<Bench>> benches;
  std::vector<int> ordinals;
  for (const DeviceId device : machine.devices.ids()) {
    if (machine.devices[device].kind == DeviceKind::Gpu) {
      ordinals.push_back(static_cast<int>(gpus.size()));
      benches.push_back(std::make_unique<Bench>(ordinals.back()));
      gpus.push_back(device);
    }
  }
  KernelLibrary library(""); // no cache: the check's kernel is small
  const Peers peers(ordinals, library);
  for (size_t i = 0; i < gpus.size(); ++i) {
    Bench& bench = *benches[i];
    measureDevice(machine.devices[gpus[i]], bench);
    measureLink(machine.links[routeOf(machine, machine.host(), gpus[i])->links[0]], bench.watch,
                bench.device.get(), bench.host.get());
    measureLink(machine.links[routeOf(machine, gpus[i], machine.host())->links[0]], bench.watch,
                bench.host.get(), bench.device.get());
    for (size_t j = 0; j < gpus.size(); ++j) {
      Route* route = routeOf(machine, gpus[i], gpus[j]);
      if (i != j && route != nullptr && peers.direct(ordinals[i], ordinals[j])) {
        measureLink(machine.links[route->links[0]], bench.watch, benches[j]->device.get(),
                    bench.device.get());
      }
    }
  }
  measureBuses(machine, gpus, benches);
  measurePairs(machine, gpus, benches);
}

} // namespace dfc::cuda
