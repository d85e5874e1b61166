// Verifiers by mutation: of sound plans, every mutant (mutants.h) is refused by a verifier, and those that
// can matter are seen to matter when they run all the same.
//
// A mutant can matter when there is an order of commands, extreme at one of the steps that the mutation
// touches and allowed by what is left of queues and waits, in which some fetched value or parameter comes to
// be from other things than in the sound plan: see provenance.h, which computes with origins and knows no
// rule. That order is then forced upon the emulated backend (forced_backend.h), and a NaN or a wrong number
// must come out. Only where numbers do not depend on where they come from (y * x in the place of x * y) may
// it be right by accident, and then the interpreter (interpreted.h) must come to the same in that order.
// A mutant that cannot matter in any of these orders (an input's place in the arena, for instance, is never
// written: readers read what was fed) must give the right bits.
//
// Numbers must not hide what happens to them: in the random graphs no op forgets its operands, as relu does
// half of them, there are no constants, and fed values are all unlike.
#include "ir/author/text/parse.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/property/forced_backend.h"
#include "tests/property/interpreted.h"
#include "tests/property/mutants.h"
#include "tests/property/plan_runs.h"
#include "tests/property/provenance.h"
#include "tests/support/sanitizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

constexpr int stepsRun = 2; // the second step finds the first one's values in memory instead of NaN

struct Tally {
  int mutants = 0, refused = 0, matter = 0, shown = 0, nan = 0;
  int accidents = 0; ///< that matter, and are right all the same: the interpreter agrees
};
using Tallies = std::map<Mutation, Tally>;

/// No two elements alike; whole numbers from 0 to 7, so that they serve as labels.
Literal unlike(const TensorType& type, Dice& dice) {
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, isFloat(type.element) ? dice.unit() * 2 - 1 : static_cast<double>(dice.below(8)));
  }
  return literal;
}

NamedLiterals unlikeValues(const Graph& graph, OpKind kind, uint64_t seed) {
  Dice dice(seed);
  NamedLiterals values;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() == kind) {
      values[std::string(graph.nameOf(op))] = unlike(graph.typeOf(graph[op].firstResult), dice);
    }
  }
  return values;
}

bool hasNan(const NamedLiterals& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& entry) {
    const Literal& literal = entry.second;
    for (int64_t i = 0; i < literal.type().shape.elements(); ++i) {
      if (std::isnan(literal.at(i))) {
        return true;
      }
    }
    return false;
  });
}

/// AddressSanitizer ends a program whose copies overlap, which is what a mutant that shares bytes makes them
/// do.
bool mayRun(Mutation mutation) {
#ifdef DFC_UNDER_ADDRESS_SANITIZER
  return mutation != Mutation::SharedBytes;
#else
  (void)mutation;
  return true;
#endif
}

/// A sound plan, its feeds and its results.
class Specimen {
 public:
  Specimen(const Graph& graph, std::shared_ptr<const Executable> plan, uint64_t seed)
      : plan_(std::move(plan)), sound_(timelessStagesOf(*plan_)),
        state_(unlikeValues(graph, OpKind::Parameter, seed)) {
    for (int step = 0; step < stepsRun; ++step) {
      feeds_.push_back(unlikeValues(graph, OpKind::Input, seed + 1 + static_cast<uint64_t>(step)));
    }
    initial_ = initialWrites(plan_->placed(), state_);
    REQUIRE(render(verdictOn(sound_)).empty());
    SessionOptions emulated;
    emulated.gpuBackend = "emulated"; // as the mutants; a GPU's own bits are not the host's
    expected_ = run(plan_, emulated);
    REQUIRE_FALSE(hasNan(expected_.state));
    for (const NamedLiterals& fetches : expected_.fetches) {
      REQUIRE_FALSE(hasNan(fetches));
    }
    const CommandOrder commands(*plan_);
    origins_ = originsOf(*plan_, commands, commands.bySteps());
    for (const StepId step : plan_->schedule().steps.ids()) {
      REQUIRE(originsOf(*plan_, commands, commands.early(step)) == origins_);
      REQUIRE(originsOf(*plan_, commands, commands.late(step)) == origins_);
    }
  }

