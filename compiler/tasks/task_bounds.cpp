#include "compiler/tasks/task_bounds.h"

#include "compiler/tasks/least_copies.h"

#include <cmath>
#include <map>
#include <numeric>

namespace dfc {
namespace {

/// Devices that are alike for every task, joined: a column of seconds each, and how many queues it stands
/// for.
struct LoadProblem {
  std::vector<std::vector<double>> rows; // by task, by class
  std::vector<double> queues;            // by class
};

LoadProblem loadProblem(const TaskGraph& graph) {
  std::map<std::vector<double>, size_t> known;
  std::vector<size_t> first;
  LoadProblem problem;
  for (size_t device = 0; device < graph.deviceCount(); ++device) {
    std::vector<double> column;
    column.reserve(graph.tasks.size());
    for (const TaskRow& task : graph.tasks) {
      column.push_back(task.seconds[device]);
    }
    const auto [place, isNew] = known.try_emplace(std::move(column), first.size());
    if (isNew) {
      first.push_back(device);
      problem.queues.push_back(0);
    }
    problem.queues[place->second] += graph.queues[device];
  }
  for (const TaskRow& task : graph.tasks) {
    std::vector<double>& row = problem.rows.emplace_back();
    for (const size_t device : first) {
      row.push_back(task.seconds[device]);
    }
  }
  return problem;
}

// The dual: max sum over tasks of min over classes of price x seconds, where prices x queues sum to 1; by
// multiplicative weights. A class that is busier than others gets dearer.
double loadBound(const LoadProblem& problem, const std::vector<uint32_t>& tasks, int rounds) {
  const size_t classes = problem.queues.size();
  std::vector<double> weights(classes, 1), load(classes);
  double best = 0;
  for (int round = 0; round < (classes == 1 ? 1 : rounds); ++round) {
    const double sum = std::inner_product(weights.begin(), weights.end(), problem.queues.begin(), 0.0);
    std::fill(load.begin(), load.end(), 0);
    double value = 0;
    for (const uint32_t task : tasks) {
      const std::vector<double>& row = problem.rows[task];
      size_t cheapest = 0;
      for (size_t i = 1; i < classes; ++i) {
        cheapest = weights[i] * row[i] < weights[cheapest] * row[cheapest] ? i : cheapest;
      }
      value += weights[cheapest] / sum * row[cheapest];
      load[cheapest] += row[cheapest];
    }
    best = std::max(best, value);
    double busiest = 0;
    for (size_t i = 0; i < classes; ++i) {
      load[i] /= problem.queues[i];
      busiest = std::max(busiest, load[i]);
    }
    for (size_t i = 0; i < classes && busiest > 0; ++i) {
      weights[i] = std::max(1e-12, weights[i] / sum * std::exp(load[i] / busiest / (1 + 0.2 * round)));
    }
  }
  return best;
}

/// At most `most` of the different values, evenly spread.
std::vector<double> someOf(std::vector<double> values, size_t most) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= most) {
    return values;
  }
  std::vector<double> some;
  for (size_t i = 0; i < most; ++i) {
    some.push_back(values[i * (values.size() - 1) / (most - 1)]);
  }
  return some;
}

// Tasks that all start at `head` at the earliest and have `tail` to come after them run between.
double intervalBound(const LoadProblem& problem, const std::vector<double>& heads,
                     const std::vector<double>& tails) {
  double best = 0;
  for (const double head : someOf(heads, 12)) {
    for (const double tail : someOf(tails, 12)) {
      std::vector<uint32_t> between;
      for (uint32_t task = 0; task < heads.size(); ++task) {
        if (heads[task] >= head && tails[task] >= tail) {
          between.push_back(task);
        }
      }
      if (!between.empty()) {
        best = std::max(best, head + tail + loadBound(problem, between, 30));
      }
    }
  }
  return best;
}

} // namespace

