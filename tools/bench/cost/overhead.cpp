// What the runtime itself costs: graphs of 100,000 empty ops on two queues of `null`, built and run again,
// beside a bare executor in this file and beside other task executors (dfc_executors). Issue 4: within twice
// the bare one.
#include "runtime/executable_folder.h"
#include "runtime/null/null_device.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/large.h"

#include <fmt/format.h>

#include <filesystem>

namespace dfc::bench {
namespace {

constexpr double mostOverBare = 2;
constexpr uint32_t queues = 2;

void nothing(void* /*context*/) {}

/// The least that can be done: a task is called when its last predecessor has ended, on one thread;
/// successors in compressed rows (CSR), counts of those still missing, a stack of what is ready.
class BareExecutor {
 public:
  explicit BareExecutor(const Dag& dag)
      : first_(dag.count() + 1), missing_(dag.count()), calls_(dag.count(), nothing) {
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

/// The null backend, but each op that computes is a call of an empty function: what an op costs that is not
/// left out.
class CallingWork final : public WorkMaker {
 public:
  PreparedCall prepare(const Executable& /*plan*/, const Command& command) override {
    return command.kind == Command::Kind::Compute ? PreparedCall{nothing, nullptr} : PreparedCall{};
  }
  void bind(const Round& /*round*/) override {}
};

class CallingBackend final : public Backend {
 public:
  std::string_view name() const override { return "calling"; }
  bool supports(DeviceKind /*kind*/) const override { return true; }
  std::string unavailable() const override { return ""; }
  bool hasKernel(const Graph& /*graph*/, OpId /*op*/) const override { return true; }
  std::vector<std::unique_ptr<Device>> open(llvm::ArrayRef<DeviceRequest> devices,
                                            const BackendOptions& /*options*/) override {
    return openNullDevices(devices.size(), [] { return std::make_unique<CallingWork>(); });
  }
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

Result<Times> measure(const Dag& dag, uint32_t samples, uint32_t runs) {
  const auto graph = graphOf(dag);
  if (!graph) {
    return graph.errors();
  }
  Times times;
  CallingBackend calling;
  std::unique_ptr<Session> onNull, called;
  std::unique_ptr<BareExecutor> bare;
  for (uint32_t i = 0; i < std::min(samples, 3U); ++i) {
    double begin = steadySeconds();
    const auto plan = planOf(*graph);
    auto opened = plan ? openOn(*plan, nullptr) : Result<std::unique_ptr<Session>>(plan.errors());
    times.build.push_back(steadySeconds() - begin);
    auto other = plan ? openOn(*plan, &calling) : Result<std::unique_ptr<Session>>(plan.errors());
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

std::string perTask(const Spread& time, const Dag& dag) {
  return fmt::format("{:.1f} ns per task", time.median * 1e9 / dag.count());
}

Row rowOf(const NamedDag& named, const std::string& suffix, const std::string& who, const std::string& what,
          std::vector<double> seconds) {
  Row row;
  row.key = "overhead/" + named.name + suffix;
  row.who = who;
  row.what = named.what + what;
  row.time = spreadOf(std::move(seconds));
  row.notes.push_back(perTask(*row.time, named.dag));
  return row;
}

void holdAgainstPeers(const Report& report, Row& row) {
  for (const Row& other : report.rows()) {
    if (other.key == row.key && other.who != row.who && other.time) {
      row.checks.push_back(against(row, other.who, other.time->median));
    }
  }
}

void addRows(Stage& stage, const NamedDag& named, Times times) {
  Report& report = stage.report();
  Row bare = rowOf(named, "", "bare executor", ", run again", std::move(times.bare));
  const double limit = bare.time->median;
  report.add(std::move(bare));
  report.add(rowOf(named, "/build", "bare executor", ", built", std::move(times.bareBuild)));
  Row onNull = rowOf(named, "", "dfc", ", run again on null", std::move(times.onNull));
  onNull.checks.push_back(against(onNull, "bare executor", limit, stage.atFullSize(mostOverBare)));
  for (const Row& other : std::vector<Row>(report.rows())) {
    if (other.key == onNull.key && other.who != "bare executor" && other.time) {
      onNull.checks.push_back(against(onNull, other.who, other.time->median));
    }
  }
  report.add(std::move(onNull));
  Row called = rowOf(named, "/called", "dfc", ", run again, each a call of an empty function",
                     std::move(times.called));
  called.checks.push_back(against(called, "bare executor", limit, stage.atFullSize(mostOverBare)));
  report.add(std::move(called));
  Row build = rowOf(named, "/build", "dfc", ", compiled and opened", std::move(times.build));
  holdAgainstPeers(report, build);
  report.add(std::move(build));
}

} // namespace

void runtimeOverhead(Stage& stage, const PeerOptions& peers) {
  const std::vector<NamedDag> dags = overheadDags(stage.quick());
  PeerScript others;
  others.program = (executableFolder() / "dfc_executors").string();
  others.file = "dfc_executors";
  for (const NamedDag& named : dags) {
    others.keys.push_back("overhead/" + named.name);
  }
  if (std::error_code ignored; std::filesystem::exists(others.program, ignored)) {
    runPeer(stage, others, peers);
  } else {
    stage.lacking("overhead", "other task executors", "not installed: dfc_executors is not beside dfc");
  }
  for (const NamedDag& named : dags) {
    const std::string key = "overhead/" + named.name;
    if (!stage.wants(key)) {
      continue;
    }
    auto times = measure(named.dag, stage.quick() ? 3 : 9, stage.quick() ? 2 : 10);
    if (times) {
      addRows(stage, named, *std::move(times));
    } else {
      stage.attempt(key, named.what, [&](Row&) -> Status { return times.errors(); });
    }
  }
}

} // namespace dfc::bench
