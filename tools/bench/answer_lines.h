// What a program prints that `dfc-bench` starts beside itself, in the form that peers/peer.py describes: an
// object a line. Nothing here knows dfc.
#pragma once

#include "tools/bench/spread.h"

#include <string>
#include <vector>

namespace dfc::bench {

/// What it is asked: --keys K,… [--samples N] [--quick]. Other words are left to the program.
struct Question {
  std::vector<std::string> keys;
  uint32_t samples = 0; ///< 0: the program's own number
  bool quick = false;
  uint32_t samplesOr(uint32_t usual, uint32_t whenQuick) const {
    return samples > 0 ? samples : quick ? whenQuick : usual;
  }
};
/// Throws where N is no number from 1 to 1000.
Question questionOf(int count, char** words);

void say(const std::string& key, const std::string& who, const Spread& spread);
void sayWhyNot(const std::string& key, const std::string& who, const std::string& why);

} // namespace dfc::bench