HeadsAndTails headsAndTails(const TaskGraph& graph) {
  const size_t devices = graph.deviceCount(), count = graph.tasks.size();
  constexpr size_t mostCompared = 30'000'000; // copies between all pairs of devices
  const LeastCopies costs(graph, graph.items.size() * devices * devices > mostCompared);
  HeadsAndTails result{std::vector<double>(count * devices), std::vector<double>(count * devices)};
  // The least over the devices of the other task of `times` + its seconds + the copy.
  const auto least = [&](const std::vector<double>& times, const TaskEdge& edge, size_t device,
                         bool towards) {
    const auto& seconds = graph.tasks[edge.other].seconds;
    const double bytes = graph.bytesOf(edge);
    double best = infiniteSeconds;
    for (size_t other = 0; other < devices; ++other) {
      const double copy = towards ? costs.seconds(other, device, bytes) : costs.seconds(device, other, bytes);
      best = std::min(best, times[edge.other.index() * devices + other] + seconds[other] + copy);
    }
    return best;
  };
  const auto visit = [&](size_t i, const auto& edges, std::vector<double>& times, bool towards) {
    for (const TaskEdge& edge : edges) {
      double anywhere = 0;
      if (costs.uniform() && devices > 1) {
        anywhere = infiniteSeconds;
        for (size_t other = 0; other < devices; ++other) {
          anywhere = std::min(anywhere, times[edge.other.index() * devices + other] +
                                            graph.tasks[edge.other].seconds[other]);
        }
        anywhere += costs.seconds(0, 1, graph.bytesOf(edge));
      }
      for (size_t device = 0; device < devices; ++device) {
        const double here =
            times[edge.other.index() * devices + device] + graph.tasks[edge.other].seconds[device];
        double& time = times[i * devices + device];
        time =
            std::max(time, costs.uniform() ? std::min(anywhere, here) : least(times, edge, device, towards));
      }
    }
  };
  for (size_t i = 0; i < count; ++i) {
    const TaskRow& row = graph.tasks[TaskId(static_cast<uint32_t>(i))];
    for (size_t device = 0; device < devices && !graph.begins.empty(); ++device) {
      result.heads[i * devices + device] = graph.begins[device];
    }
    visit(i, row.predecessors, result.heads, true);
  }
  for (size_t i = count; i-- > 0;) {
    visit(i, graph.tasks[TaskId(static_cast<uint32_t>(i))].successors, result.tails, false);
  }
  return result;
}

TaskBounds taskBounds(const TaskGraph& graph) {
  constexpr double rounding = 1e-9;
  constexpr size_t smallGraph = 20000; // tasks x classes
  const size_t devices = graph.deviceCount(), count = graph.tasks.size();
  const HeadsAndTails times = headsAndTails(graph);
  std::vector<double> heads(count, infiniteSeconds), tails(count, infiniteSeconds);
  TaskBounds bounds;
  for (size_t i = 0; i < count; ++i) {
    const auto& seconds = graph.tasks[TaskId(static_cast<uint32_t>(i))].seconds;
    double shortest = infiniteSeconds;
    for (size_t device = 0; device < devices; ++device) {
      const double head = times.heads[i * devices + device], tail = times.tails[i * devices + device];
      if (seconds[device] < infiniteSeconds) {
        shortest = std::min(shortest, head + seconds[device] + tail);
        heads[i] = std::min(heads[i], head);
        tails[i] = std::min(tails[i], tail);
      }
    }
    bounds.path = std::max(bounds.path, shortest);
  }
  const LoadProblem load = loadProblem(graph);
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  const auto work = static_cast<double>(std::max<size_t>(1, count * load.queues.size()));
  bounds.load = loadBound(load, all, std::clamp(static_cast<int>(2e7 / work), 10, 300));
  if (work <= smallGraph) {
    bounds.interval = intervalBound(load, heads, tails);
  }
  bounds.path *= 1 - rounding;
  bounds.load *= 1 - rounding;
  bounds.interval *= 1 - rounding;
  return bounds;
}

} // namespace dfc
