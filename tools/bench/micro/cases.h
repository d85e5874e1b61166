// What dfc_micro measures: pieces of the compiler and of the runtime that are too small for a row of their
// own in a whole step, each beside plain code that does the least that the work asks for. A case is repeated
// as it is; Google Benchmark, which times it, is known to main.cpp alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dfc::bench {

using Work = std::function<void()>;

/// The two of one case, which may share what they work on.
struct Works {
  Work ours, theirs;
  double bytes = 0; ///< that ours reads and writes each time; 0 where memory is not the limit
};

struct MicroCase {
  std::string key;  ///< "micro/kernel/add"
  std::string what; ///< for people
  std::string peer; ///< what `theirs` does
  /// Throws where the machine has not got what it needs.
  std::function<Works()> prepare;
};

/// All of them; `quick`: small ones.
std::vector<MicroCase> microCases(bool quick);

/// The parts of the list, a file each.
std::vector<MicroCase> kernelCases(bool quick);
std::vector<MicroCase> compilerCases(bool quick);
std::vector<MicroCase> runtimeCases(bool quick);

} // namespace dfc::bench