  void mutate(Tallies& tallies) {
    for (const Mutation mutation : allMutations) {
      for (const Mutant& mutant : mutantsOf(sound_, mutation)) {
        INFO(mutant.what);
        ++tallies[mutation].mutants;
        const auto isRefused = [&](const PlanStages& parts) { return !verdictOn(parts).empty(); };
        const bool refused = std::all_of(mutant.refused.begin(), mutant.refused.end(), isRefused);
        CHECK(refused);
        tallies[mutation].refused += refused ? 1 : 0;
        if (mayRun(mutation)) {
          execute(mutant, tallies[mutation]);
        }
      }
    }
  }

 private:
  Origins originsOf(const Executable& plan, const CommandOrder& commands, const Sequence& sequence) const {
    return provenanceOf(plan, commands, sequence, initial_, stepsRun);
  }

  Outcome run(const std::shared_ptr<const Executable>& plan, const SessionOptions& options) const {
    auto session = Session::open(plan, options);
    REQUIRE(session.ok());
    REQUIRE((*session)->setState(state_).ok());
    Outcome outcome;
    for (const NamedLiterals& feeds : feeds_) {
      outcome.fetches.push_back(*(*session)->run(feeds));
    }
    outcome.state = (*session)->state();
    return outcome;
  }

  Outcome runForced(const std::shared_ptr<const Executable>& plan, const CommandOrder& commands,
                    const Sequence& sequence) const {
    const ForcedOrder order(commands, sequence);
    ForcedBackend cpu(*backendNamed("cpu"), order), gpu(*backendNamed("emulated"), order);
    SessionOptions options;
    options.moreBackends = {&cpu, &gpu};
    options.cpuBackend = cpu.name();
    options.gpuBackend = gpu.name();
    return run(plan, options);
  }

  enum class Harm : uint8_t { None, Unknown, Sure };
  struct Trial {
    Sequence order;
    Harm harm = Harm::None;
  };
  /// The most harmful order there is.
  Trial worstTrial(const Executable& plan, const CommandOrder& commands,
                   const std::vector<StepId>& suspects) const {
    std::vector<Sequence> orders{commands.bySteps()};
    for (const StepId step : suspects) {
      orders.push_back(commands.early(step));
      orders.push_back(commands.late(step));
    }
    Trial worst{orders.front(), Harm::None};
    for (const Sequence& order : orders) {
      const Origins origins = originsOf(plan, commands, order);
      const Harm harm = origins.torn ? Harm::Unknown : origins == origins_ ? Harm::None : Harm::Sure;
      if (harm > worst.harm) {
        worst = {order, harm};
      }
    }
    return worst;
  }

  void execute(const Mutant& mutant, Tally& tally) const {
    const auto plan = unverified(*plan_, mutant.executed);
    const CommandOrder commands(*plan);
    const Trial trial = worstTrial(*plan, commands, mutant.suspects);
    const Outcome outcome = runForced(plan, commands, trial.order);
    const std::string seen = difference(expected_, outcome);
    const bool sure = trial.harm == Harm::Sure;
    const bool accident = sure && seen.empty() && isAccident(*plan, commands, trial.order);
    tally.matter += sure ? 1 : 0;
    tally.shown += sure && !seen.empty() ? 1 : 0;
    tally.accidents += accident ? 1 : 0;
    tally.nan += sure && (hasNan(outcome.fetches.front()) || hasNan(outcome.state)) ? 1 : 0;
    INFO("seen: " << seen);
    CHECK((trial.harm == Harm::Unknown || sure == (!seen.empty() || accident)));
  }

  bool isAccident(const Executable& plan, const CommandOrder& commands, const Sequence& order) const {
    const CommandOrder sound(*plan_);
    const auto right = interpreted(*plan_, sound, sound.bySteps(), initial_, feeds_);
    const auto here = interpreted(plan, commands, order, initial_, feeds_);
    return std::equal(right.begin(), right.end(), here.begin(), here.end(),
                      [](const Literal& a, const Literal& b) { return bitDifference(a, b).empty(); });
  }

