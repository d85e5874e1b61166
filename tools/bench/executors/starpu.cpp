// StarPU: tasks with declared dependences, submitted anew in each run, since StarPU runs a task once. An
// application that runs its graph again pays the same.
#include "tools/bench/executors/executors.h"

#include <starpu.h>

#include <cstdlib>

namespace dfc::bench {
namespace {

void nothing(void** /*buffers*/, void* /*argument*/) {}

/// Starts StarPU once, with two workers on the host, and pauses them: idle workers spin, and other executors
/// are timed in this process.
void start() {
  static const bool started = [] {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    conf.ncuda = 0;
    conf.nopencl = 0;
    const bool ok = starpu_init(&conf) == 0;
    if (ok) {
      starpu_pause();
      std::atexit([] {
        starpu_resume(); // shutdown waits for workers that are not paused
        starpu_shutdown();
      });
    }
    return ok;
  }();
  if (!started) {
    throw std::runtime_error("StarPU does not start");
  }
}

class Graph final : public BuiltGraph {
 public:
  explicit Graph(const Dag& dag) : dag_(dag) {
    start();
    starpu_resume();
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = nothing;
    codelet_.name = "nothing";
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() override { starpu_pause(); }
  void run() override {
    std::vector<starpu_task*> tasks;
    for (uint32_t task = 0; task < dag_.count(); ++task) {
      tasks.push_back(starpu_task_create());
      tasks.back()->cl = &codelet_;
      tasks.back()->destroy = 0; // its successors refer to it
      std::vector<starpu_task*> before;
      for (uint32_t edge = dag_.first[task]; edge < dag_.first[task + 1]; ++edge) {
        before.push_back(tasks[dag_.before[edge]]);
      }
      if (!before.empty()) {
        starpu_task_declare_deps_array(tasks.back(), static_cast<unsigned>(before.size()), before.data());
      }
      if (starpu_task_submit(tasks.back()) != 0) {
        throw std::runtime_error("StarPU takes no task");
      }
    }
    starpu_task_wait_for_all();
    for (starpu_task* task : tasks) {
      starpu_task_destroy(task);
    }
  }

 private:
  const Dag& dag_;
  starpu_codelet codelet_;
};

} // namespace

Executor starpuExecutor() {
  return {"StarPU " + std::to_string(STARPU_MAJOR_VERSION) + "." + std::to_string(STARPU_MINOR_VERSION),
          [](const Dag& dag) { return std::make_unique<Graph>(dag); }, /*keepsGraph=*/false};
}

} // namespace dfc::bench
