#include "compiler/place/minimum_cut.h"

#include "compiler/place/task_graph_of.h"
#include "ir/plan/placed_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

// Flow in whole units, so that no rounding keeps the algorithm from its end. All finite capacities together
// are far below an infinite one.
using Flow = int64_t;
constexpr Flow never = Flow{1} << 55;
constexpr double allUnits = 0x1p50;

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::bidirectionalS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::bidirectionalS,
    boost::property<boost::vertex_color_t, boost::default_color_type,
                    boost::property<boost::vertex_distance_t, long,
                                    boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>,
    boost::property<boost::edge_capacity_t, Flow,
                    boost::property<boost::edge_residual_capacity_t, Flow,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

/// A vertex for each op, the source for the first device, the sink for the second, and two for each value: it
/// is copied once, however many ops read it on the other side.
class CutNetwork {
 public:
  CutNetwork(const PlacementProblem& problem, DeviceId first, DeviceId second)
      : problem_(problem), graph_(problem.graph), first_(first), second_(second), source_(graph_.opCount()),
        sink_(source_ + 1), network_(graph_.opCount() + 2) {}

  std::optional<Placement> cut(Placement placement) {
    chooseUnit();
    for (const OpId op : graph_.ops()) {
      if (!isResident(graph_[op].kind()) && !addOp(op)) {
        return std::nullopt;
      }
    }
    addAssigns();
    addValues();
    boost::boykov_kolmogorov_max_flow(network_, source_, sink_);
    const auto color = boost::get(boost::vertex_color, network_);
    for (const OpId op : graph_.ops()) {
      if (graph_[op].kind() != OpKind::Input && !problem_.pins[op].valid()) {
        placement.device[op] = color[op.index()] == boost::black_color ? first_ : second_;
      }
    }
    settleResidents(placement, problem_);
    return placement;
  }

 private:
  // The sum of all finite capacities becomes `allUnits`.
  void chooseUnit() {
    double sum = 0;
    const auto add = [&](double seconds) { sum += std::isfinite(seconds) ? seconds : 0; };
    for (const OpId op : graph_.ops()) {
      add(secondsOn(first_, op));
      add(secondsOn(second_, op));
    }
    for (const ValueId value : graph_.values()) {
      add(2 * copySeconds(value, first_, second_) + 2 * copySeconds(value, second_, first_));
    }
    unitsPerSecond_ = sum > 0 ? allUnits / sum : 0;
  }

  double secondsOn(DeviceId device, OpId op) const {
    return isResident(graph_[op].kind()) ? 0 : problem_.cost.opSeconds(graph_, op, problem_.machine, device);
  }

  Flow units(double seconds) const {
    return std::isfinite(seconds) ? static_cast<Flow>(seconds * unitsPerSecond_) : never;
  }

  void addArc(size_t from, size_t to, Flow there, Flow back) {
    const auto forward = boost::add_edge(from, to, network_).first;
    const auto backward = boost::add_edge(to, from, network_).first;
    boost::put(boost::edge_capacity, network_, forward, there);
    boost::put(boost::edge_capacity, network_, backward, back);
    boost::put(boost::edge_reverse, network_, forward, backward);
    boost::put(boost::edge_reverse, network_, backward, forward);
  }

  // An op on the sink's side, the second device, cuts the arc from the source.
  bool addOp(OpId op) {
    const DeviceId pin = graph_[op].kind() == OpKind::Input ? problem_.machine.host() : problem_.pins[op];
    const double onFirst = secondsOn(first_, op);
    const double onSecond = secondsOn(second_, op);
    if (pin.valid()) { // a third device is on no side
      addArc(source_, op.index(), pin == first_ ? never : 0, 0);
      addArc(op.index(), sink_, pin == second_ ? never : 0, 0);
      return true;
    }
    addArc(source_, op.index(), units(onSecond), 0);
    addArc(op.index(), sink_, units(onFirst), 0);
    return std::isfinite(onFirst) || std::isfinite(onSecond);
  }

  // The assigns of one parameter's readers pay for its replicas: a reader apart from the assign costs a copy.
  void addAssigns() {
    for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
      assignOf_.emplace_back(graph_[graph_[assign].operands[0]].producer, assign);
    }
    std::sort(assignOf_.begin(), assignOf_.end());
  }

  // Where a value starts: its producer, of a parameter its assign; none for what no step changes.
  std::optional<OpId> originOf(ValueId value) const {
    const OpId producer = graph_[value].producer;
    if (!isResident(graph_[producer].kind())) {
      return producer;
    }
    const auto found = std::lower_bound(assignOf_.begin(), assignOf_.end(), std::pair(producer, OpId(0)));
    return found != assignOf_.end() && found->first == producer ? std::optional(found->second) : std::nullopt;
  }

  double copySeconds(ValueId value, DeviceId from, DeviceId to) const {
    const int64_t bytes = graph_.typeOf(value).bytes();
    const auto path = problem_.machine.path(from, to, bytes);
    return path ? problem_.cost.pathSeconds(problem_.machine, *path, bytes) : 0;
  }

  // A reader on the second device of a value that is made on the first cuts origin -> left; the other way
  // round right -> origin. A fetch is a reader on the host.
  void addValues() {
    SideTable<ValueId, std::vector<size_t>> readers(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        readers[operand].push_back(op.index());
      }
    }
    const DeviceId host = problem_.machine.host();
    for (const Fetch& fetch : graph_.fetches()) {
      if (host == first_ || host == second_) {
        readers[fetch.value].push_back(host == first_ ? source_ : sink_);
      }
    }
    for (const ValueId value : graph_.values()) {
      if (const auto origin = originOf(value); origin && !readers[value].empty()) {
        addValue(value, *origin, readers[value]);
      }
    }
  }

  void addValue(ValueId value, OpId origin, const std::vector<size_t>& readers) {
    const size_t left = boost::add_vertex(network_), right = boost::add_vertex(network_);
    addArc(origin.index(), left, units(copySeconds(value, first_, second_)), 0);
    addArc(right, origin.index(), units(copySeconds(value, second_, first_)), 0);
    for (const size_t reader : readers) {
      addArc(left, reader, never, 0);
      addArc(reader, right, never, 0);
    }
  }

  const PlacementProblem& problem_;
  const Graph& graph_;
  DeviceId first_, second_;
  size_t source_, sink_;
  Network network_;
  double unitsPerSecond_ = 0;
  std::vector<std::pair<OpId, OpId>> assignOf_; // parameter, assign
};

} // namespace

std::optional<Placement> minimumCut(const PlacementProblem& problem, DeviceId first, DeviceId second) {
  Placement placement = placeOn(problem, first);
  placement.policy = "minimum cut";
  return CutNetwork(problem, first, second).cut(std::move(placement));
}

} // namespace dfc
