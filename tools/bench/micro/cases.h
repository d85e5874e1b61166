// The cases of dfc_micro: pieces of the compiler and of the runtime, each beside plain code that does the
// least work that the task needs. A case has no state between repetitions; only main.cpp uses Google
// Benchmark.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dfc::bench {

using Work = std::function<void()>;

/// The two functions of a case, which may share data.
struct Works {
  Work dfc, baseline;
  double bytes = 0; ///< read and written by `dfc` each time; 0 where memory is not the limit
};

struct MicroCase {
  std::string key;         ///< "micro/kernel/add"
  std::string description; ///< for people
  std::string baseline;    ///< the work of the baseline
  /// Throws where the machine lacks a requirement.
  std::function<Works()> prepare;
};

/// All of them; `quick`: small ones.
std::vector<MicroCase> microCases(bool quick);

/// The parts of the list, a file each.
std::vector<MicroCase> kernelCases(bool quick);
std::vector<MicroCase> compilerCases(bool quick);
std::vector<MicroCase> runtimeCases(bool quick);

} // namespace dfc::bench
