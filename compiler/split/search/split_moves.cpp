#include "compiler/split/search/split_moves.h"

#include "compiler/split/choice/minimise.h"
#include "compiler/split/relayout_seconds.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// Small graphs may have all options that the rules allow: tables stay small.
constexpr size_t mostOpsOfAllOptions = 100;
constexpr double leastPrice = 0.01, mostPrice = 3;

bool sameOption(const OpOption& a, const OpOption& b) {
  return a.form == b.form && a.factor == b.factor && a.operands == b.operands;
}

std::optional<uint32_t> indexOf(const OpOption& option, llvm::ArrayRef<OpOption> options) {
  const auto found = llvm::find_if(options, [&](const OpOption& other) { return sameOption(option, other); });
  return found == options.end() ? std::nullopt
                                : std::optional(static_cast<uint32_t>(found - options.begin()));
}

uint64_t hashOf(const SplitMoves::State& state) {
  uint64_t hash = 0x9e3779b97f4a7c15U + state.mesh;
  for (const uint32_t option : state.option) {
    hash = (hash ^ option) * 0x100000001b3U;
    hash ^= hash >> 29U;
  }
  return hash >> 2U; // the two largest are DenseSet's own
}

bool sameMesh(const Mesh& a, const Mesh& b) { return a.devices == b.devices; }

/// The start's mesh, those that `splitCandidates` tries, and the first devices of each.
std::vector<Mesh> meshesFor(const SplitGraph& start, const Machine& machine, const CostModel& cost) {
  std::vector<Mesh> meshes = {start.plan.mesh};
  if (!start.asked.empty()) {
    return meshes;
  }
  const auto add = [&](Mesh mesh) {
    if (llvm::none_of(meshes, [&](const Mesh& other) { return sameMesh(mesh, other); })) {
      meshes.push_back(std::move(mesh));
    }
  };
  for (const Mesh& mesh : candidateMeshes(start.whole, machine, cost)) {
    for (size_t size = 2; size < mesh.size(); ++size) {
      add(meshOfAll({mesh.devices.begin(), mesh.devices.begin() + static_cast<ptrdiff_t>(size)}, start.whole,
                    machine, cost));
    }
    add(mesh);
  }
  return meshes;
}

} // namespace

SplitMoves::SplitMoves(const SplitGraph& start, const Machine& machine, const CostModel& cost)
    : start_(start), graph_(start.whole), machine_(machine), cost_(cost),
      space_(!start.asked.empty() || graph_.opCount() <= mostOpsOfAllOptions ? OptionSpace::All
                                                                             : OptionSpace::Useful),
      neighbours_(graph_.opCount()), meshes_(meshesFor(start, machine, cost)), onMesh_(meshes_.size()) {
  for (const OpId op : graph_.ops()) {
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (classOf(graph_[producer].kind()) != OpClass::Source) {
        neighbours_[op].push_back(producer);
        neighbours_[producer].push_back(op);
      }
    }
  }
  seen_.insert(hashOf(this->start()));
}

SplitMoves::OnMesh& SplitMoves::on(size_t mesh) const {
  if (!onMesh_[mesh]) {
    SplitChoices choices(graph_, meshes_[mesh], machine_, cost_, space_);
    for (const AskedCut& cut : start_.asked) {
      choices.require(cut.value, cut.axis);
    }
    SplitProblem problem = choices.problemAt(1);
    onMesh_[mesh] = std::make_unique<OnMesh>(OnMesh{std::move(choices), std::move(problem)});
  }
  return *onMesh_[mesh];
}

SplitMoves::State SplitMoves::start() const {
  State state{0, std::vector<uint32_t>(graph_.opCount(), 0), start_.plan.price, start_.plan.seconds};
  for (const OpId op : graph_.ops()) {
    state.option[op.index()] = indexOf(start_.plan.option[op], on(0).choices.options(op)).value_or(0);
  }
  return state;
}

SplitPlan SplitMoves::planOf(const State& state) const {
  return on(state.mesh).choices.planOf(state.option, state.price, state.seconds);
}

// From a plan that was given before a further step leads on, so that plans behind it are reached.
std::optional<SplitMoves::State> SplitMoves::next(const State& from) {
  constexpr int mostDraws = 200;
  State at = from;
  for (int i = 0; i < mostDraws; ++i) {
    auto found = settled(draw(at));
    if (found && seen_.insert(hashOf(*found)).second) {
      return found;
    }
    at = found && below(4) != 0 ? *std::move(found) : from;
  }
  return std::nullopt;
}

SplitMoves::Move SplitMoves::draw(const State& from) {
  Move move;
  move.at = from;
  move.forced.assign(graph_.opCount(), undecided);
  move.sourcesFollow = below(2) == 0;
  move.stay = logUniform(0.01, 10) * secondsAnOp(from);
  const uint32_t kind = below(10);
  if (kind == 0 && meshes_.size() > 1) {
    moveToOtherMesh(move);
  }
  if (kind <= 1) {
    move.at.price = logUniform(leastPrice, mostPrice);
    move.stay = below(2) == 0 ? 0 : move.stay;
  }
  move.pricesOf.assign(graph_.opCount(), move.at.price);
  if (kind == 2) {
    reprice(move);
  } else if (kind > 6) {
    recut(move);
  } else if (kind > 2) {
    join(move);
  }
  return move;
}

// A layout of the seed's result, and the same one for results of ops around it, so that none is changed
// between them.
void SplitMoves::join(Move& move) {
  const SplitChoices& choices = on(move.at.mesh).choices;
  constexpr size_t mostJoined = 8;
  const OpId seed(below(graph_.opCount()));
  const auto options = choices.options(seed);
  const Layout layout = options[below(options.size())].results[0];
  for (const OpId op : connected(seed, 1 + below(mostJoined))) {
    const auto own = choices.options(op);
    const auto found =
        llvm::find_if(own, [&](const OpOption& option) { return option.results[0] == layout; });
    if (found != own.end()) {
      move.forced[op.index()] = static_cast<uint32_t>(found - own.begin());
    }
  }
}

