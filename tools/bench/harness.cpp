#include "tools/bench/harness.h"

#include "compiler/cost/calibrated_cost_model.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/open_devices.h"
#include "runtime/steady_seconds.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::bench {
namespace {

/// The name of the backend that sessions take for GPUs; "" for none.
std::string_view gpuBackend(const SessionOptions& options) {
  const Backend* backend = backendFor(DeviceKind::Gpu, choiceOf(options));
  return backend == nullptr ? std::string_view() : backend->name();
}

Gpus kindOf(std::string_view backend) {
  return backend == "emulated"                  ? Gpus::Emulated
         : backend.empty() || backend == "null" ? Gpus::None
                                                : Gpus::Real;
}

Sizes smallSizes() {
  Sizes sizes;
  sizes.product = 192;
  sizes.products = 12;
  sizes.adds = 200;
  sizes.batches = {16, 64};
  sizes.largestBatch = 64;
  sizes.epochBatch = 16;
  sizes.epoch = 20;
  sizes.independent = 256;
  sizes.queues = {2, 4};
  sizes.layer = {128, 128, 128};
  sizes.dags = 10;
  sizes.dagSize = 32;
  return sizes;
}

Sizes quickened(Sizes sizes) {
  sizes.products = std::min(sizes.products, 10);
  sizes.adds = std::min(sizes.adds, 100);
  sizes.epoch = std::min(sizes.epoch, 10);
  sizes.dags = 3;
  return sizes;
}

std::string firstOf(const Diagnostics& errors) {
  const Diagnostic& error = errors.front();
  std::string text = error.message + (error.hint.empty() ? "" : fmt::format(" ({})", error.hint));
  return errors.size() == 1 ? text : fmt::format("{}; and {} more", text, errors.size() - 1);
}

} // namespace

void Prepared::step() const {
  const auto pending = session->submit(feeds);
  DFC_ASSERT(pending.ok(), "a step was refused: " + render(pending.errors()));
}

Harness::Harness(BenchOptions options, Report& report)
    : options_(std::move(options)), times_(options_.tables), report_(report) {
  useTimes();
  for (const DeviceRow& device : options_.machine.devices) {
    if (device.kind == DeviceKind::Gpu) {
      gpus_.push_back(device.name);
    }
  }
  const std::string_view backend = gpuBackend(options_.session);
  realGpus_ = !gpus_.empty() && kindOf(backend) == Gpus::Real;
  sizes_ = realGpus_ ? Sizes{} : smallSizes();
  sizes_ = options_.quick ? quickened(sizes_) : sizes_;
}

std::vector<std::string> Harness::precisions() const {
  return options_.quick && !realGpus_ ? std::vector<std::string>{"f32"}
                                      : std::vector<std::string>{"f32", "tf32"};
}

Sampling Harness::requested(const Sampling& usual, const Sampling& quick) const {
  const Sampling& own = options_.quick ? quick : usual;
  return {options_.samples.value_or(own.samples), options_.steps.value_or(own.steps), own.warmUp};
}

Sampling Harness::longSteps() const { return requested({7, 1, 2}, {3, 1, 1}); }
Sampling Harness::shortSteps() const { return requested({7, realGpus_ ? 50U : 5U, 5}, {3, 2, 1}); }

bool Harness::wants(const std::string& key) const {
  return options_.only.empty() ||
         std::any_of(options_.only.begin(), options_.only.end(),
                     [&](const std::string& pattern) { return selects(pattern, key); });
}

void Harness::useTimes() {
  static const RooflineCostModel roofline; // outlives every model that falls back to it
  cost_ = std::make_shared<CalibratedCostModel>(times_.tables(), roofline);
}

// New times may change the placement. The second plan needs no new times: its ops have the same signatures.
Result<Executable> Harness::plan(const Graph& graph, const Machine& machine, CompileOptions options) {
  options.mergeLaunches = options.mergeLaunches && !options_.noMergedLaunches;
  options.peerReads = !options_.noPeerReads;
  options.calibrations = times_.tables();
  auto plan = compile(graph, machine, *cost_, options);
  if (!plan || !options_.calibrate || !times_.learn(*plan, options_.session)) {
    return plan;
  }
  useTimes();
  options.calibrations = times_.tables();
  return compile(graph, machine, *cost_, options);
}

