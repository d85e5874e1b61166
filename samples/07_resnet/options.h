// The command line of the lesson.
#pragma once

#include "compiler/compile.h"
#include "samples/07_resnet/resnet.h"

#include <string>

namespace dfc::resnet {

struct Options {
  Sizes sizes;
  Training training;
  CompileOptions compile;
  int64_t steps = 200;
  std::string machine;
  std::string graphFile; ///< where the training step is written to; empty: nowhere
  bool usual = true;     ///< the lesson as it is tested: of training, nothing was given but 100 steps or more

  /// Whether Fashion-MNIST has such images; others are random.
  bool fashion() const { return sizes.image == 28 && sizes.channels == 1 && sizes.classes == 10; }
};

/// Ends the program after --help, and on a mistake.
Options readOptions(int count, char** words);

} // namespace dfc::resnet
