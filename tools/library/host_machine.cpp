#include "tools/library/host_machine.h"

#include "compiler/compile.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/available_processors.h"
#include "runtime/backend.h"
#include "runtime/cpu_model.h"
#include "runtime/session.h"
#include "tools/library/host_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace dfc {
namespace {

size_t indexOf(ElementType type) { return static_cast<size_t>(type); }

int64_t hostMemory() {
  int64_t bytes = int64_t(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE);
  std::ifstream group("/sys/fs/cgroup/memory.max"); // "max" where there is no limit: then nothing is read
  if (int64_t limit = 0; group >> limit && limit > 0) {
    bytes = std::min(bytes, limit);
  }
  return bytes;
}

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Bytes read plus written a second, all threads copying their own 32 MB; the best of five.
double copyBandwidth(uint32_t threads) {
  constexpr size_t bytes = size_t(32) << 20;
  const std::vector<std::vector<char>> from(threads, std::vector<char>(bytes, 1));
  std::vector<std::vector<char>> to(threads, std::vector<char>(bytes));
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto begin = Clock::now();
    std::vector<std::thread> workers;
    for (uint32_t i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] { std::memcpy(to[i].data(), from[i].data(), bytes); });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    best = std::max(best, 2.0 * static_cast<double>(bytes) * threads / since(begin));
  }
  return best;
}

/// Ops that the probes time.
enum class Timed : uint8_t { Products, Sums };

/// `count` products, or sums, after one another, each of the last and the n x n input; the fetch keeps them
/// alive.
Graph chain(Timed timed, ElementType type, int64_t n, int count) {
  Builder builder("probe");
  const Tensor x = builder.input("x", {type, {n, n}});
  Tensor y = x;
  for (int i = 0; i < count; ++i) {
    y = timed == Timed::Products ? matmul(y, x) : y + x;
  }
  builder.fetch("y", y);
  auto graph = std::move(builder).finish();
  DFC_ASSERT(graph.ok(), render(graph.errors()));
  return *std::move(graph);
}

/// What a run of a chain took.
struct Probe {
  double fastest = 0; ///< seconds of the shortest op
  double whole = 0;   ///< seconds from the first begin to the last end
};

Probe measure(const Trace& trace, const Executable& plan) {
  Probe result{1e30, 0};
  double first = 1e30, last = 0;
  for (const Span& span : trace.spans) {
    const OpKind kind = plan.graph()[plan.schedule().steps[span.step].op].kind();
    if (kind == OpKind::Matmul || kind == OpKind::Add) {
      result.fastest = std::min(result.fastest, span.end - span.begin);
      first = std::min(first, span.begin);
      last = std::max(last, span.end);
    }
  }
  result.whole = last - first;
  return result;
}

/// The measured trace of the third run, when caches, kernels and threads are warm.
Result<Probe> probe(const Graph& graph, const Machine& machine, const TensorType& input) {
  CompileOptions apart; // each op a step of its own
  apart.skipPasses = {"fold_constants", "simplify", "share_common_ops", "fuse_elementwise"};
  auto plan = compile(graph, machine, RooflineCostModel(), apart);
  DFC_ASSERT(plan.ok(), render(plan.errors()));
  const auto shared = std::make_shared<const Executable>(*std::move(plan));
  SessionOptions options;
  options.trace = true;
  const auto session = Session::open(shared, options);
  if (!session) {
    return session.errors();
  }
  for (int round = 0; round < 3; ++round) {
    (*session)->takeTrace();
    if (const auto results = (*session)->run({{"x", filledLiteral(input, 0.001)}}); !results) {
      return results.errors();
    }
  }
  return measure((*session)->takeTrace(), *shared);
}

/// Operations a second of the fastest of four products of 1024 x 1024: 2 n^3 each.
Result<double> matmulRate(ElementType type, const Machine& machine) {
  constexpr int64_t n = 1024;
  const auto result = probe(chain(Timed::Products, type, n, 4), machine, {type, {n, n}});
  if (!result) {
    return result.errors();
  }
  return 2.0 * n * n * n / result->fastest;
}

/// Seconds from one tiny op to the next in a chain of 64.
Result<double> launchCost(Timed timed, const Machine& machine) {
  constexpr int count = 64;
  const auto result = probe(chain(timed, ElementType::F32, 8, count), machine, f32({8, 8}));
  if (!result) {
    return result.errors();
  }
  return result->whole / count;
}

} // namespace

double roundedFigure(double value) {
  if (value <= 0) {
    return 0;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2);
  return std::round(value / unit) * unit;
}

Machine estimatedHost() {
  Machine machine;
  machine.name = "this-host";
  DeviceRow cpu;
  cpu.name = "cpu0";
  cpu.kind = DeviceKind::Cpu;
  cpu.model = cpuModel();
  cpu.memoryBytes = hostMemory();
  cpu.threads = availableProcessors();
  cpu.peakFlops.fill(16e9 * cpu.threads);
  cpu.peakFlops[indexOf(ElementType::F64)] /= 2;
  cpu.memoryBandwidth = 10e9;
  cpu.launchSeconds = 2e-6;
  machine.devices.add(cpu);
  return machine;
}

Result<Machine> measuredHost() {
  Machine machine = estimatedHost();
  DeviceRow& cpu = machine.devices[machine.host()];
  const auto single = matmulRate(ElementType::F32, machine);
  const auto twice = matmulRate(ElementType::F64, machine);
  const auto launch = launchCost(Timed::Sums, machine), ofProduct = launchCost(Timed::Products, machine);
  for (const auto* rate : {&single, &twice, &launch, &ofProduct}) {
    if (!*rate) {
      return rate->errors();
    }
  }
  cpu.memoryBandwidth = roundedFigure(copyBandwidth(cpu.threads));
  cpu.peakFlops.fill(roundedFigure(*single));
  cpu.peakFlops[indexOf(ElementType::F64)] = roundedFigure(*twice);
  cpu.launchSeconds = roundedFigure(*launch);
  cpu.tf32LaunchSeconds = roundedFigure(std::max(*launch, *ofProduct));
  cpu.matmulLaunchSeconds.fill(cpu.tf32LaunchSeconds);
  return machine;
}

bool addGpus(Machine& machine, bool measure) {
  const size_t before = machine.devices.size();
  for (Backend* backend : allBackends()) {
    if (backend->supports(DeviceKind::Gpu) && backend->unavailable().empty()) {
      backend->describeHost(machine, measure);
    }
  }
  const bool found = machine.devices.size() > before;
  if (found && measure) {
    measureHostLinks(machine);
  }
  return found;
}

std::string whyNoGpu() {
  std::string reasons;
  for (const Backend* backend : allBackends()) {
    if (backend->supports(DeviceKind::Gpu) && backend->name() == "cuda") {
      reasons = backend->unavailable();
    }
  }
  std::error_code ignored;
  const bool driver = std::filesystem::exists("/proc/driver/nvidia/version", ignored);
  return fmt::format(
      "no GPU in the machine file: {}{}; a machine file may name GPUs all the same, they are emulated "
      "where it runs",
      reasons.empty() ? "GPUs are described by hand, from their data sheets" : reasons,
      driver ? " (an NVIDIA driver is loaded)" : "");
}

} // namespace dfc
