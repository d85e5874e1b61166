// What dfc itself costs, beside its peers: the table of a bare `dfc-bench` (issue 4, "Cost").
#pragma once

#include "tools/bench/peers.h"

namespace dfc::bench {

struct Cost {
  void (*run)(Stage&, const PeerOptions&);
  std::string_view keys; ///< the beginnings of its rows' keys
};
llvm::ArrayRef<Cost> allCosts();

#define DFC_COST(function, keys) void function(Stage&, const PeerOptions&);
#include "tools/bench/cost/costs.def"
#undef DFC_COST

} // namespace dfc::bench
