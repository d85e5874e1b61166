// Traces made from a plan's predicted times, how much they overlap, and their form for Perfetto and Chrome
// (trace-event format: "X" complete events in microseconds, "M" metadata, "s" and "f" flow arrows).
#include "ir/plan/trace.h"

#include "ir/base/intervals.h"
#include "ir/base/json/json_text.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dfc {
namespace {

enum class Work : uint8_t { Transfer, Computation, Neither };

Work workOf(const Executable& executable, const Span& span) {
  const OpKind kind = executable.graph()[executable.schedule().steps[span.step].op].kind();
  switch (classOf(kind)) {
  case OpClass::Transfer: return Work::Transfer;
  case OpClass::Source:
  case OpClass::View: return Work::Neither;
  case OpClass::State:
  case OpClass::Elementwise:
  case OpClass::Reduction:
  case OpClass::Contraction:
  case OpClass::Movement:
  case OpClass::Structured:
  case OpClass::Custom:
  case OpClass::Request: return Work::Computation;
  }
  DFC_UNREACHABLE("op class");
}

/// One trace as events of one process.
class ProcessWriter {
 public:
  ProcessWriter(std::string& out, const Trace& trace, size_t process, const Executable& executable)
      : out_(out), trace_(trace), process_(process), executable_(executable), graph_(executable.graph()),
        steps_(executable.schedule().steps) {}

  void write() {
    const bool predicted = trace_.origin == Trace::Origin::Predicted;
    metadata("process_name", 0,
             fmt::format("\"name\":\"{}\"{}", predicted ? "predicted" : "measured", backends()));
    const std::string standIns = standInText(trace_.backends, executable_.machine());
    if (!standIns.empty()) { // viewers write the labels beside the name
      metadata("process_labels", 0, fmt::format("\"labels\":{}", jsonQuoted(standIns)));
    }
    metadata("process_sort_index", 0, fmt::format("\"sort_index\":{}", process_));
    for (const QueueId queue : executable_.schedule().queues.ids()) {
      const std::string name = executable_.schedule().nameOf(queue, executable_.machine());
      metadata("thread_name", threadOf(queue), fmt::format("\"name\":{}", jsonQuoted(name)));
      metadata("thread_sort_index", threadOf(queue), fmt::format("\"sort_index\":{}", queue.index()));
    }
    for (const Span& span : trace_.spans) {
      spans_[{span.stepNumber, span.step}] = &span;
    }
    for (const Span& span : trace_.spans) {
      complete(span);
      arrows(span);
    }
  }

 private:
  static size_t threadOf(QueueId queue) { return queue.index() + 1; }
  static std::string microseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e6); }
  static double seconds(const Span& span) { return std::max(0.0, span.end - span.begin); }

  /// ,"backends":{"cpu0":"cpu","gpu0":"emulated"}
  std::string backends() const {
    std::string text;
    for (size_t i = 0; i < trace_.backends.size(); ++i) {
      text += trace_.backends[i].empty()
                  ? ""
                  : fmt::format("{}{}:{}", text.empty() ? "" : ",",
                                jsonQuoted(executable_.machine().devices[DeviceId(i)].name),
                                jsonQuoted(trace_.backends[i]));
    }
    return text.empty() ? "" : fmt::format(",\"backends\":{{{}}}", text);
  }

  std::string nameOf(StepId step) const { return jsonQuoted(graph_.nameOf(steps_[step].op)); }

  void event(const std::string& fields) {
    out_ += out_.back() == '[' ? "\n" : ",\n";
    out_ += "{" + fields + "}";
  }

  void metadata(std::string_view what, size_t thread, const std::string& args) {
    event(
        fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}})", what, process_, thread, args));
  }

  void complete(const Span& span) {
    const StepRow& row = steps_[span.step];
    const OpKind kind = graph_[row.op].kind();
    event(fmt::format(R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})",
                      nameOf(span.step), kind == OpKind::Transfer ? "transfer" : "compute", process_,
                      threadOf(row.queue), microseconds(span.begin), microseconds(seconds(span)),
                      argsOf(span, row)));
  }

  std::string argsOf(const Span& span, const StepRow& row) const {
    std::string args =
        fmt::format(R"("op":"{}","step":{})", dfc::nameOf(graph_[row.op].kind()), span.stepNumber);
    if (!graph_.scopeOf(row.op).empty()) {
      args += fmt::format(R"(,"scope":{})", jsonQuoted(graph_.scopeOf(row.op)));
    }
    args += fmt::format(R"(,"type":"{}","bytes":{})", toString(graph_.typeOf(graph_[row.op].firstResult)),
                        bytesOf(row.op));
    std::string waits;
    for (const StepId wait : row.waits) {
      waits += (waits.empty() ? "" : ",") + nameOf(wait);
    }
    return args + (waits.empty() ? "" : fmt::format(R"(,"waits":[{}])", waits));
  }

  int64_t bytesOf(OpId op) const {
    int64_t bytes = 0;
    for (const ValueId result : graph_[op].results()) {
      bytes += graph_.typeOf(result).bytes();
    }
    return bytes;
  }

  /// An arrow for each wait of the span. Both ends lie inside their slices, which is how viewers find them.
  void arrows(const Span& span) {
    for (const StepId wait : steps_[span.step].waits) {
      const auto source = spans_.find({span.stepNumber, wait});
      if (source == spans_.end()) {
        continue;
      }
      const Span& from = *source->second;
      arrow("s", "", wait, from.begin + 0.99 * seconds(from));
      arrow("f", R"("bp":"e",)", span.step, span.begin);
      ++nextArrow_;
    }
  }

  void arrow(std::string_view phase, std::string_view binding, StepId step, double at) {
    event(fmt::format(R"("ph":"{}",{}"id":"{}.{}","name":"wait","cat":"wait","pid":{},"tid":{},"ts":{})",
                      phase, binding, process_, nextArrow_, process_, threadOf(steps_[step].queue),
                      microseconds(at)));
  }

  std::string& out_;
  const Trace& trace_;
  size_t process_;
  const Executable& executable_;
  const Graph& graph_;
  const Table<StepId, StepRow>& steps_;
  llvm::DenseMap<std::pair<uint32_t, StepId>, const Span*> spans_;
  size_t nextArrow_ = 0;
};

