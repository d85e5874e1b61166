// Random well-typed graphs over the whole op table, for properties that hold of every graph: passes keep
// every bit, backends agree, placements are sound, text round-trips. Small shapes, zero-sized and scalar ones
// included; broadcasting, shared operands, repeated ops and identities come up often on purpose.
#pragma once

#include "tests/support/random_values.h"

namespace dfc::test {

struct RandomGraphOptions {
  size_t ops = 40; ///< about how many, sources included
  std::vector<ElementType> elements{allElementTypes.begin(), allElementTypes.end()};
  std::vector<OpKind> kinds;       ///< empty: every kind that computes; sources come as they are needed
  std::vector<std::string> scopes; ///< each op is in one of these or in none
  std::vector<std::string> pins;   ///< each op is pinned to one of these or to none
  bool state = true;               ///< parameters, some with an assign
  bool constants = true;           ///< false: sources are inputs and parameters
  bool zeroSized = true;           ///< shapes with a dimension of 0
  int64_t mostElements = 400;      ///< of one value
  bool request = false;            ///< a float loss and a request for its gradients, which are fetched
};

/// The same seed and options give the same graph. Every value without a reader is fetched, and some others.
Graph randomGraph(uint64_t seed, const RandomGraphOptions& options = {});

/// What `options.kinds` means when it is empty: every op of the table but sources, assign, transfer, fused,
/// fusedMatmul, fusedConv2d and gradients (which passes and placement make, or an assign at the end of
/// `randomGraph`), and cut, whose wishes machines and one another may contradict.
std::vector<OpKind> computingKinds();

} // namespace dfc::test