  std::shared_ptr<const Executable> plan_;
  PlanStages sound_;
  NamedLiterals state_;
  std::vector<NamedLiterals> feeds_;
  std::vector<std::pair<ValueId, Literal>> initial_;
  Outcome expected_;
  Origins origins_;
};

/// At least so many of each kind were made, two fifths of each kind mattered, and of those all but one in
/// twenty showed.
void checkEnough(const Tallies& tallies, int least) {
  for (const Mutation mutation : allMutations) {
    const Tally tally = tallies.count(mutation) != 0 ? tallies.at(mutation) : Tally{};
    WARN(fmt::format("{}: {} mutants, {} refused; {} matter: {} show, {} of them as NaN, {} are right by "
                     "accident",
                     name(mutation), tally.mutants, tally.refused, tally.matter, tally.shown, tally.nan,
                     tally.accidents));
    CHECK(tally.mutants >= least);
    CHECK((!mayRun(mutation) || 5 * tally.matter >= 2 * tally.mutants));
    CHECK(20 * tally.accidents <= tally.matter);
  }
}

RandomGraphOptions nothingForgotten(uint64_t seed) {
  RandomGraphOptions options;
  options.ops = 15 + seed % 25;
  options.elements = {ElementType::F32, ElementType::F64};
  options.kinds = {OpKind::Add,       OpKind::Mul,    OpKind::Neg,     OpKind::Tanh,      OpKind::Matmul,
                   OpKind::ReduceSum, OpKind::Concat, OpKind::Reshape, OpKind::Transpose, OpKind::Broadcast};
  options.zeroSized = false;
  options.constants = false;
  return options;
}

void mutateRandomGraph(uint64_t seed, Tallies& tallies) {
  const Graph graph = randomGraph(seed, nothingForgotten(seed));
  CompileOptions options;
  options.pins = randomPins(graph, seed);
  options.skipPasses = {"hoist_invariant_ops"}; // a preparation's mutants are those of any plan
  const std::array shapes = {Shape{2, true, 1}, Shape{2, false, 2}, Shape{3, true, 2}};
  INFO("seed " << seed);
  Specimen(graph, planOf(graph, machineOf(shapes[seed % shapes.size()]), options), seed).mutate(tallies);
}

Graph sample(const std::string& path) {
  Result<Graph> graph = readGraph(shippedFile("samples/" + path).string());
  REQUIRE(graph.ok());
  return *std::move(graph);
}

void mutateSample(const std::string& path, const Shape& shape, const std::vector<PinRule>& pins,
                  Tallies& tallies) {
  INFO(path);
  const Graph graph = sample(path);
  CompileOptions options;
  options.pins = pins;
  Specimen(graph, planOf(graph, machineOf(shape), options), 7).mutate(tallies);
}

} // namespace

TEST_CASE("mutants of the figure's plan are refused, and show when they run") {
  Tallies tallies;
  mutateSample("04_graph_file/figure.dfg", {2, true, 1}, {}, tallies);
  checkEnough(tallies, 14); // as many transfers as the figure has
}

TEST_CASE("mutants of random plans are refused, and show when they run") {
  Tallies tallies;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    mutateRandomGraph(seed, tallies);
  }
  checkEnough(tallies, 100);
}

TEST_CASE("mutants, the long run", "[heavy]") {
  Tallies tallies;
  mutateSample("04_graph_file/figure.dfg", {2, false, 2}, {}, tallies);
  mutateSample("02_train_mlp/mlp.dfg", {2, true, 2}, {{"*w1*", "gpu0"}, {"*w2*", "gpu1"}}, tallies);
  for (uint64_t seed = 100; seed < 400; ++seed) {
    mutateRandomGraph(seed, tallies);
  }
  checkEnough(tallies, 3000);
}

} // namespace dfc::test
