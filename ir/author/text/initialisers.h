// How a parameter's start is written: zeros(), constant(0.5), uniform(-1, 1, seed=3), normal(0, 0.02,
// seed=4), glorot(seed=1), heNormal(seed=2), heUniform(seed=5), file("w.npy"). Read by the parser and by the
// printer.
#pragma once

#include "ir/base/assert.h"
#include "ir/graph/graph.h"
#include "ir/graph/op.h"

namespace dfc::text {

struct InitialiserForm {
  ops::Parameter::Initialiser kind;
  std::string_view name;
  size_t numbers;         ///< how many it takes by position: a, then b
  bool takesFile;         ///< and the path of a file by position
  std::string_view usage; ///< for hints
};

inline constexpr std::array<InitialiserForm, 8> initialiserForms = {{
    {ops::Parameter::Initialiser::Zeros, "zeros", 0, false, "zeros()"},
    {ops::Parameter::Initialiser::Constant, "constant", 1, false, "constant(VALUE)"},
    {ops::Parameter::Initialiser::Uniform, "uniform", 2, false, "uniform(LOW, HIGH, seed=N)"},
    {ops::Parameter::Initialiser::Normal, "normal", 2, false, "normal(MEAN, DEVIATION, seed=N)"},
    {ops::Parameter::Initialiser::Glorot, "glorot", 0, false, "glorot(seed=N)"},
    {ops::Parameter::Initialiser::File, "file", 0, true, "file(\"PATH\")"},
    {ops::Parameter::Initialiser::HeNormal, "heNormal", 0, false, "heNormal(seed=N)"},
    {ops::Parameter::Initialiser::HeUniform, "heUniform", 0, false, "heUniform(seed=N)"},
}};

/// The form of an initialiser: its place in the list is its number.
inline const InitialiserForm& formOf(ops::Parameter::Initialiser kind) {
  const auto index = static_cast<size_t>(kind);
  DFC_ASSERT(index < initialiserForms.size() && initialiserForms[index].kind == kind, "initialiserForms");
  return initialiserForms[index];
}

} // namespace dfc::text
