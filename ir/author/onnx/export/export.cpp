// Names are assigned first: inputs and outputs keep the names of the graph; other values get unique ones.
#include "ir/author/onnx/export/export.h"

#include "ir/author/onnx/export/export_call.h"
#include "ir/base/diagnostic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::onnx {
namespace {

constexpr size_t mostShown = 5;

/// Ops that cannot be said, by op and reason.
class Refusals {
 public:
  void add(const Graph& graph, OpId op, const std::string& why) {
    if (places_.empty()) {
      first_ = graph.locationOf(op);
    }
    const SourceLocation where = graph.locationOf(op);
    std::string place = fmt::format("'{}'", graph.nameOf(op));
    if (where.line > 0) {
      place += fmt::format(" (line {})", where.line);
    }
    places_[fmt::format("{} ({})", dfc::nameOf(graph[op].kind()), why)].push_back(std::move(place));
  }
  bool empty() const { return places_.empty(); }

  Diagnostic diagnostic() const {
    std::string list;
    for (const auto& [op, places] : places_) {
      const auto shown = static_cast<int64_t>(std::min(places.size(), mostShown));
      list += fmt::format(
          "{} {}: {}{}", list.empty() ? "" : ";", op, fmt::join(places.begin(), places.begin() + shown, ", "),
          places.size() > mostShown ? fmt::format(" and {} more", places.size() - mostShown) : "");
    }
    return {Severity::Error, first_, "ops that cannot be said in ONNX:" + list,
            "export the graph of what is run after training, or write these ops as others"};
  }

 private:
  SourceLocation first_;
  std::map<std::string, std::vector<std::string>> places_;
};

class Exporter {
 public:
  Exporter(const Graph& graph, const ExportSettings& settings)
      : graph_(graph), settings_(settings), writer_(graph.name()), names_(graph.valueCount()),
        live_(graph.opCount()) {}

  Result<WrittenModel> run() {
    markLive();
    if (Diagnostics errors = reserveNames(); !errors.empty()) {
      return errors;
    }
    for (const OpId op : graph_.ops()) {
      if (live_[op.index()]) {
        add(op);
      }
    }
    if (!refusals_.empty()) {
      return refusals_.diagnostic();
    }
    for (const Fetch& fetch : graph_.fetches()) {
      addOutput(std::string(graph_.text(fetch.name)), fetch.value);
    }
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      const std::string name(graph_.nameOf(graph_[op].operands[0]));
      addOutput(nextName(name), graph_[op].firstResult);
    }
    return writer_.write(settings_.dataFile, settings_.mostInline);
  }

 private:
  void markLive() {
    for (const Fetch& fetch : graph_.fetches()) {
      live_[graph_[fetch.value].producer.index()] = true;
    }
    for (auto index = static_cast<uint32_t>(live_.size()); index-- > 0;) {
      const OpRow& row = graph_[OpId(index)];
      live_[index] = live_[index] || row.kind() == OpKind::Input || row.kind() == OpKind::Assign;
      for (const ValueId operand : row.operands) {
        live_[graph_[operand].producer.index()] = live_[graph_[operand].producer.index()] || live_[index];
      }
      if (row.kind() == OpKind::Assign) {
        assigned_.insert(graph_[row.operands[0]].producer);
      }
    }
  }

  // A fetch of an input's name is another value unless it is that input.
  Diagnostics reserveNames() {
    Diagnostics errors;
    for (const OpId op : graph_.opsOf(OpKind::Input)) {
      give(graph_[op].firstResult, std::string(graph_.nameOf(op)));
    }
    for (const OpId op : assigned_) {
      give(graph_[op].firstResult, std::string(graph_.nameOf(op)));
    }
    for (const Fetch& fetch : graph_.fetches()) {
      reserveOutput(std::string(graph_.text(fetch.name)), fetch.value, errors);
    }
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      reserveOutput(nextName(graph_.nameOf(graph_[op].operands[0])), graph_[op].firstResult, errors);
    }
    return errors;
  }

  void give(ValueId value, const std::string& name) {
    writer_.reserve(name);
    names_[value] = name;
  }

  void reserveOutput(const std::string& name, ValueId value, Diagnostics& errors) {
    if (writer_.reserve(name)) {
      const bool made = graph_[graph_[value].producer].kind() != OpKind::Assign;
      wantedName_.try_emplace(value, made ? name : "");
    } else if (names_[value] != name) {
      errors.push_back({Severity::Error, graph_.locationOf(graph_[value].producer),
                        fmt::format("'{}' is the name of two inputs or outputs", name),
                        "ONNX wants one name for each: call the fetch otherwise"});
    }
  }

  void add(OpId op) {
    const OpRow& row = graph_[op];
    if (row.kind() == OpKind::Input) {
      writer_.input(names_[row.firstResult], graph_.typeOf(row.firstResult));
    } else if (row.kind() == OpKind::Parameter) {
      addParameter(op);
    } else if (const auto* constant = row.getIf<ops::Constant>()) {
      names_[row.firstResult] = writer_.constant(constant->value);
    } else if (row.kind() == OpKind::Assign) {
      names_[row.firstResult] = names_[row.operands[1]];
    } else {
      addNodes(op);
    }
  }

  void addParameter(OpId op) {
    const ValueId value = graph_[op].firstResult;
    if (assigned_.count(op) != 0) {
      writer_.input(names_[value], graph_.typeOf(value));
    } else {
      names_[value] = writer_.unique(std::string(graph_.nameOf(op)));
    }
    writer_.initializer(names_[value], settings_.valueOf(op));
  }

  void addNodes(OpId op) {
    const OpRow& row = graph_[op];
    Names operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(names_[operand]);
    }
    const size_t first = writer_.nodeCount();
    ExportCall call(writer_, graph_, op, std::move(operands), std::string(graph_.nameOf(op)),
                    std::vector<bool>(row.resultCount, true));
    Names results;
    try {
      results = exportOp(call);
    } catch (const NotExported& reason) {
      refusals_.add(graph_, op, reason.what());
      results.resize(row.resultCount);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const ValueId value(row.firstResult.index() + static_cast<uint32_t>(i));
      names_[value] = named(value, results[i], first);
    }
  }

  // The value's name in place of the one that its node was given.
  std::string named(ValueId value, const std::string& made, size_t first) {
    if (!writer_.rename(first, made, made)) { // an operand, handed on
      return made;
    }
    const auto wanted = wantedName_.find(value);
    const bool output = wanted != wantedName_.end() && !wanted->second.empty();
    std::string name = output ? wanted->second : writer_.unique(std::string(graph_.nameOf(value)));
    writer_.rename(first, made, name);
    return name;
  }

  void addOutput(const std::string& name, ValueId value) {
    if (names_[value] != name) {
      writer_.node({"Identity", {names_[value]}, {name}, {}, writer_.unique(name + ".Identity")});
    }
    writer_.output(name, graph_.typeOf(value));
  }

  const Graph& graph_;
  const ExportSettings& settings_;
  ModelWriter writer_;
  SideTable<ValueId, std::string> names_;
  std::vector<bool> live_;
  std::set<OpId> assigned_;
  std::map<ValueId, std::string> wantedName_; ///< the first output that each value is; "" of an assign's
  Refusals refusals_;
};

} // namespace

std::string nextName(std::string_view parameter) { return std::string(parameter) + ".next"; }

Result<WrittenModel> exportModel(const Graph& graph, const ExportSettings& settings) {
  Exporter exporter(graph, settings);
  return exporter.run();
}

} // namespace dfc::onnx