/// "gpu0 to gpu7", "gpu0, gpu2" of ascending devices.
std::string rangesOf(const std::vector<size_t>& devices, const Machine& machine) {
  std::string text;
  const auto nameAt = [&](size_t i) { return machine.devices[DeviceId(devices[i])].name; };
  for (size_t i = 0, last = 0; i < devices.size(); i = ++last) {
    last = i;
    while (last + 1 < devices.size() && devices[last + 1] == devices[last] + 1) {
      ++last;
    }
    if (last == i + 1) {
      --last; // two in a row are no range
    }
    text += (text.empty() ? "" : ", ") + nameAt(i) + (last > i ? " to " + nameAt(last) : "");
  }
  return text;
}

} // namespace

double Trace::makespan() const {
  if (spans.empty()) {
    return 0;
  }
  double first = spans.front().begin;
  double last = spans.front().end;
  for (const Span& span : spans) {
    first = std::min(first, span.begin);
    last = std::max(last, span.end);
  }
  return last - first;
}

Trace predictedTrace(const Executable& executable) {
  Trace trace;
  for (const StepId step : executable.schedule().steps.ids()) {
    const StepRow& row = executable.schedule().steps[step];
    trace.spans.push_back({step, 0, row.start, row.end});
  }
  return trace;
}

double overlapSeconds(const Trace& trace, const Executable& executable) {
  Intervals transfers;
  Intervals computations;
  for (const Span& span : trace.spans) {
    switch (workOf(executable, span)) {
    case Work::Transfer: transfers.emplace_back(span.begin, span.end); break;
    case Work::Computation: computations.emplace_back(span.begin, span.end); break;
    case Work::Neither: break;
    }
  }
  const Intervals busy = united(std::move(computations));
  double seconds = 0;
  for (const auto& [begin, end] : united(std::move(transfers))) {
    seconds += overlapOf(busy, begin, end);
  }
  return seconds;
}

std::string standInText(const std::vector<std::string>& backends, const Machine& machine) {
  std::string text;
  for (const auto& [name, sentence] :
       {std::pair("emulated", "{} {} emulated by the host: measured times there are not those of a GPU"),
        std::pair("null", "{} {} run by backend 'null': measured times there are those of no computation")}) {
    std::vector<size_t> devices;
    for (size_t i = 0; i < std::min(backends.size(), machine.devices.size()); ++i) {
      if (backends[i] == name) {
        devices.push_back(i);
      }
    }
    if (!devices.empty()) {
      text += (text.empty() ? "" : "; ") + fmt::format(fmt::runtime(sentence), rangesOf(devices, machine),
                                                       devices.size() == 1 ? "was" : "were");
    }
  }
  return text;
}

std::string chromeTrace(const std::vector<const Trace*>& traces, const Executable& executable) {
  std::string out = R"({"displayTimeUnit":"ms","traceEvents":[)";
  for (size_t i = 0; i < traces.size(); ++i) {
    ProcessWriter(out, *traces[i], i + 1, executable).write();
  }
  return out + "\n]}\n";
}

} // namespace dfc
