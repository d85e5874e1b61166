// pruneWaits against Boost.Graph's transitive reduction, an implementation that shares nothing with it.
#include "compiler/schedule/prune_waits.h"
#include "tests/support/catch.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_reduction.hpp>

#include <map>
#include <random>
#include <set>

namespace dfc::test {
namespace {

using Edges = std::set<std::pair<uint32_t, uint32_t>>; // (before, after), by step

/// Steps dealt to queues at random, in order; each waits for some earlier steps of any queue.
Schedule randomSchedule(uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](uint32_t below) { return random() % below; };
  Schedule schedule;
  const uint32_t queues = 1 + draw(5);
  for (uint32_t queue = 0; queue < queues; ++queue) {
    schedule.queues.add({});
  }
  for (uint32_t i = 0; i < 40; ++i) {
    StepRow row;
    row.queue = QueueId(draw(queues));
    row.position = static_cast<uint32_t>(schedule.queues[row.queue].steps.size());
    for (uint32_t before = 0; before < i; ++before) {
      if (draw(8) == 0) {
        row.waits.push_back(StepId(before));
      }
    }
    schedule.queues[row.queue].steps.push_back(schedule.steps.add(row));
  }
  return schedule;
}

Edges queueOrder(const Schedule& schedule) {
  Edges edges;
  for (const QueueRow& queue : schedule.queues) {
    for (size_t i = 1; i < queue.steps.size(); ++i) {
      edges.emplace(queue.steps[i - 1].index(), queue.steps[i].index());
    }
  }
  return edges;
}

Edges waitsOf(const Schedule& schedule) {
  Edges edges;
  for (const StepId step : schedule.steps.ids()) {
    for (const StepId wait : schedule.steps[step].waits) {
      edges.emplace(wait.index(), step.index());
    }
  }
  return edges;
}

Edges reducedByBoost(const Edges& edges, size_t steps) {
  using Dag = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Dag dag(steps);
  for (const auto& [before, after] : edges) {
    boost::add_edge(before, after, dag);
  }
  Dag reduced;
  std::map<Dag::vertex_descriptor, Dag::vertex_descriptor> names;
  std::vector<size_t> ids(steps);
  for (size_t i = 0; i < steps; ++i) {
    ids[i] = i;
  }
  boost::transitive_reduction(dag, reduced, boost::make_assoc_property_map(names), ids.data());
  std::map<Dag::vertex_descriptor, uint32_t> stepOf;
  for (const auto& [step, vertex] : names) {
    stepOf[vertex] = static_cast<uint32_t>(step);
  }
  Edges kept;
  for (auto [edge, end] = boost::edges(reduced); edge != end; ++edge) {
    kept.emplace(stepOf.at(boost::source(*edge, reduced)), stepOf.at(boost::target(*edge, reduced)));
  }
  return kept;
}

} // namespace

TEST_CASE("the waits kept are the transitive reduction, less the order of the queues") {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    Schedule schedule = randomSchedule(seed);
    const Edges order = queueOrder(schedule);
    Edges all = waitsOf(schedule);
    all.insert(order.begin(), order.end());
    Edges expected = reducedByBoost(all, schedule.steps.size());
    for (const auto& edge : order) {
      expected.erase(edge);
    }
    pruneWaits(schedule);
    CHECK(waitsOf(schedule) == expected);
  }
}

} // namespace dfc::test
