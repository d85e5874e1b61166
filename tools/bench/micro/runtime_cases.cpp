// The runtime around the kernels: loading plans, calling threads, a step submitted and awaited; each beside
// the plain way to do it.
#include "compiler/compile.h"
#include "ir/author/dsl.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/session.h"
#include "tools/bench/graphs/large.h"
#include "tools/bench/micro/cases.h"
#include "tools/bench/micro/made.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace dfc::bench {
namespace {

Machine oneCpu() {
  Machine machine;
  machine.name = "a CPU";
  DeviceRow cpu;
  cpu.name = "cpu0";
  machine.devices.add(cpu);
  return machine;
}

Executable planOf(const Graph& graph) { return made(compile(graph, oneCpu(), RooflineCostModel())); }

Works loading(size_t nodes) {
  const Graph graph = made(largeModel(nodes));
  return {[bytes = planOf(graph).serialise()] { made(Executable::parse(bytes, "large.plan")); },
          [graph] { planOf(graph); }};
}

Works callingThreads() {
  const auto pool = std::make_shared<ThreadPool>(2);
  return {[pool] { pool->run(2, [](uint32_t) {}); },
          [] {
            std::thread other([] {});
            other.join();
          }};
}

/// A thread that answers requests, through a mutex and condition variables.
class Answerer {
 public:
  Answerer() : thread_([this] { serve(); }) {}
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;
  ~Answerer() {
    ask(true);
    thread_.join();
  }
  void askAndWait() {
    ask(false);
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return !asked_; });
  }

 private:
  void ask(bool last) {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    last_ = last;
    called_.notify_one();
  }
  void serve() {
    for (bool last = false; !last;) {
      std::unique_lock lock(mutex_);
      called_.wait(lock, [&] { return asked_; });
      asked_ = false;
      last = last_;
      answered_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable called_, answered_;
  bool asked_ = false, last_ = false; // both guarded by mutex_
  std::thread thread_;
};

Works stepping() {
  SessionOptions options;
  options.cpuBackend = "null";
  Builder g("one op");
  g.fetch("y", tanh(g.parameter("x", f32({1}), zeros())));
  const auto plan = std::make_shared<const Executable>(planOf(made(std::move(g).finish())));
  const std::shared_ptr<Session> session = made(Session::open(plan, options));
  const auto answerer = std::make_shared<Answerer>();
  return {[session] { made(session->run({})); }, [answerer] { answerer->askAndWait(); }};
}

} // namespace

std::vector<MicroCase> runtimeCases(bool quick) {
  const size_t nodes = quick ? 200 : 2000;
  return {
      {"micro/plan/load", "a plan of " + std::to_string(nodes) + " ops read and verified",
       "compiling it anew", [nodes] { return loading(nodes); }},
      {"micro/threads/call", "two empty parts on two threads", "a thread started and joined", callingThreads},
      {"micro/step", "a step of one op on null, awaited", "a thread asked, its answer awaited", stepping},
  };
}

} // namespace dfc::bench
