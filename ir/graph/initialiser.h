// How a parameter starts, as an author says it.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>
#include <string>

namespace DFC_PUBLIC dfc {

/// How a parameter starts: a kind and its numbers. Made by zeros(), normal(), glorot(), … of the DSL.
struct Initialiser {
  /// The kinds of initialiser.
  enum class Kind : uint8_t {
    Zeros,     ///< every element 0
    Constant,  ///< every element `a`
    Uniform,   ///< in [a, b)
    Normal,    ///< mean `a`, deviation `b`
    Glorot,    ///< uniform in +-sqrt(6 / (fanIn + fanOut)) (Glorot and Bengio 2010)
    File,      ///< from `file`: .npy, "weights.safetensors#name" or "model.onnx#name"
    HeNormal,  ///< mean 0, deviation sqrt(2 / fanIn) (He et al. 2015, for layers that end in ReLU)
    HeUniform, ///< in +-sqrt(6 / fanIn) (likewise)
  };
  /// How the parameter starts.
  Kind kind = Kind::Zeros;
  double a = 0;          ///< the kind's first number
  double b = 0;          ///< the kind's second number
  int64_t seed = 0;      ///< of kinds that draw: a seed gives the same bits anywhere
  std::string file = {}; ///< of File: relative paths start at SessionOptions::dataFolder
};

} // namespace dfc
