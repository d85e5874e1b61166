// The command line of the lesson.
#pragma once

#include "compiler/compile.h"
#include "samples/06_gpt/gpt.h"

#include <string>

namespace dfc::gpt {

struct Options {
  Sizes sizes;
  Training training;
  CompileOptions compile;
  int64_t steps = 600;
  std::string text, machine;
  std::string graphFile; ///< where the training step goes as a graph file; "" for nowhere
  int64_t sampled = 0;   ///< tokens
  double temperature = 1;
  bool usual = true; ///< the lesson as it is tested: nothing that training depends on was given
};

/// Ends the program after --help, and on a mistake.
Options readOptions(int count, char** words);

} // namespace dfc::gpt
