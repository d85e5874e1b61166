// See dot.h.
#include "ir/draw/dot.h"

#include "ir/author/text/print_op.h"
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_parts.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

namespace dfc {
namespace {

constexpr int deepestCluster = 16; // a deeper path becomes one cluster with the rest of it as its name

// The scopes as a tree: "a/b" is b within a. Children in the order of their first op.
struct Scope {
  std::string label;
  std::vector<OpId> ops;
  std::vector<std::unique_ptr<Scope>> children;
  std::map<std::string, Scope*, std::less<>> byLabel;

  Scope& child(std::string_view name) {
    auto [found, isNew] = byLabel.try_emplace(std::string(name), nullptr);
    if (isNew) {
      children.push_back(std::make_unique<Scope>());
      children.back()->label = std::string(name);
      found->second = children.back().get();
    }
    return *found->second;
  }

  Scope& below(std::string_view path, int depth = 0) {
    if (path.empty()) {
      return *this;
    }
    const size_t slash = depth + 1 < deepestCluster ? path.find('/') : std::string_view::npos;
    Scope& next = child(path.substr(0, slash));
    return slash == std::string_view::npos ? next : next.below(path.substr(slash + 1), depth + 1);
  }
};

std::vector<std::string> pinsOf(const Graph& graph) {
  std::set<std::string> pins;
  for (const OpId op : graph.ops()) {
    pins.insert(std::string(graph.pinOf(op)));
  }
  pins.erase("");
  return {pins.begin(), pins.end()};
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class GraphDrawing {
 public:
  GraphDrawing(const Graph& graph, const GraphPicture& picture)
      : graph_(graph), picture_(picture), ops_(graph), pins_(pinsOf(graph)),
        palette_(joined(picture.devices, pins_)) {
    for (const OpId op : graph.ops()) {
      root_.below(graph.scopeOf(op)).ops.push_back(op);
    }
  }

  std::string draw() && {
    const std::string counts = counted(graph_.opCount(), "op") + " of the " + std::string(picture_.graphIs) +
                               ", " + counted(graph_.fetches().size(), "fetch");
    out_ = dot::header(graph_.name(), fmt::format("{}: {}", graph_.name(), counts), picture_.explanation);
    drawScope(root_, "  ");
    for (size_t i = 0; i < graph_.fetches().size(); ++i) {
      drawFetch(i);
    }
    for (const OpId op : graph_.ops()) {
      drawOperands(op);
    }
    drawLegend();
    return std::move(out_ += "}\n");
  }

 private:
  void line(std::string_view indent, std::string_view text) { out_.append(indent).append(text) += '\n'; }

  void drawScope(const Scope& scope, const std::string& indent) {
    for (const OpId op : scope.ops) {
      line(indent, drawnOp(op));
    }
    for (const auto& child : scope.children) {
      line(indent, fmt::format("subgraph cluster_{} {{", clusters_++));
      line(indent, fmt::format("  label={}; labeljust=l; fontsize=13; style=\"rounded,filled\"; "
                               "fillcolor=\"#f6f8fa\"; color=\"#d0d7de\";",
                               dot::quoted(child->label)));
      drawScope(*child, indent + "  ");
      line(indent, "}");
    }
  }

  // By what an op is in a graph without pins, else by device only.
  dot::Colour colourOf(OpId op, dot::Colour otherwise) const {
    return pins_.empty() ? otherwise : palette_.of(graph_.pinOf(op));
  }

  std::string drawnOp(OpId op) {
    const std::string id = fmt::format("op{}", op.index());
    switch (classOf(graph_[op].kind())) {
    case OpClass::Source: return drawnSource(op, id);
    case OpClass::State:
      return dot::node(id, fmt::format("new {}", graph_.nameOf(graph_[op].operands[0])),
                       "read from the next step on" + pinLine(op), colourOf(op, dot::stateColour),
                       "cylinder");
    case OpClass::Transfer:
      return dot::node(id, "transfer", detailsOf(op), colourOf(op, dot::noDevice), "cds");
    case OpClass::Elementwise:
    case OpClass::Reduction:
    case OpClass::Contraction:
    case OpClass::View:
    case OpClass::Movement:
    case OpClass::Structured:
    case OpClass::Custom:
    case OpClass::Request:
      return graph_[op].resultCount > 1
                 ? drawnWithResults(op, id)
                 : dot::node(id, displayKind(graph_, op), detailsOf(op), colourOf(op, dot::noDevice));
    }
    DFC_UNREACHABLE("op class");
  }

  std::string drawnSource(OpId op, const std::string& id) {
    const std::string name(graph_.nameOf(op));
    const TensorType& type = graph_.typeOf(graph_[op].firstResult);
    const std::string details = fmt::format("{}, {}", toString(type), humanBytes(type.bytes()));
    if (graph_[op].kind() == OpKind::Input) {
      return dot::node(id, name, "input " + details + pinLine(op), colourOf(op, dot::sourceColour),
                       "invhouse");
    }
    if (graph_[op].kind() == OpKind::Parameter) {
      return dot::node(id, name, fmt::format("parameter {}\n{}{}", details, startOf(op), pinLine(op)),
                       colourOf(op, dot::stateColour), "cylinder");
    }
    if (!isInline(op)) {
      return dot::node(id, name, "constant " + details + pinLine(op), colourOf(op, dot::noDevice), "note");
    }
    std::string value;
    text::appendLiteral(value, graph_[op].as<ops::Constant>().value);
    return dot::node(id, value, nameIsMadeUp(graph_, op) ? "" : name, colourOf(op, dot::noDevice),
                     "plaintext");
  }

  // A row of cells below the op, one for each result, from which the edges leave.
  std::string drawnWithResults(OpId op, const std::string& id) {
    std::string cells;
    size_t number = 0;
    for (const ValueId result : graph_[op].results()) {
      cells += fmt::format("<td port=\"r{}\" border=\"1\" sides=\"t\">{}<br/>{}</td>", number++,
                           dot::html(graph_.nameOf(result)), dot::html(toString(graph_.typeOf(result))));
    }
    const dot::Colour colour = colourOf(op, dot::noDevice);
    return fmt::format("{} [label=<<table border=\"0\" cellspacing=\"0\" cellpadding=\"3\">"
                       "<tr><td colspan=\"{}\"><b>{}</b>{}</td></tr>"
                       "<tr>{}</tr></table>>, fontsize=10, margin=0, fillcolor=\"{}\", color=\"{}\"];",
                       id, graph_[op].resultCount, dot::html(displayKind(graph_, op)), dot::html(pinLine(op)),
                       cells, colour.fill, colour.border);
  }

  bool isFused(OpId op) const {
    const OpKind kind = graph_[op].kind();
    return kind == OpKind::Fused || kind == OpKind::FusedMatmul || kind == OpKind::FusedConv2d;
  }

  // A constant small enough to show its elements.
  bool isInline(OpId op) const {
    const auto* constant = graph_[op].getIf<ops::Constant>();
    return constant != nullptr && constant->value.type().shape.elements() <= 8;
  }

  std::string startOf(OpId op) {
    std::string start;
    ops_.appendCall(start, op);
    return start;
  }

  std::string pinLine(OpId op) const {
    return graph_.pinOf(op).empty() ? "" : fmt::format("\non {}", graph_.pinOf(op));
  }

  // The op's name and type, its attributes and its pin. A made-up name says nothing that the headline does
  // not, and the body of a fused op is its headline.
  std::string detailsOf(OpId op) {
    const TensorType& type = graph_.typeOf(graph_[op].firstResult);
    std::string text = nameIsMadeUp(graph_, op)
                           ? toString(type)
                           : fmt::format("{}: {}", displayName(graph_, op), toString(type));
    const bool isLong = isFused(op) || graph_[op].kind() == OpKind::Custom; // a kernel's source
    const std::string attributes = isLong ? "" : ops_.attributes(op);
    return text + (attributes.empty() ? "" : "\n" + attributes) + pinLine(op);
  }

  void drawFetch(size_t index) {
    const Fetch& fetch = graph_.fetches()[index];
    const std::string id = fmt::format("fetch{}", index);
    line("  ", dot::node(id, graph_.text(fetch.name), "fetch " + toString(graph_.typeOf(fetch.value)),
                         dot::resultColour, "house"));
    drawEdge(fetch.value, id);
  }

  void drawEdge(ValueId value, std::string_view to) {
    const OpRow& producer = graph_[graph_[value].producer];
    const std::string port =
        producer.resultCount > 1 ? fmt::format(":r{}:s", value.index() - producer.firstResult.index()) : "";
    line("  ", fmt::format("op{}{} -> {};", graph_[value].producer.index(), port, to));
  }

  void drawOperands(OpId op) {
    const OpRow& row = graph_[op];
    const bool assign = row.kind() == OpKind::Assign;
    for (size_t i = assign ? 1 : 0; i < row.operands.size(); ++i) {
      drawEdge(row.operands[i], fmt::format("op{}", op.index()));
    }
  }

  void drawLegend() {
    std::vector<std::string> nodes = {
        dot::node("legend_input", "input", "fed at every step",
                  pins_.empty() ? dot::sourceColour : dot::noDevice, "invhouse"),
        dot::node("legend_state", "parameter", "kept from step to step",
                  pins_.empty() ? dot::stateColour : dot::noDevice, "cylinder"),
        dot::node("legend_op", "op", "reads what points at it", dot::noDevice),
        dot::node("legend_fetch", "fetch", "given back after a step", dot::resultColour, "house")};
    std::vector<std::string> order = {"legend_input", "legend_state", "legend_op", "legend_fetch"};
    for (size_t i = 0; i < pins_.size(); ++i) {
      order.push_back(fmt::format("legend_pin{}", i));
      nodes.push_back(dot::node(order.back(), pins_[i], picture_.meaningOfPin, palette_.of(pins_[i])));
    }
    out_ += dot::legend(nodes, order);
  }

  const Graph& graph_;
  const GraphPicture& picture_;
  text::OpPrinter ops_;
  Scope root_;
  std::vector<std::string> pins_; ///< sorted
  dot::DevicePalette palette_;
  size_t clusters_ = 0;
  std::string out_;
};

} // namespace

std::string graphDot(const Graph& graph, const GraphPicture& picture) {
  return GraphDrawing(graph, picture).draw();
}

} // namespace dfc
