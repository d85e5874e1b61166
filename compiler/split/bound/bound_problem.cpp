#include "compiler/split/bound/bound_problem.h"

#include "compiler/passes/fusion_groups.h"
#include "compiler/split/choose_split.h"
#include "compiler/split/relayout_seconds.h"
#include "compiler/split/sum_form.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

bool isAssigned(const Graph& graph, OpId parameter) {
  return llvm::any_of(graph.opsOf(OpKind::Assign),
                      [&](OpId assign) { return graph[graph[assign].operands[0]].producer == parameter; });
}

// Whether the op never becomes part of an elementwise kernel, the only ones that read at peers.
bool isNeverElementwise(OpKind kind) {
  return kind == OpKind::Matmul || kind == OpKind::Conv2d || kind == OpKind::Conv2dInputGradient ||
         kind == OpKind::Conv2dFilterGradient || kind == OpKind::Attention ||
         kind == OpKind::AttentionGradient;
}

} // namespace

/// The tables of a problem at one pair of weights.
class BoundTables {
 public:
  BoundTables(const BoundProblem& bound, const ResourceWeights& weights) : bound_(bound), weights_(weights) {}

  ChoiceProblem make() {
    const Graph& graph = bound_.graph_;
    for (const OpId op : graph.ops()) {
      problem_.addVariable(bound_.options_[op].size());
      std::vector<double> costs = bound_.seconds_[op];
      llvm::for_each(costs, [&](double& one) { one *= weights_.compute; });
      problem_.tables.push_back({{op.index()}, std::move(costs)});
    }
    for (const OpId assign : graph.opsOf(OpKind::Assign)) {
      tieAssign(assign);
    }
    for (const OpId op : graph.ops()) {
      for (const ValueId value : graph[op].results()) {
        addReads(value, op);
      }
    }
    return std::move(problem_);
  }

 private:
  using Read = BoundProblem::Read;
  /// The cost of each pair of an option of the producer and one of the reader; row-major.
  using PairCosts = std::vector<double>;

  // A parameter and the op that writes it have one layout.
  void tieAssign(OpId assign) {
    const OpId parameter = bound_.graph_[bound_.graph_[assign].operands[0]].producer;
    PairCosts costs;
    for (const OpOption& a : bound_.options_[parameter]) {
      for (const OpOption& b : bound_.options_[assign]) {
        costs.push_back(a.results[0] == b.operands[0] ? 0 : never);
      }
    }
    add(parameter.index(), assign.index(), std::move(costs));
  }

  PairCosts costsOf(ValueId value, OpId producer, const Read& read) const {
    PairCosts costs;
    for (size_t a = 0; a < bound_.options_[producer].size(); ++a) {
      for (size_t b = 0; b < bound_.options_[read.op].size(); ++b) {
        costs.push_back(bound_.relayout(value, a, read, b, weights_));
      }
    }
    return costs;
  }

  static bool isPriced(llvm::ArrayRef<double> costs) {
    return llvm::any_of(costs, [](double cost) { return cost > 0 && std::isfinite(cost); });
  }

  void addReads(ValueId value, OpId producer) {
    const auto& reads = bound_.reads_[value];
    std::vector<PairCosts> costs;
    llvm::transform(reads, std::back_inserter(costs),
                    [&](const Read& read) { return costsOf(value, producer, read); });
    if (llvm::count_if(costs, isPriced) < 2) {
      for (size_t i = 0; i < reads.size(); ++i) {
        add(producer.index(), reads[i].op.index(), std::move(costs[i]));
      }
      return;
    }
    addLargest(producer, reads, costs);
  }

  /// A producer's option, and what is paid for all changes of its layout.
  struct Paid {
    size_t option;
    double seconds;
  };

  // The largest of several costs by one more variable: what is paid, which no reader's change may exceed.
  void addLargest(OpId producer, llvm::ArrayRef<Read> reads, llvm::ArrayRef<PairCosts> costs) {
    const size_t options = bound_.options_[producer].size();
    const std::vector<Paid> paid = levels(options, costs);
    const uint32_t variable = problem_.addVariable(paid.size());
    PairCosts ofProducer;
    for (size_t option = 0; option < options; ++option) {
      llvm::transform(paid, std::back_inserter(ofProducer),
                      [&](const Paid& one) { return one.option == option ? one.seconds : never; });
    }
    add(producer.index(), variable, std::move(ofProducer));
    for (size_t i = 0; i < reads.size(); ++i) {
      const size_t others = bound_.options_[reads[i].op].size();
      PairCosts allowed;
      for (const Paid& one : paid) {
        for (size_t b = 0; b < others; ++b) {
          allowed.push_back(costs[i][one.option * others + b] <= one.seconds ? 0 : never);
        }
      }
      add(variable, reads[i].op.index(), std::move(allowed));
    }
  }

  static std::vector<Paid> levels(size_t options, llvm::ArrayRef<PairCosts> costs) {
    std::vector<Paid> paid;
    for (size_t option = 0; option < options; ++option) {
      std::vector<double> seconds{0};
      for (const PairCosts& one : costs) {
        const size_t others = one.size() / options;
        const auto row = llvm::ArrayRef<double>(one).slice(option * others, others);
        llvm::copy_if(row, std::back_inserter(seconds), [](double cost) { return std::isfinite(cost); });
      }
      llvm::sort(seconds);
      seconds.erase(std::unique(seconds.begin(), seconds.end()), seconds.end());
      llvm::transform(seconds, std::back_inserter(paid), [&](double one) { return Paid{option, one}; });
    }
    return paid;
  }