Result<Prepared> Harness::prepare(const Result<Graph>& graph, const Variation& variation) {
  if (!graph) {
    return graph.errors();
  }
  CompileOptions compileOptions;
  compileOptions.skipPasses = variation.skipPasses;
  // Data are parameters in most of these graphs, as a baseline's tensors stay on the device: what is made of
  // them belongs to the step.
  compileOptions.skipPasses.emplace_back("hoist_invariant_ops");
  compileOptions.mergeLaunches = variation.mergeLaunches;
  compileOptions.pins = variation.pins;
  compileOptions.precision = variation.precision;
  auto made = plan(*graph, variation.machine.value_or(options_.machine), compileOptions);
  if (!made) {
    return made.errors();
  }
  Prepared prepared;
  prepared.plan = std::make_shared<const Executable>(*std::move(made));
  SessionOptions sessionOptions = options_.session;
  sessionOptions.trace = variation.trace;
  sessionOptions.maxInFlight = variation.maxInFlight;
  auto session = Session::open(prepared.plan, sessionOptions);
  if (!session) {
    return session.errors();
  }
  prepared.session = *std::move(session);
  noteDevices(prepared);
  return prepared;
}

/// Merges the device reports: a device is unused only if no plan uses it.
void Harness::noteDevices(const Prepared& prepared) {
  const std::vector<std::string> devices = prepared.session->deviceReport();
  for (const DeviceId device : prepared.plan->machine().devices.ids()) {
    const bool used = !devices[device.index()].ends_with(": not used");
    if (used && prepared.plan->machine().devices[device].kind == DeviceKind::Gpu) {
      gpusUsed_ = kindOf(gpuBackend(options_.session));
    }
  }
  deviceReport_.resize(std::max(deviceReport_.size(), devices.size()));
  for (size_t i = 0; i < devices.size(); ++i) {
    if (deviceReport_[i].empty() || deviceReport_[i].ends_with(": not used")) {
      deviceReport_[i] = devices[i];
    }
  }
}

void Harness::attempt(const std::string& key, const std::string& description,
                      const std::function<Status(Row&)>& measure) const {
  Row row;
  row.key = key;
  row.description = description;
  try {
    if (const Status status = measure(row); !status) {
      row.reason = firstOf(status.errors());
    }
  } catch (const MachineError& failure) {
    row.failed = true;
    row.reason = failure.what();
  }
  report_.add(std::move(row));
}

void Harness::lacking(const std::string& key, const std::string& description,
                      const std::string& reason) const {
  const bool inside = std::any_of(options_.only.begin(), options_.only.end(),
                                  [&](const std::string& pattern) { return selectsInside(pattern, key); });
  if (!inside && !wants(key)) {
    return;
  }
  Row row;
  row.key = key;
  row.description = description;
  row.reason = reason;
  report_.add(std::move(row));
}

std::optional<double> Harness::required(double ratio) const {
  return realGpus_ && !options_.quick ? std::optional(ratio) : std::nullopt;
}

Check Harness::seen(std::string description, bool holds) const {
  return {std::move(description), holds ? 1.0 : 0.0, std::nullopt, required(1), false, true};
}

void Harness::checkPrediction(Row& row) const {
  if (required(1) && row.time && row.predicted) {
    row.checks.push_back({"predicted makespan", row.time->median / *row.predicted, 1.1, 0.9});
  }
}

std::vector<double> sampleSteps(const Prepared& prepared, const Sampling& sampling) {
  const double start = steadySeconds();
  for (uint32_t i = 0; i < sampling.warmUp; ++i) {
    prepared.step();
  }
  prepared.session->waitAll();
  while (steadySeconds() - start < sampling.warmSeconds) {
    prepared.step();
    prepared.session->waitAll();
  }
  std::vector<double> seconds;
  for (uint32_t sample = 0; sample < sampling.samples; ++sample) {
    const double begin = steadySeconds();
    for (uint32_t i = 0; i < sampling.steps; ++i) {
      prepared.step();
    }
    prepared.session->waitAll();
    seconds.push_back((steadySeconds() - begin) / sampling.steps);
  }
  return seconds;
}

Spread timeSteps(const Prepared& prepared, const Sampling& sampling) {
  return spreadOf(sampleSteps(prepared, sampling));
}

void measureSteps(const Prepared& prepared, const Sampling& sampling, Row& row) {
  row.time = timeSteps(prepared, sampling);
  row.predicted = prepared.plan->predictedSeconds();
  row.bound = prepared.plan->lowerBoundSeconds();
}

Check against(const Row& row, std::string description, double seconds, std::optional<double> atMost) {
  DFC_ASSERT(row.time.has_value(), "a row without a time has no checks");
  return {std::move(description), row.time->median / seconds, atMost, std::nullopt};
}

} // namespace dfc::bench
