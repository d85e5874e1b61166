// The output of the executables that `dfc-bench` runs as baselines, in the form that baselines/baseline.py
// describes: an object a line. Independent of dfc.
#pragma once

#include "tools/bench/spread.h"

#include <string>
#include <vector>

namespace dfc::bench {

/// The arguments: --keys K,… [--samples N] [--quick]. Other words are left to the program.
struct Request {
  std::vector<std::string> keys;
  uint32_t samples = 0; ///< 0: the program's default
  bool quick = false;
  uint32_t samplesOr(uint32_t usual, uint32_t whenQuick) const {
    return samples > 0 ? samples : quick ? whenQuick : usual;
  }
};
/// Throws where N is no number from 1 to 1000.
Request requestOf(int count, char** words);

/// Prints the time of the row `key`, measured with `program`.
void printTime(const std::string& key, const std::string& program, const Spread& spread);
/// Prints the reason why the row has no time.
void printNotMeasured(const std::string& key, const std::string& program, const std::string& reason);

} // namespace dfc::bench
