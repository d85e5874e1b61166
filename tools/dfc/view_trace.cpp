#include "tools/dfc/view_trace.h"

#include "compiler/simulate/simulate.h"
#include "ir/author/text/units.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/trace_reader.h"
#include "tools/dfc/dearest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dfc::tool {
namespace {

using Json = nlohmann::ordered_json;

double busyOf(const TraceStep& step, const QueueRow& queue) {
  double busy = 0;
  for (const StepId id : queue.steps) {
    busy += step.at[id].seconds();
  }
  return busy;
}

/// 0 where there is nothing to divide by.
double ratio(double a, double b) { return b > 0 ? a / b : 0; }

struct Sums {
  double working = 0, waiting = 0; ///< of a path; together the makespan
};

Sums sumsOf(const TraceComparison& comparison) {
  Sums sums;
  for (const PathSpan& span : comparison.path) {
    sums.working += comparison.measured.at[span.step].seconds();
    sums.waiting += span.gap;
  }
  return sums;
}

/// Signed, where humanSeconds is not.
std::string gapText(double seconds) {
  return seconds < 0 ? "-" + humanSeconds(-seconds) : humanSeconds(seconds);
}

class Report {
 public:
  explicit Report(const TraceComparison& comparison)
      : comparison_(comparison), plan_(comparison.plan), schedule_(plan_.schedule()) {}

  std::string text() const {
    const double predicted = comparison_.predicted.makespan, measured = comparison_.measured.makespan;
    const Sums sums = sumsOf(comparison_);
    return fmt::format(
               "{} on {}, {}\npredicted {}, measured {}: measured / predicted {:.3f}; lower bound {}\n",
               plan_.graph().name(), plan_.machine().name, comparison_.which, humanSeconds(predicted),
               humanSeconds(measured), ratio(measured, predicted), humanSeconds(comparison_.lowerBound())) +
           standInLine() + leadLine() + dearestText(comparison_) + queueLines() +
           fmt::format("\ncritical path of what was measured: {} of the plan, {} at work, {} between them\n",
                       counted(comparison_.path.size(), "op"), humanSeconds(sums.working),
                       gapText(sums.waiting)) +
           pathLines();
  }

