// dfc_executors: times other task executors on the graphs of `dfc-bench --only overhead`, which starts it.
// Arguments (--keys K,…, --samples N, --quick) and output are those of baselines/baseline.py.
#include "tools/bench/executors/executors.h"
#include "tools/bench/result_lines.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>

namespace dfc::bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double secondsOf(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void measure(const Executor& executor, const NamedDag& row, uint32_t samples) {
  std::vector<double> build, run;
  std::unique_ptr<BuiltGraph> graph;
  for (uint32_t i = 0; i < samples; ++i) {
    graph.reset();
    build.push_back(secondsOf([&] { graph = executor.build(row.dag); }));
  }
  graph->run(); // warm
  for (uint32_t i = 0; i < samples; ++i) {
    run.push_back(secondsOf([&] { graph->run(); }));
  }
  printTime("overhead/" + row.name, executor.program, spreadOf(std::move(run)));
  const std::string built = "overhead/" + row.name + "/build";
  if (executor.keepsGraph) {
    printTime(built, executor.program, spreadOf(std::move(build)));
  } else {
    printNotMeasured(built, executor.program,
                     "it creates its tasks anew in each run, whose time includes that");
  }
}

int runAll(const Request& request) {
  const std::vector<std::string>& keys = request.keys;
  for (const NamedDag& row : overheadDags(request.quick)) {
    const std::string key = "overhead/" + row.name;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      continue;
    }
    for (const Executor& executor : allExecutors()) {
      measure(executor, row, request.samplesOr(7, 3));
    }
    for (const std::string& program : missingExecutors()) {
      printNotMeasured(key, program, "not installed when dfc was built");
    }
  }
  return 0;
}

} // namespace

std::vector<Executor> allExecutors() {
  std::vector<Executor> all;
#ifdef DFC_HAS_TASKFLOW
  all.push_back(taskflowExecutor());
#endif
#ifdef DFC_HAS_TBB
  all.push_back(tbbExecutor());
#endif
#ifdef DFC_HAS_STARPU
  all.push_back(starpuExecutor());
#endif
  return all;
}

std::vector<std::string> missingExecutors() {
  std::vector<std::string> missing;
#ifndef DFC_HAS_TASKFLOW
  missing.emplace_back("Taskflow");
#endif
#ifndef DFC_HAS_TBB
  missing.emplace_back("oneTBB flow graph");
#endif
#ifndef DFC_HAS_STARPU
  missing.emplace_back("StarPU");
#endif
  return missing;
}

} // namespace dfc::bench

int main(int count, char** words) {
  try {
    return dfc::bench::runAll(dfc::bench::requestOf(count, words));
  } catch (const std::exception& error) {
    std::cerr << "dfc_executors: " << error.what() << "\n";
    return 2;
  }
}
