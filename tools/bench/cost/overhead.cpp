// The overhead of the runtime: graphs of 100,000 empty ops on two queues, compiled, and run again, beside a
// bare executor in this file and other task executors (dfc_executors). These call a function for each task,
// so the rows with a limit, twice the bare executor, run on a backend whose ops are calls too. The backend
// `null` omits the calls; its rows show the rest of the overhead.
#include "runtime/steady_seconds.h"
#include "tools/bench/cost/calling_backend.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/large.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

constexpr double mostOverBare = 2;
constexpr const char* bareExecutor = "bare executor";
constexpr uint32_t queues = 2;

void doNothing(void* /*context*/) {}

/// The least work of an executor, on one thread: a task is called once its last predecessor has ended.
/// Successors are in compressed sparse rows, ready tasks on a stack, with a count of unfinished predecessors.
class BareExecutor {
 public:
  explicit BareExecutor(const Dag& dag)
      : first_(dag.count() + 1), missing_(dag.count()), calls_(dag.count(), doNothing) {
    for (const uint32_t before : dag.before) {
      ++first_[before + 1];
    }
    for (uint32_t task = 0; task < dag.count(); ++task) {
      first_[task + 1] += first_[task];
      missing_[task] = dag.first[task + 1] - dag.first[task];
      if (missing_[task] == 0) {
        starts_.push_back(task);
      }
    }
    after_.resize(dag.before.size());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t task = 0; task < dag.count(); ++task) {
      for (uint32_t edge = dag.first[task]; edge < dag.first[task + 1]; ++edge) {
        after_[next[dag.before[edge]]++] = task;
      }
    }
  }

  /// Returns the number of tasks called.
  uint32_t run() {
    left_ = missing_;
    ready_ = starts_;
    uint32_t called = 0;
    while (!ready_.empty()) {
      const uint32_t task = ready_.back();
      ready_.pop_back();
      calls_[task](nullptr);
      ++called;
      for (uint32_t edge = first_[task]; edge < first_[task + 1]; ++edge) {
        if (--left_[after_[edge]] == 0) {
          ready_.push_back(after_[edge]);
        }
      }
    }
    return called;
  }

 private:
  std::vector<uint32_t> first_, after_, missing_, left_, starts_, ready_;
  std::vector<void (*)(void*)> calls_;
};

/// A cpu with two queues on which empty ops take no time.
Machine emptyMachine() {
  Machine machine;
  machine.name = "two empty queues";
  DeviceRow cpu;
  cpu.name = "cpu0";
  cpu.computeQueues = queues;
  machine.devices.add(cpu);
  return machine;
}

CompileOptions asWritten() {
  CompileOptions options;
  options.skipPasses = {"fold_constants",   "simplify",    "share_common_ops",
                        "fuse_elementwise", "fuse_matmul", "drop_dead_ops"};
  return options;
}

Result<std::shared_ptr<const Executable>> planOf(const Graph& graph) {
  auto plan = compile(graph, emptyMachine(), RooflineCostModel(), asWritten());
  if (!plan) {
    return plan.errors();
  }
  return std::make_shared<const Executable>(*std::move(plan));
}

Result<std::unique_ptr<Session>> openOn(const std::shared_ptr<const Executable>& plan, Backend* backend) {
  SessionOptions options;
  options.cpuBackend = backend == nullptr ? "null" : std::string(backend->name());
  if (backend != nullptr) {
    options.moreBackends = {backend};
  }
  return Session::open(plan, options);
}

/// Seconds of one run, over `runs` runs and one wait.
double secondsOf(Session& session, uint32_t runs) {
  const double begin = steadySeconds();
  for (uint32_t i = 0; i < runs; ++i) {
    const auto pending = session.submit({});
    DFC_ASSERT(pending.ok(), "a step without feeds was refused: " + render(pending.errors()));
  }
  session.waitAll();
  return (steadySeconds() - begin) / runs;
}

double secondsOf(BareExecutor& bare, uint32_t runs, uint32_t tasks) {
  const double begin = steadySeconds();
  for (uint32_t i = 0; i < runs; ++i) {
    const uint32_t called = bare.run();
    DFC_ASSERT(called == tasks, "the bare executor calls every task");
  }
  return (steadySeconds() - begin) / runs;
}

struct Times {
  std::vector<double> build, onNull, called, bareBuild, bare;
};

