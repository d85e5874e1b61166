// dfc_executors: times the executors of others on the task graphs of `dfc-bench --only overhead`, which
// starts it. Takes and prints what peers/peer.py describes: --keys K,…, --samples N, --quick; an object a
// line.
#include "tools/bench/answer_lines.h"
#include "tools/bench/executors/executors.h"

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
  say("overhead/" + row.name, executor.who, spreadOf(std::move(run)));
  const std::string built = "overhead/" + row.name + "/build";
  if (executor.keepsGraph) {
    say(built, executor.who, spreadOf(std::move(build)));
  } else {
    sayWhyNot(built, executor.who, "it makes its tasks anew for each run, whose time has that in it");
  }
}

int runAll(const Question& question) {
  const std::vector<std::string>& keys = question.keys;
  for (const NamedDag& row : overheadDags(question.quick)) {
    const std::string key = "overhead/" + row.name;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      continue;
    }
    for (const Executor& executor : allExecutors()) {
      measure(executor, row, question.samplesOr(7, 3));
    }
    for (const std::string& who : missingExecutors()) {
      sayWhyNot(key, who, "not installed when dfc was built");
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
    return dfc::bench::runAll(dfc::bench::questionOf(count, words));
  } catch (const std::exception& error) {
    std::cerr << "dfc_executors: " << error.what() << "\n";
    return 2;
  }
}
