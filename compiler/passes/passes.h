// The graph-to-graph passes. Each is a pure function in its own file; their order and its reasons are in
// passes.def. A pass keeps every fetch, every assign and every bit of every fetched value;
// `recognise_attention`, `decompose`, `fuse_batch_norm`, `space_to_depth` and, for bf16 and f16,
// `scale_losses` and `set_precision` alone may change how an op is rounded; `scale_losses` alone adds state
// and may leave an assign out of a step.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/op_options.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dfc {

/// The author's choices that passes ask for.
struct PassOptions {
  Precision precision = Precision::Ieee; ///< of f32 products that do not state their own
  /// Whether convolutions with this pin, "" for none, should have their channels last, and their pixels in
  /// blocks (space_to_depth); empty: none should.
  std::function<bool(std::string_view pin)> channelsLast = {};
  /// Whether ops with this pin, "" for none, run on CPUs alone: convolutions there keep the order of filters,
  /// whose kernels pack them, and end in elementwise work (fuse_matmul); empty: none does.
  std::function<bool(std::string_view pin)> onCpus = {};
  /// Whether the same rules beside the graph pin both ops; empty: there are none. Asked before rules are
  /// applied.
  std::function<bool(const Graph&, OpId, OpId)> pinnedAlike = {};
};

#define DFC_PASS(function, name, phase, why)                                                                 \
  Result<Graph> function(const Graph& graph, const PassOptions& options = {});
#include "compiler/passes/passes.def"
#undef DFC_PASS

enum class PassPhase : uint8_t {
  Expand,  ///< until every op that will run has its name, so that pins can be applied by name
  Rewrite, ///< behind the pins: ops are renamed, joined and dropped
  Fuse,    ///< behind the cut into parts: ops become fused bodies and products with epilogues
};

struct PassRow {
  Result<Graph> (*run)(const Graph&, const PassOptions&);
  std::string_view name;
  PassPhase phase;
  std::string_view why;
};
/// All passes in the order in which `compile` runs them.
llvm::ArrayRef<PassRow> allPasses();
/// What CompileOptions::skipPasses leaves out beside them: the stage compiler/hoist, of one graph to two.
inline constexpr std::string_view hoistName = "hoist_invariant_ops";
/// The names of all passes, and that one.
std::vector<std::string> skippableNames();
/// An error for each name that is none of these.
Diagnostics checkPassNames(llvm::ArrayRef<std::string> names);

} // namespace dfc
