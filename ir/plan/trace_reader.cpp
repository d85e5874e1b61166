#include "ir/plan/trace_reader.h"

#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "ir/base/json/json_fields.h"
#include "ir/base/json/json_text.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

namespace dfc {
namespace {

using Json = nlohmann::json;

constexpr uint64_t largestTraceFile = uint64_t{256} << 20;
constexpr size_t traceNesting = 8;
constexpr double written = 1e-9; ///< seconds: times are in the file to a thousandth of a microsecond
constexpr const char* wayOut = "run this plan again with dfc run PLAN --trace FILE.json, and draw that file";

class TraceReader : private JsonFields {
 public:
  TraceReader(JsonDocument& document, const Executable& plan)
      : JsonFields(document), document_(document), plan_(plan) {
    const Schedule& schedule = plan.schedule();
    for (const StepId step : schedule.steps.ids()) {
      stepOf_.emplace(jsonQuoted(plan.graph().nameOf(schedule.steps[step].op)), step);
    }
    for (const QueueId queue : schedule.queues.ids()) {
      queueOf_.emplace(jsonQuoted(schedule.nameOf(queue, plan.machine())), queue);
    }
  }

  Trace run() {
    trace_.origin = Trace::Origin::Measured;
    const Json& root = document_.root();
    if (!root.is_object()) {
      document_.errorAt("", "a trace holds one object", wayOut);
    } else if (!root.contains("traceEvents")) {
      document_.errorMissing("", "traceEvents", wayOut);
    } else {
      eachEvent(root, [&](const Json& row, const std::string& path) { readNames(row, path); });
      eachEvent(root, [&](const Json& row, const std::string& path) { readSpan(row, path); });
      if (document_.clean() && trace_.spans.empty()) {
        document_.errorAt("traceEvents", "there are no measured spans", wayOut);
      }
    }
    return std::move(trace_);
  }

 private:
  /// A process of the file: its name, and the queues of its threads.
  struct Process {
    std::string name;
    std::unordered_map<int64_t, QueueId> queues;
  };

  // The first error is enough: in a wrong file, further errors are consequences.
  template <class Read>
  void eachEvent(const Json& root, const Read& read) {
    eachRow(root, "traceEvents", [&](const Json& row, const std::string& path) {
      if (document_.clean()) {
        read(row, path);
      }
    });
  }

  void readNames(const Json& row, const std::string& path) {
    std::string phase, what, name;
    text(row, path, "ph", phase, true);
    text(row, path, "name", what);
    const Json* args = phase == "M" ? member(row, path, "args", false) : nullptr;
    if (args == nullptr || !args->is_object()) {
      return;
    }
    int64_t pid = 0, tid = 0;
    whole(row, path, "pid", pid);
    whole(row, path, "tid", tid);
    if (what == "process_name") {
      text(*args, path + ".args", "name", processes_[pid].name, true);
      if (processes_[pid].name == "measured") {
        readBackends(*args, path + ".args");
      }
    } else if (what == "thread_name") {
      text(*args, path + ".args", "name", name, true);
      const auto queue = queueOf_.find(jsonQuoted(name));
      if (queue != queueOf_.end()) {
        processes_[pid].queues.emplace(tid, queue->second);
      } else if (document_.clean()) {
        anotherPlan(path + ".args.name",
                    fmt::format("machine '{}' has no queue '{}'", plan_.machine().name, name));
      }
    }
  }

  /// Files of programs that do not write them have none.
  void readBackends(const Json& args, const std::string& path) {
    const Json* backends = member(args, path, "backends", false);
    if (backends == nullptr) {
      return;
    }
    if (!backends->is_object()) {
      wrongType(path + ".backends", *backends, "an object");
      return;
    }
    const auto& devices = plan_.machine().devices;
    trace_.backends.assign(devices.size(), "");
    for (const DeviceId device : devices.ids()) {
      text(*backends, path + ".backends", devices[device].name.c_str(), trace_.backends[device.index()]);
    }
  }

  void anotherPlan(const std::string& path, const std::string& difference) {
    document_.errorAt(path, fmt::format("the trace of another plan: {}", difference), wayOut);
  }