// Along edges in random order.
std::vector<OpId> SplitMoves::connected(OpId seed, size_t most) {
  std::vector<OpId> group, frontier = {seed};
  llvm::DenseSet<OpId> seen = {seed};
  while (!frontier.empty() && group.size() < most) {
    std::swap(frontier[below(frontier.size())], frontier.back());
    group.push_back(frontier.back());
    frontier.pop_back();
    for (const OpId next : neighbours_[group.back()]) {
      if (seen.insert(next).second) {
        frontier.push_back(next);
      }
    }
  }
  return group;
}

void SplitMoves::moveToOtherMesh(Move& move) {
  const size_t mesh = (move.at.mesh + 1 + below(meshes_.size() - 1)) % meshes_.size();
  move.at.option = carried(move.at, mesh);
  move.at.mesh = mesh;
}

// The same options where the other mesh has them.
std::vector<uint32_t> SplitMoves::carried(const State& from, size_t mesh) const {
  std::vector<uint32_t> option(graph_.opCount(), 0);
  for (const OpId op : graph_.ops()) {
    const OpOption& before = on(from.mesh).choices.options(op)[from.option[op.index()]];
    option[op.index()] = indexOf(before, on(mesh).choices.options(op)).value_or(0);
  }
  return option;
}

void SplitMoves::reprice(Move& move) {
  const StringId scope = graph_[OpId(below(graph_.opCount()))].scope;
  const double price = logUniform(leastPrice, mostPrice);
  for (const OpId op : graph_.ops()) {
    if (graph_[op].scope == scope) {
      move.pricesOf[op.index()] = price;
    }
  }
}

void SplitMoves::recut(Move& move) {
  const SplitChoices& choices = on(move.at.mesh).choices;
  constexpr int mostDraws = 20;
  for (int i = 0; i < mostDraws; ++i) {
    const OpId seed(below(graph_.opCount()));
    const auto options = choices.options(seed);
    if (options.size() < 2) {
      continue;
    }
    const uint32_t before = move.at.option[seed.index()];
    const uint32_t to = (before + 1 + below(options.size() - 1)) % static_cast<uint32_t>(options.size());
    for (const OpId op : alike(seed)) {
      if (move.at.option[op.index()] == before) {
        move.forced[op.index()] = indexOf(options[to], choices.options(op)).value_or(undecided);
      }
    }
    return;
  }
}

// The op alone; those of its kind and scope; or those of its kind and types anywhere, as in equal layers.
std::vector<OpId> SplitMoves::alike(OpId seed) {
  const uint32_t which = below(4);
  if (which < 2) {
    return {seed};
  }
  std::vector<OpId> found;
  const auto sameTypes = [&](OpId op) {
    return graph_.operandTypesOf(op) == graph_.operandTypesOf(seed) &&
           graph_.resultTypesOf(op) == graph_.resultTypesOf(seed);
  };
  for (const OpId op : graph_.ops()) {
    if (graph_[op].kind() == graph_[seed].kind() &&
        (which == 2 ? graph_[op].scope == graph_[seed].scope : sameTypes(op))) {
      found.push_back(op);
    }
  }
  return found;
}

std::optional<SplitMoves::State> SplitMoves::settled(const Move& move) const {
  const SplitProblem& base = on(move.at.mesh).problem;
  ChoiceProblem problem = base.choice;
  std::vector<double> prices = move.pricesOf; // by variable
  for (const auto& [producer, variable] : base.brought) {
    prices.resize(std::max<size_t>(prices.size(), variable + 1), 0);
    prices[variable] = move.pricesOf[producer.index()];
  }
  for (ChoiceTable& table : problem.tables) {
    const uint32_t variable = table.variables.front();
    if (table.variables.size() == 2) {
      llvm::for_each(table.costs, [&](double& cost) { cost *= prices[variable]; });
      continue;
    }
    const bool follows = move.sourcesFollow && variable < graph_.opCount() &&
                         classOf(graph_[OpId(variable)].kind()) == OpClass::Source;
    const double stay = follows ? 0 : move.stay;
    for (uint32_t i = 0; i < table.costs.size(); ++i) {
      const bool allowed = move.forced[variable] == undecided || move.forced[variable] == i;
      table.costs[i] += !allowed ? never : i == move.at.option[variable] ? 0 : stay;
    }
  }
  std::vector<uint32_t> start(problem.options.size(), undecided);
  for (const OpId op : graph_.ops()) {
    const uint32_t forced = move.forced[op.index()];
    start[op.index()] = forced == undecided ? move.at.option[op.index()] : forced;
  }
  ChoiceResult answer = minimise(problem, {chooseInOrder(problem, {}, std::move(start))});
  if (!std::isfinite(answer.cost)) {
    return std::nullopt;
  }
  answer.option.resize(graph_.opCount());
  return State{move.at.mesh, std::move(answer.option), move.at.price, answer.cost};
}

double SplitMoves::secondsAnOp(const State& at) const {
  const SplitPlan plan = planOf(at);
  double sum = 0;
  for (const OpId op : graph_.ops()) {
    sum += plan.opSeconds[op];
  }
  return sum / static_cast<double>(std::max<size_t>(1, graph_.opCount()));
}

double SplitMoves::logUniform(double least, double most) {
  const double unit = static_cast<double>(random_() >> 11U) * 0x1p-53;
  return least * std::pow(most / least, unit);
}

} // namespace dfc