  std::string json() const {
    const double predicted = comparison_.predicted.makespan, measured = comparison_.measured.makespan;
    const Sums sums = sumsOf(comparison_);
    const Dearest dearest = dearestOf(comparison_);
    const Json object{
        {"graph", plan_.graph().name()},
        {"machine", plan_.machine().name},
        {"step", comparison_.measured.stepNumber},
        {"runsOn", backendsJson()},
        {"predictedSeconds", predicted},
        {"measuredSeconds", measured},
        {"measuredOverPredicted", ratio(measured, predicted)},
        {"lowerBoundSeconds", comparison_.lowerBound()},
        {"launchSeconds", comparison_.lead},
        {"dearest",
         {{"ops", dearRows(dearest.ops)},
          {"kinds", dearRows(dearest.kinds)},
          {"scopes", dearRows(dearest.scopes)}}},
        {"queues", queueRows()},
        {"criticalPath", {{"workSeconds", sums.working}, {"gapSeconds", sums.waiting}, {"ops", pathRows()}}}};
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  std::string queueName(QueueId queue) const { return schedule_.nameOf(queue, plan_.machine()); }
  std::string opName(StepId step) const {
    return std::string(plan_.graph().nameOf(schedule_.steps[step].op));
  }

  std::string standInLine() const {
    const std::string text = standInText(comparison_.backends, plan_.machine());
    return text.empty() ? "" : text + "\n";
  }

  std::string leadLine() const {
    return comparison_.lead > 0
               ? fmt::format(
                     "launching the step takes another {} before its first op, which no trace shows\n",
                     humanSeconds(comparison_.lead))
               : "";
  }

  /// Null where the trace does not say it.
  Json backendsJson() const {
    Json backends;
    for (size_t i = 0; i < comparison_.backends.size(); ++i) {
      if (!comparison_.backends[i].empty()) {
        backends[plan_.machine().devices[DeviceId(i)].name] = comparison_.backends[i];
      }
    }
    return backends;
  }

  static Json dearRows(const std::vector<DearRow>& dearest) {
    Json rows = Json::array();
    for (const DearRow& row : dearest) {
      rows.push_back({{"name", row.name},
                      {"count", row.count},
                      {"seconds", row.seconds},
                      {"share", row.share},
                      {"predictedSeconds", row.predictedSeconds}});
    }
    return rows;
  }

  std::string queueLines() const {
    std::string text = fmt::format("\n{:<20} {:>11} {:>15} {:>14} {:>20}\n", "queue", "ops of plan",
                                   "predicted busy", "measured busy", "measured / predicted");
    for (const QueueId queue : schedule_.queues.ids()) {
      const QueueRow& row = schedule_.queues[queue];
      const double predicted = busyOf(comparison_.predicted, row),
                   measured = busyOf(comparison_.measured, row);
      if (!row.steps.empty()) {
        text += fmt::format("{:<20} {:>11} {:>15} {:>14} {:>20}\n", queueName(queue), row.steps.size(),
                            humanSeconds(predicted), humanSeconds(measured),
                            predicted > 0 ? fmt::format("{:.3f}", measured / predicted) : "-");
      }
    }
    return text;
  }

  Json queueRows() const {
    Json rows = Json::array();
    for (const QueueId queue : schedule_.queues.ids()) {
      const QueueRow& row = schedule_.queues[queue];
      rows.push_back({{"name", queueName(queue)},
                      {"ops", row.steps.size()},
                      {"predictedBusySeconds", busyOf(comparison_.predicted, row)},
                      {"measuredBusySeconds", busyOf(comparison_.measured, row)}});
    }
    return rows;
  }

  std::string pathLines() const {
    size_t widest = 24;
    for (const PathSpan& span : comparison_.path) {
      widest = std::max(widest, opName(span.step).size());
    }
    std::string text = fmt::format("{:>10} {:>10} {:>10} {:>10}  {:<18} {:<{}} {}\n", "begins", "takes",
                                   "predicted", "gap", "queue", "op", widest, "after");
    for (size_t i = 0; i < comparison_.path.size(); ++i) {
      const PathSpan& span = comparison_.path[i];
      const Interval& time = comparison_.measured.at[span.step];
      text +=
          fmt::format("{:>10} {:>10} {:>10} {:>10}  {:<18} {:<{}} {}\n", humanSeconds(time.begin),
                      humanSeconds(time.seconds()),
                      humanSeconds(comparison_.predicted.at[span.step].seconds()), gapText(span.gap),
                      queueName(schedule_.steps[span.step].queue), opName(span.step), widest, afterText(i));
    }
    return text;
  }

  std::string afterText(size_t index) const {
    switch (comparison_.path[index].after) {
    case PathSpan::After::Nothing: return "the start of the step";
    case PathSpan::After::Queue:
      return fmt::format("{}, its queue", opName(comparison_.path[index - 1].step));
    case PathSpan::After::Wait: return fmt::format("{}, a wait", opName(comparison_.path[index - 1].step));
    }
    DFC_UNREACHABLE("why a span began");
  }

  Json pathRows() const {
    Json rows = Json::array();
    for (size_t i = 0; i < comparison_.path.size(); ++i) {
      const PathSpan& span = comparison_.path[i];
      const Interval& time = comparison_.measured.at[span.step];
      const OpId op = schedule_.steps[span.step].op;
      rows.push_back({{"op", opName(span.step)},
                      {"kind", nameOf(plan_.graph()[op].kind())},
                      {"scope", plan_.graph().scopeOf(op)},
                      {"queue", queueName(schedule_.steps[span.step].queue)},
                      {"beginSeconds", time.begin},
                      {"seconds", time.seconds()},
                      {"predictedSeconds", comparison_.predicted.at[span.step].seconds()},
                      {"gapSeconds", span.gap},
                      {"after", i > 0 ? Json(opName(comparison_.path[i - 1].step)) : Json()},
                      {"because", because(span.after)}});
    }
    return rows;
  }

  static const char* because(PathSpan::After after) {
    switch (after) {
    case PathSpan::After::Nothing: return "begin";
    case PathSpan::After::Queue: return "queue";
    case PathSpan::After::Wait: return "wait";
    }
    DFC_UNREACHABLE("why a span began");
  }

  const TraceComparison& comparison_;
  const Executable& plan_;
  const Schedule& schedule_;
};

std::string listed(const std::vector<uint32_t>& steps) {
  return steps.size() == 1
             ? fmt::format("step {} alone", steps.front())
             : fmt::format("{} from {} to {}", counted(steps.size(), "step"), steps.front(), steps.back());
}

Diagnostic noSuchStep(const std::string& path, uint32_t wanted, const std::vector<uint32_t>& steps) {
  return {Severity::Error,
          {path},
          fmt::format("has no step {} that is whole", wanted),
          fmt::format("it has {}; without --step the one of median length is drawn", listed(steps))};
}

} // namespace

Result<TraceComparison> compareWithTrace(const Executable& plan, const std::string& tracePath,
                                         std::optional<uint32_t> wanted) {
  const auto trace = readMeasuredTrace(tracePath, plan);
  if (!trace) {
    return trace.errors();
  }
  const std::vector<uint32_t> steps = completeSteps(*trace, plan);
  if (steps.empty()) {
    return Diagnostic{Severity::Error,
                      {tracePath},
                      fmt::format("no step of the trace has all {} of this plan",
                                  counted(plan.schedule().steps.size(), "op")),
                      "run this plan again with dfc run PLAN --trace FILE.json, and draw that file"};
  }
  if (wanted && std::find(steps.begin(), steps.end(), *wanted) == steps.end()) {
    return noSuchStep(tracePath, *wanted, steps);
  }
  const uint32_t stepNumber = wanted.value_or(medianStep(*trace, plan, steps));
  const Simulation simulation = simulate(plan);
  TraceComparison comparison{plan,
                             traceStep(simulation.trace, plan, 0),
                             traceStep(*trace, plan, stepNumber),
                             {},
                             fmt::format("step {} of the trace", stepNumber)};
  if (!wanted && steps.size() > 1) {
    comparison.which += fmt::format(", of median length among {}", steps.size());
  }
  comparison.lead = simulation.makespan - comparison.predicted.makespan;
  comparison.backends = trace->backends;
  comparison.path = criticalPath(comparison.measured, plan.schedule());
  return comparison;
}

std::string comparisonText(const TraceComparison& comparison) { return Report(comparison).text(); }
std::string comparisonJson(const TraceComparison& comparison) { return Report(comparison).json(); }

} // namespace dfc::tool
