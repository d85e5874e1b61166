// dfc_micro: the cases of cases.h, timed by Google Benchmark. With --keys (as `dfc-bench` starts it, with
// the protocol of baselines/baseline.py) each case is timed alone, repetitions of dfc and baseline in random
// order, and the medians are printed as an object a line. Without --keys it is a Google Benchmark program
// with all its options.
#include "tools/bench/micro/cases.h"
#include "tools/bench/result_lines.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>

namespace dfc::bench {
namespace {

constexpr const char* ourselves = "dfc";

std::string nameOf(const MicroCase& one, const std::string& program) { return one.key + "/" + program; }

/// Registers both functions of a case; they are prepared when the first one begins.
std::vector<benchmark::internal::Benchmark*> enter(const MicroCase& one) {
  const auto works = std::make_shared<std::optional<Works>>();
  std::vector<benchmark::internal::Benchmark*> entered;
  for (const bool own : {true, false}) {
    const auto time = [works, own, prepare = one.prepare](benchmark::State& state) {
      if (!works->has_value()) {
        *works = prepare();
      }
      const Work& work = own ? (*works)->dfc : (*works)->baseline;
      for (auto _ : state) {
        work();
      }
      if ((*works)->bytes > 0) {
        state.SetBytesProcessed(static_cast<int64_t>((*works)->bytes) * state.iterations());
      }
    };
    const std::string name = nameOf(one, own ? ourselves : one.baseline);
    entered.push_back(benchmark::RegisterBenchmark(name.c_str(), time)->UseRealTime());
  }
  return entered;
}

/// Prints the medians of a case.
class Lines final : public benchmark::BenchmarkReporter {
 public:
  explicit Lines(const MicroCase& one) : case_(one) {}
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<double> seconds;
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration && run.iterations > 0) {
        seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
      }
    }
    if (!seconds.empty()) {
      const bool own = runs.front().run_name.function_name == nameOf(case_, ourselves);
      printTime(case_.key, own ? ourselves : case_.baseline, spreadOf(std::move(seconds)));
    }
  }

 private:
  const MicroCase& case_;
};

void answer(const Request& request, char* program) {
  std::string inRandomOrder = "--benchmark_enable_random_interleaving=true";
  char* words[] = {program, inRandomOrder.data()};
  int count = 2;
  benchmark::Initialize(&count, words);
  const double secondsOfSample = request.quick ? 0.001 : 0.05;
  for (const MicroCase& one : microCases(request.quick)) {
    if (std::find(request.keys.begin(), request.keys.end(), one.key) == request.keys.end()) {
      continue;
    }
    for (auto* entered : enter(one)) {
      entered->MinTime(secondsOfSample);
      entered->Repetitions(static_cast<int>(request.samplesOr(7, 3)));
    }
    Lines lines(one);
    try {
      benchmark::RunSpecifiedBenchmarks(&lines);
    } catch (const std::exception& error) { // other cases may still run
      printNotMeasured(one.key, ourselves, error.what());
    }
    benchmark::ClearRegisteredBenchmarks();
  }
}

int runAlone(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) {
    return 1;
  }
  for (const MicroCase& one : microCases(false)) {
    enter(one);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

} // namespace
} // namespace dfc::bench

int main(int count, char** words) {
  try {
    const dfc::bench::Request request = dfc::bench::requestOf(count, words);
    if (request.keys.empty()) {
      return dfc::bench::runAlone(count, words);
    }
    dfc::bench::answer(request, words[0]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "dfc_micro: " << error.what() << "\n";
    return 2;
  }
}