Result<Times> measure(const Dag& dag, const Sampling& sampling) {
  const uint32_t samples = sampling.samples, runs = sampling.steps;
  const auto graph = graphOf(dag);
  if (!graph) {
    return graph.errors();
  }
  Times times;
  const auto calling = callingBackend();
  std::unique_ptr<Session> onNull, called;
  std::unique_ptr<BareExecutor> bare;
  for (uint32_t i = 0; i < std::min(samples, 3U); ++i) {
    double begin = steadySeconds();
    const auto plan = planOf(*graph);
    auto opened = plan ? openOn(*plan, nullptr) : Result<std::unique_ptr<Session>>(plan.errors());
    times.build.push_back(steadySeconds() - begin);
    auto other = plan ? openOn(*plan, calling.get()) : Result<std::unique_ptr<Session>>(plan.errors());
    if (!opened || !other) {
      return opened ? other.errors() : opened.errors();
    }
    onNull = *std::move(opened);
    called = *std::move(other);
    begin = steadySeconds();
    bare = std::make_unique<BareExecutor>(dag);
    times.bareBuild.push_back(steadySeconds() - begin);
  }
  secondsOf(*onNull, runs); // warm
  secondsOf(*called, runs);
  secondsOf(*bare, runs, dag.count());
  for (uint32_t i = 0; i < samples; ++i) {
    times.onNull.push_back(secondsOf(*onNull, runs));
    times.bare.push_back(secondsOf(*bare, runs, dag.count()));
    times.called.push_back(secondsOf(*called, runs));
  }
  return times;
}

std::string keyOf(const NamedDag& named) { return "overhead/" + named.name; }

/// The rows that a row of dfc is held against.
struct Reference {
  const Report& report;
  std::string key; ///< of the baselines' rows
  std::optional<double> mostOverBare;
};

std::string perTask(const Spread& time, const Dag& dag) {
  return fmt::format("{:.1f} ns per task", time.median * 1e9 / dag.count());
}

Row rowOf(const NamedDag& named, const std::string& suffix, const std::string& program,
          const std::string& description, std::vector<double> seconds) {
  Row row;
  row.key = keyOf(named) + suffix;
  row.program = program;
  row.description = named.description + description;
  row.time = spreadOf(std::move(seconds));
  row.notes.push_back(perTask(*row.time, named.dag));
  return row;
}

Row bareRow(const NamedDag& named, const std::string& suffix, const std::string& description,
            std::vector<double> seconds) {
  return rowOf(named, suffix, bareExecutor, description, std::move(seconds));
}

/// A row of dfc, held against every baseline of the key; against the bare executor with its limit.
Row ownRow(const NamedDag& named, const std::string& suffix, const std::string& description,
           std::vector<double> seconds, const Reference& reference) {
  Row row = rowOf(named, suffix, "dfc", description, std::move(seconds));
  for (const Row* baseline : baselinesAt(reference.report, reference.key)) {
    const auto limit = baseline->program == bareExecutor ? reference.mostOverBare : std::nullopt;
    row.checks.push_back(against(row, baseline->program, baseline->time->median, limit));
  }
  return row;
}

void addRows(const Harness& harness, const NamedDag& named, Times times) {
  Report& report = harness.report();
  const std::string key = keyOf(named);
  const bool run = harness.wants(key), called = harness.wants(key + "/called");
  if (run || called) {
    report.add(bareRow(named, "", ", run again", std::move(times.bare)));
  }
  if (run) {
    report.add(ownRow(named, "", ", run again on null, where no op is called", std::move(times.onNull),
                      {report, key, std::nullopt}));
  }
  if (called) {
    report.add(ownRow(named, "/called", ", run again, each a call of an empty function",
                      std::move(times.called), {report, key, harness.atFullSize(mostOverBare)}));
  }
  if (harness.wants(key + "/build")) {
    report.add(bareRow(named, "/build", ", built", std::move(times.bareBuild)));
    report.add(ownRow(named, "/build", ", compiled and opened", std::move(times.build),
                      {report, key + "/build", std::nullopt}));
  }
}

/// The graphs with a row that is wanted.
std::vector<NamedDag> wantedDags(const Harness& harness) {
  std::vector<NamedDag> dags = overheadDags(harness.quick());
  std::erase_if(dags, [&](const NamedDag& named) {
    const std::string key = keyOf(named);
    return !harness.wants(key) && !harness.wants(key + "/called") && !harness.wants(key + "/build");
  });
  return dags;
}

/// Runs the other task executors on the same graphs.
void runOthers(const Harness& harness, const std::vector<NamedDag>& dags, const BaselineOptions& baselines) {
  BaselineProgram others;
  others.executable = "dfc_executors";
  for (const NamedDag& named : dags) {
    others.keys.push_back(keyOf(named));
  }
  runInstalledBaseline(harness, std::move(others), baselines, {"overhead", "other task executors"});
}

} // namespace

void runtimeOverhead(Harness& harness, const BaselineOptions& baselines) {
  const std::vector<NamedDag> dags = wantedDags(harness);
  runOthers(harness, dags, baselines);
  for (const NamedDag& named : dags) {
    auto times = measure(named.dag, harness.requested({9, 10, 1}, {3, 2, 1}));
    if (times) {
      addRows(harness, named, *std::move(times));
    } else {
      harness.attempt(keyOf(named), named.description, [&](Row&) -> Status { return times.errors(); });
    }
  }
}

} // namespace dfc::bench
