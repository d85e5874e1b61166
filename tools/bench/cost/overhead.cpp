// What the runtime itself costs: graphs of 100,000 empty ops on two queues of `null`, built and run again,
// beside a bare executor in this file and beside other task executors (dfc_executors). Issue 4: within twice
// the bare one. All of those call a function a task, so ours is held against them with ops that are calls
// too; `null` leaves ops out, and its own rows only tell what is left then.
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

/// The least that can be done: a task is called when its last predecessor has ended, on one thread;
/// successors in compressed rows (CSR), counts of those still missing, a stack of what is ready.
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

  /// Gives how many tasks were called.
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

/// Seconds of one run: `runs` of them, and one wait.
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

/// What a row of ours is held against.
struct Yardstick {
  const Report& report;
  std::string key; ///< of the others' rows
  std::optional<double> mostOverBare;
};

std::string perTask(const Spread& time, const Dag& dag) {
  return fmt::format("{:.1f} ns per task", time.median * 1e9 / dag.count());
}

Row rowOf(const NamedDag& named, const std::string& suffix, const std::string& who, const std::string& what,
          std::vector<double> seconds) {
  Row row;
  row.key = keyOf(named) + suffix;
  row.who = who;
  row.what = named.what + what;
  row.time = spreadOf(std::move(seconds));
  row.notes.push_back(perTask(*row.time, named.dag));
  return row;
}

Row bareRow(const NamedDag& named, const std::string& suffix, const std::string& what,
            std::vector<double> seconds) {
  return rowOf(named, suffix, bareExecutor, what, std::move(seconds));
}

/// Ours beside all that did the work `key`, the bare executor with a limit where there is one.
Row ownRow(const NamedDag& named, const std::string& suffix, const std::string& what,
           std::vector<double> seconds, const Yardstick& yardstick) {
  Row row = rowOf(named, suffix, "dfc", what, std::move(seconds));
  for (const Row* peer : peersAt(yardstick.report, yardstick.key)) {
    const auto limit = peer->who == bareExecutor ? yardstick.mostOverBare : std::nullopt;
    row.checks.push_back(against(row, peer->who, peer->time->median, limit));
  }
  return row;
}

void addRows(const Stage& stage, const NamedDag& named, Times times) {
  Report& report = stage.report();
  const std::string key = keyOf(named);
  const bool run = stage.wants(key), called = stage.wants(key + "/called");
  if (run || called) {
    report.add(bareRow(named, "", ", run again", std::move(times.bare)));
  }
  if (run) {
    report.add(ownRow(named, "", ", run again on null, where no op is called", std::move(times.onNull),
                      {report, key, std::nullopt}));
  }
  if (called) {
    report.add(ownRow(named, "/called", ", run again, each a call of an empty function",
                      std::move(times.called), {report, key, stage.atFullSize(mostOverBare)}));
  }
  if (stage.wants(key + "/build")) {
    report.add(bareRow(named, "/build", ", built", std::move(times.bareBuild)));
    report.add(ownRow(named, "/build", ", compiled and opened", std::move(times.build),
                      {report, key + "/build", std::nullopt}));
  }
}

/// Those of which some row is asked for.
std::vector<NamedDag> wantedDags(const Stage& stage) {
  std::vector<NamedDag> dags = overheadDags(stage.quick());
  std::erase_if(dags, [&](const NamedDag& named) {
    const std::string key = keyOf(named);
    return !stage.wants(key) && !stage.wants(key + "/called") && !stage.wants(key + "/build");
  });
  return dags;
}

/// Others' executors on the same graphs.
void runOthers(const Stage& stage, const std::vector<NamedDag>& dags, const PeerOptions& peers) {
  PeerScript others;
  others.program = "dfc_executors";
  for (const NamedDag& named : dags) {
    others.keys.push_back(keyOf(named));
  }
  runProgramBeside(stage, std::move(others), peers, {"overhead", "other task executors"});
}

} // namespace

void runtimeOverhead(Stage& stage, const PeerOptions& peers) {
  const std::vector<NamedDag> dags = wantedDags(stage);
  runOthers(stage, dags, peers);
  for (const NamedDag& named : dags) {
    auto times = measure(named.dag, stage.asAsked({9, 10, 1}, {3, 2, 1}));
    if (times) {
      addRows(stage, named, *std::move(times));
    } else {
      stage.attempt(keyOf(named), named.what, [&](Row&) -> Status { return times.errors(); });
    }
  }
}

} // namespace dfc::bench
