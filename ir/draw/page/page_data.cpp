// pageData: see plan_page.h. Tables are written by column, each text stands once in `strings`, times are
// nanoseconds. `<` is escaped, so that no name ends the element that the data stand in.
#include "ir/base/json/json_text.h"
#include "ir/base/string_pool.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_palette.h"
#include "ir/draw/memory_use.h"
#include "ir/draw/page/plan_page.h"
#include "ir/draw/scope_tree.h"
#include "ir/draw/timeline_parts.h"
#include "ir/graph/graph.h"
#include "ir/plan/critical_path.h"
#include "ir/plan/slack.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

/// Nanoseconds with one digit behind the point.
std::string nanoseconds(double seconds) {
  std::string text = fmt::format("{:.1f}", seconds * 1e9);
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text == "-0" ? "0" : text;
}

/// "[a,b,c]" of a range, each element as `written` says.
template <class Range, class Written>
std::string array(const Range& range, Written written) {
  std::string text = "[";
  for (const auto& element : range) {
    text += text.size() > 1 ? "," : "";
    text += written(element);
  }
  return text + "]";
}

std::string number(uint64_t value) { return fmt::format("{}", value); }

class PageData {
 public:
  explicit PageData(const PageContents& contents)
      : contents_(contents), plan_(contents.plan), placed_(plan_.placed()), graph_(plan_.graph()),
        schedule_(plan_.schedule()), machine_(plan_.machine()), tree_(scopeTree(placed_)) {}

  std::string text() {
    member("graph", jsonQuoted(graph_.name()));
    member("machine", jsonQuoted(machine_.name));
    member("policy", jsonQuoted(plan_.policy()));
    member("predicted", nanoseconds(contents_.predicted.makespan));
    member("steady", nanoseconds(plan_.predictedSeconds()));
    member("bound", nanoseconds(plan_.lowerBoundSeconds()));
    member("lead", nanoseconds(contents_.lead));
    member("measured", contents_.measured ? nanoseconds(contents_.measured->makespan) : "null");
    member("which", jsonQuoted(contents_.which));
    member("standIns", jsonQuoted(standInText(contents_.backends, machine_)));
    member("devices", devices());
    member("links", array(machine_.links, [](const LinkRow& row) { return jsonQuoted(row.name); }));
    member("queues", queues());
    member("scopes", scopes());
    member("ops", ops());
    member("steps", steps());
    member("path", path(contents_.predicted));
    member("measuredPath", contents_.measured ? path(*contents_.measured) : "null");
    member("memory", memory());
    member("explanation", contents_.explanation.empty() ? "null" : contents_.explanation);
    member("strings", strings());
    return escaped("{" + out_ + "}");
  }

 private:
  void member(std::string_view name, const std::string& value) {
    out_ += fmt::format("{}\"{}\":{}", out_.empty() ? "" : ",\n", name, value);
  }

  static std::string escaped(const std::string& json) {
    std::string text;
    text.reserve(json.size());
    for (const char letter : json) {
      letter == '<' ? text += "\\u003c" : text += letter;
    }
    return text;
  }

  std::string string(std::string_view text) { return number(strings_.intern(text).index()); }

  std::string strings() const {
    std::string text = "[";
    for (uint32_t i = 0; i < strings_.size(); ++i) {
      text += (i > 0 ? "," : "") + jsonQuoted(strings_[StringId(i)]);
    }
    return text + "]";
  }

  /// "" where nothing was measured, or the trace does not say it.
  std::string backendOf(DeviceId device) const {
    return device.index() < contents_.backends.size() ? contents_.backends[device.index()] : "";
  }

  std::string devices() const {
    const dot::DevicePalette palette(machine_);
    return array(machine_.devices.ids(), [&](DeviceId device) {
      const DeviceRow& row = machine_.devices[device];
      return fmt::format(
          R"({{"name":{},"model":{},"backend":{},"fill":"{}","border":"{}","capacity":{},"resident":{},"arena":{}}})",
          jsonQuoted(row.name), jsonQuoted(row.model), jsonQuoted(backendOf(device)),
          palette.of(row.name).fill, palette.of(row.name).border, row.memoryBytes,
          plan_.memory().residentBytes[device], plan_.memory().arenaBytes[device]);
    });
  }

  std::string queues() const {
    return array(schedule_.queues.ids(), [&](QueueId queue) {
      const QueueRow& row = schedule_.queues[queue];
      return fmt::format(R"({{"device":{},"kind":"{}","label":{},"steps":{}}})", row.device.index(),
                         name(row.kind), jsonQuoted(timeline::displayQueue(schedule_, queue, machine_)),
                         array(row.steps, [](StepId step) { return number(step.index()); }));
    });
  }

  static std::string_view kindText(ScopeNode::Kind kind) {
    switch (kind) {
    case ScopeNode::Kind::Root: return "root";
    case ScopeNode::Kind::Scope: return "scope";
    case ScopeNode::Kind::Fold: return "fold";
    case ScopeNode::Kind::Outside: return "outside";
    }
    DFC_UNREACHABLE("a node of another kind");
  }

  std::string scopes() const {
    return array(tree_.nodes, [&](const ScopeNode& node) {
      return fmt::format(
          R"({{"kind":"{}","parent":{},"name":{},"path":{},"layers":{},"equal":{},"order":{:.1f}}})",
          kindText(node.kind), node.parent == ScopeNode::none ? -1 : static_cast<int64_t>(node.parent),
          jsonQuoted(node.name), jsonQuoted(node.path), node.layers, node.layersEqual, node.order);
    });
  }