  void add(uint32_t a, uint32_t b, PairCosts costs) {
    if (a == b) { // an op that reads one of its results: none does
      return;
    }
    if (llvm::any_of(costs, [](double cost) { return cost > 0; })) {
      problem_.tables.push_back({{a, b}, std::move(costs)});
    }
  }

  const BoundProblem& bound_;
  ResourceWeights weights_;
  ChoiceProblem problem_;
};

BoundProblem::BoundProblem(const Graph& graph, const Mesh& mesh, const Machine& machine,
                           const CostModel& cost)
    : graph_(graph), mesh_(mesh), floor_(graph, mesh, machine, cost), used_(graph),
      rate_(arrivalRate(mesh, machine, cost)), options_(graph.opCount()), seconds_(graph.opCount()),
      ruled_(graph.opCount(), 0), free_(graph.valueCount(), false), reads_(graph.valueCount()) {
  // A kernel takes the longest of its reads at peers, of which it has as many as operands at most. What other
  // queues of its device do meanwhile is not known, nor how measured seconds of copies divide into latency
  // and bytes.
  if (mayReadPeers(mesh, machine)) {
    const bool oneQueue = machine.devices[mesh.devices.front()].computeQueues == 1;
    peerShare_ = rate_.isOfMachineFile && oneQueue ? 1.0 / static_cast<double>(mostFusedOperands) : 0;
  }
  const SplitChoices choices(graph, mesh, machine, cost, OptionSpace::All);
  for (const OpId op : graph.ops()) {
    addOptions(op, choices.options(op));
    for (uint32_t i = 0; i < graph[op].operands.size(); ++i) {
      if (graph[op].kind() != OpKind::Assign || i > 0) {
        reads_[graph[op].operands[i]].push_back({op, i});
      }
    }
    for (const ValueId value : graph[op].results()) {
      free_[value] = isFree(value);
    }
  }
}

void BoundProblem::addOptions(OpId op, llvm::ArrayRef<OpOption> options) {
  const auto has = [&](OpOption::Form form) {
    return llvm::any_of(options, [&](const OpOption& one) { return one.form == form; });
  };
  const OpKind kind = graph_[op].kind();
  options_[op].assign(options.begin(), options.end());
  ruled_[op] = options.size();
  if (has(OpOption::Form::OnAll) && !has(OpOption::Form::OnOne) && kind != OpKind::Parameter &&
      kind != OpKind::Assign) {
    options_[op].push_back(wholeOption(graph_, op, OpOption::Form::OnOne));
  }
  for (const OpOption& option : options_[op]) {
    seconds_[op].push_back(used_.isNeeded(op) ? floor_.seconds(op, option) : 0);
  }
}

// Feeds may arrive during the step before; small values share transfers; other devices keep a parameter that
// no step writes, and its cast.
bool BoundProblem::isFree(ValueId value) const {
  const OpId producer = graph_[value].producer;
  const OpRow& row = graph_[producer];
  if (isSmall(graph_.typeOf(value)) ||
      (classOf(row.kind()) == OpClass::Source && row.kind() != OpKind::Parameter)) {
    return true;
  }
  const OpId origin = row.kind() == OpKind::Cast ? graph_[row.operands[0]].producer : producer;
  return graph_[origin].kind() == OpKind::Parameter && !isAssigned(graph_, origin);
}

double BoundProblem::relayout(ValueId value, size_t option, const Read& read, size_t readerOption,
                              const ResourceWeights& weights) const {
  const OpId producer = graph_[value].producer;
  const size_t result = value.index() - graph_[producer].firstResult.index();
  const Layout& from = options_[producer][option].results[result];
  const OpOption& reader = options_[read.op][readerOption];
  const Layout& to = reader.operands[read.operand];
  if (free_[value] || !used_.isReadWhole(read.op, read.operand)) {
    return 0; // and no table, of a value that many ops read
  }
  // Copies that are dropped are read by no op that all devices compute.
  if (option >= ruled_[producer] && reader.form != OpOption::Form::OnOne) {
    return never;
  }
  if (rate_.bytesPerSecond == 0) {
    return 0;
  }
  // A parameter that is cast to fewer bits has replicas of these (compiler/transfer).
  const bool isParameter = graph_[producer].kind() == OpKind::Parameter;
  const TensorType& type = graph_.typeOf(value);
  const int64_t bytes = isParameter && graph_[read.op].kind() == OpKind::Cast
                            ? std::min(type.bytes(), graph_.typeOf(graph_[read.op].firstResult).bytes())
                            : type.bytes();
  const double seconds = static_cast<double>(bytes) / rate_.bytesPerSecond;
  const Traffic traffic = leastTraffic(from, to, type, mesh_);
  const bool isCopied = isParameter || (!from.isPartial() && isNeverElementwise(graph_[read.op].kind()));
  const double byReading =
      isCopied || !peerShare_ ? weights.links : std::min(weights.links, weights.compute * *peerShare_);
  return seconds * (weights.links * traffic.copied + byReading * traffic.readable);
}

ChoiceProblem BoundProblem::at(const ResourceWeights& weights) const {
  return BoundTables(*this, weights).make();
}

double BoundProblem::leastCompute() const {
  double sum = 0;
  for (const OpId op : graph_.ops()) {
    sum += *std::min_element(seconds_[op].begin(), seconds_[op].end());
  }
  return sum;
}

} // namespace dfc