  void readSpan(const Json& row, const std::string& path) {
    std::string phase;
    int64_t pid = 0;
    text(row, path, "ph", phase, true);
    whole(row, path, "pid", pid);
    const auto process = processes_.find(pid);
    if (phase != "X" || process == processes_.end()) {
      return;
    }
    if (process->second.name == "measured") {
      if (const auto span = spanOf(row, path, process->second)) {
        keep(*span, path);
      }
    } else if (process->second.name == "predicted") {
      if (const auto span = spanOf(row, path, process->second)) {
        compare(*span, path);
      }
    }
  }

  std::optional<Span> spanOf(const Json& row, const std::string& path, const Process& process) {
    std::string name;
    int64_t tid = 0;
    double begin = 0, length = 0;
    Span span;
    text(row, path, "name", name, true);
    whole(row, path, "tid", tid);
    number(row, path, "ts", begin, true);
    number(row, path, "dur", length, true);
    if (const Json* args = member(row, path, "args", true)) {
      args->is_object() ? whole(*args, path + ".args", "step", span.stepNumber)
                        : wrongType(path + ".args", *args, "an object");
    }
    if (document_.clean() && length < 0) {
      document_.errorAt(path + ".dur", "a span does not end before it begins");
    }
    span.begin = begin * 1e-6;
    span.end = (begin + length) * 1e-6;
    return document_.clean() && findStep(name, tid, path, process, span.step) ? std::optional(span)
                                                                              : std::nullopt;
  }

  bool findStep(const std::string& name, int64_t tid, const std::string& path, const Process& process,
                StepId& step) {
    const auto found = stepOf_.find(jsonQuoted(name));
    if (found == stepOf_.end()) {
      anotherPlan(path + ".name", fmt::format("this one has no op '{}'", name));
      return false;
    }
    step = found->second;
    const QueueId queue = plan_.schedule().steps[step].queue;
    const auto ran = process.queues.find(tid);
    if (ran == process.queues.end() || ran->second != queue) {
      anotherPlan(path + ".tid", fmt::format("in this one '{}' runs on {}", name,
                                             plan_.schedule().nameOf(queue, plan_.machine())));
      return false;
    }
    return true;
  }

  void keep(const Span& span, const std::string& path) {
    if (seen_.emplace(span.stepNumber, span.step).second) {
      trace_.spans.push_back(span);
    } else {
      document_.errorAt(path, fmt::format("the same op in step {} a second time", span.stepNumber), wayOut);
    }
  }

  void compare(const Span& span, const std::string& path) {
    const StepRow& row = plan_.schedule().steps[span.step];
    if (std::abs(span.begin - row.start) > written || std::abs(span.end - row.end) > 2 * written) {
      anotherPlan(path + ".ts",
                  fmt::format("this one predicts '{}' from {} to {}, that one from {} to {}",
                              plan_.graph().nameOf(row.op), humanSeconds(row.start), humanSeconds(row.end),
                              humanSeconds(span.begin), humanSeconds(span.end)));
    }
  }

  JsonDocument& document_;
  const Executable& plan_;
  std::unordered_map<std::string, StepId> stepOf_; ///< by op, as JSON writes its name
  std::unordered_map<std::string, QueueId> queueOf_;
  std::unordered_map<int64_t, Process> processes_;
  std::set<std::pair<uint32_t, StepId>> seen_;
  Trace trace_;
};

} // namespace

Result<Trace> parseMeasuredTrace(std::string_view json, const std::string& fileName, const Executable& plan) {
  JsonDocument document(json, fileName, traceNesting);
  if (!document.readable()) {
    return document.takeErrors();
  }
  Trace trace = TraceReader(document, plan).run();
  if (!document.clean()) {
    return document.takeErrors();
  }
  return trace;
}

Result<Trace> readMeasuredTrace(const std::string& path, const Executable& plan) {
  const Result<std::string> text = readTextFile(path, largestTraceFile);
  if (!text.ok()) {
    return text.errors();
  }
  return parseMeasuredTrace(*text, path, plan);
}

} // namespace dfc