  template <class Written>
  std::string column(std::string_view name, Written written) {
    return fmt::format("\"{}\":{}", name, array(graph_.ops(), written));
  }

  std::string ops() {
    const auto& graph = graph_;
    return fmt::format("{{{},{},{},{},{},{},{},{},{},{},{}}}",
                       column("name", [&](OpId op) { return string(graph.nameOf(op)); }),
                       column("label", [&](OpId op) { return string(label(op)); }),
                       column("kind", [&](OpId op) { return string(nameOf(graph[op].kind())); }),
                       column("detail", [&](OpId op) { return string(displayKind(graph, op)); }),
                       column("type", [&](OpId op) { return string(types(op)); }),
                       column("bytes", [&](OpId op) { return number(static_cast<uint64_t>(bytes(op))); }),
                       column("device", [&](OpId op) { return number(placed_.device[op].index()); }),
                       column("scope", [&](OpId op) { return number(tree_.nodeOf[op]); }),
                       column("place", [&](OpId op) { return string(place(op)); }),
                       column("route", [&](OpId op) { return route(op); }), column("operands", [&](OpId op) {
                         return array(graph[op].operands,
                                      [&](ValueId value) { return number(graph[value].producer.index()); });
                       }));
  }

  /// A transfer by what it carries.
  std::string label(OpId op) const {
    OpId carried = op;
    while (graph_[carried].kind() == OpKind::Transfer) {
      carried = graph_[graph_[carried].operands.front()].producer;
    }
    return carried == op ? displayName(graph_, op) : "copy " + displayName(graph_, carried);
  }

  std::string types(OpId op) const {
    std::string text;
    for (const ValueId value : graph_[op].results()) {
      text += (text.empty() ? "" : ", ") + toString(graph_.typeOf(value));
    }
    return text;
  }

  int64_t bytes(OpId op) const {
    int64_t sum = 0;
    for (const ValueId value : graph_[op].results()) {
      sum += graph_.typeOf(value).bytes();
    }
    return sum;
  }

  std::string place(OpId op) const {
    const SourceLocation where = graph_.locationOf(op);
    return where.file.empty() ? ""
           : where.line > 0   ? fmt::format("{}:{}", where.file, where.line)
                              : where.file;
  }

  /// Of a transfer: [from, link, …].
  std::string route(OpId op) const {
    const auto found = placed_.transfers.find(op);
    if (found == placed_.transfers.end()) {
      return "0";
    }
    std::string text = fmt::format("[{}", found->second.from.index());
    for (const LinkId link : found->second.links) {
      text += fmt::format(",{}", link.index());
    }
    return text + "]";
  }

  std::string times(const TraceStep& step, double Interval::*end) const {
    return array(step.at.ids(), [&](StepId id) { return nanoseconds(step.at[id].*end); });
  }

  std::string steps() const {
    const auto slack = slackOf(contents_.predicted, schedule_);
    std::string text =
        fmt::format(R"("op":{},"queue":{},"begin":{},"end":{},"slack":{},"waits":{})",
                    array(schedule_.steps, [](const StepRow& row) { return number(row.op.index()); }),
                    array(schedule_.steps, [](const StepRow& row) { return number(row.queue.index()); }),
                    times(contents_.predicted, &Interval::begin), times(contents_.predicted, &Interval::end),
                    array(slack.ids(), [&](StepId id) { return nanoseconds(slack[id]); }),
                    array(schedule_.steps, [](const StepRow& row) {
                      return array(row.waits, [](StepId step) { return number(step.index()); });
                    }));
    if (contents_.measured) {
      text +=
          fmt::format(R"(,"measuredBegin":{},"measuredEnd":{})", times(*contents_.measured, &Interval::begin),
                      times(*contents_.measured, &Interval::end));
    }
    return "{" + text + "}";
  }

  std::string path(const TraceStep& step) const {
    return array(criticalPath(step, schedule_),
                 [](const PathSpan& span) { return number(span.step.index()); });
  }

  std::string memory() const {
    const MemoryUse use = memoryUse(plan_, contents_.predicted);
    const auto op = [&](const ValueLife& life) { return number(graph_[life.value].producer.index()); };
    const auto& slots = plan_.memory().slots;
    return fmt::format(
        R"({{"op":{},"device":{},"bytes":{},"begin":{},"end":{},"held":{},"measuredHeld":{}}})",
        array(use.lives, op),
        array(use.lives, [&](const ValueLife& life) { return number(slots[life.value].device.index()); }),
        array(use.lives,
              [&](const ValueLife& life) { return number(static_cast<uint64_t>(slots[life.value].bytes)); }),
        array(use.lives, [](const ValueLife& life) { return nanoseconds(life.begin); }),
        array(use.lives, [](const ValueLife& life) { return nanoseconds(life.end); }), held(use),
        contents_.measured ? held(memoryUse(plan_, *contents_.measured)) : "null");
  }

  /// By device, times and the bytes that are held from then on.
  static std::string held(const MemoryUse& use) {
    return array(use.held.ids(), [&](DeviceId device) {
      return array(use.held[device], [](const MemoryPoint& point) {
        return fmt::format("{},{}", nanoseconds(point.at), point.bytes);
      });
    });
  }

  const PageContents& contents_;
  const Executable& plan_;
  const PlacedGraph& placed_;
  const Graph& graph_;
  const Schedule& schedule_;
  const Machine& machine_;
  ScopeTree tree_;
  StringPool strings_;
  std::string out_;
};

} // namespace

std::string pageData(const PageContents& contents) { return PageData(contents).text(); }

} // namespace dfc
