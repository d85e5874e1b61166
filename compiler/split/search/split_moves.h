// SplitMoves: plans near a plan, for a local search over splits. A move gives one op, the ops of its kind in
// its scope, or all ops like it another option; gives the results of connected ops one layout; changes the
// price of links, everywhere or around one scope; or takes other devices. The other ops follow as the
// objective of the choice (choose_split.h) wants it, with a penalty on each change that is drawn anew: from
// "no op else, unless a layout is not allowed" to "whatever is cheapest beside the change" (proximal steps).
// In half of the moves inputs and parameters follow their readers without a penalty: nothing but their
// readers depends on where they come from.
#pragma once

#include "compiler/split/choose_split.h"
#include "compiler/split/split.h"

#include <llvm/ADT/DenseSet.h>

#include <memory>
#include <optional>
#include <random>

namespace dfc {

class SplitMoves {
 public:
  struct State {
    size_t mesh = 0;
    std::vector<uint32_t> option; ///< by op
    double price = 1;             ///< of a second on a link
    double seconds = 0;           ///< of the objective, penalties included
  };

  /// `start` outlives it. Cuts that were asked for stay, and with them the devices.
  SplitMoves(const SplitGraph& start, const Machine& machine, const CostModel& cost);

  State start() const;
  /// One that was not given before; nothing where none is found in many draws.
  std::optional<State> next(const State& from);
  SplitPlan planOf(const State& state) const;

 private:
  struct OnMesh {
    SplitChoices choices;
    SplitProblem problem; ///< at price 1
  };
  struct Move {
    State at;                     ///< the options that it departs from, on the mesh that it goes to
    std::vector<uint32_t> forced; ///< by op: the option that it has to have, or `undecided`
    std::vector<double> pricesOf; ///< by op: of a second on a link, for what the op gives
    double stay = 0;              ///< seconds of an op that leaves its option
    bool sourcesFollow = false;   ///< inputs, parameters and constants leave theirs without these seconds
  };

  Move draw(const State& from);
  void recut(Move& move);
  void join(Move& move);
  void reprice(Move& move);
  void moveToOtherMesh(Move& move);
  std::vector<OpId> alike(OpId op);
  std::vector<OpId> connected(OpId seed, size_t most);
  std::optional<State> settled(const Move& move) const;
  OnMesh& on(size_t mesh) const;
  std::vector<uint32_t> carried(const State& from, size_t mesh) const;
  double secondsAnOp(const State& at) const;
  uint32_t below(size_t count) { return static_cast<uint32_t>(random_() % count); }
  double logUniform(double least, double most);

  const SplitGraph& start_;
  const Graph& graph_;
  const Machine& machine_;
  const CostModel& cost_;
  OptionSpace space_;
  SideTable<OpId, llvm::SmallVector<OpId, 4>> neighbours_; ///< but parameters, inputs and constants
  std::vector<Mesh> meshes_;
  mutable std::vector<std::unique_ptr<OnMesh>> onMesh_; ///< made when it is asked for
  llvm::DenseSet<uint64_t> seen_;
  std::mt19937_64 random_{1};
};

} // namespace dfc
