// See dot.h.
#include "ir/text/dot.h"

#include "ir/text/dot_parts.h"
#include "ir/text/print_op.h"
#include "ir/text/quote.h"
#include "ir/text/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>

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

class GraphDrawing {
 public:
  explicit GraphDrawing(const Graph& graph) : graph_(graph), ops_(graph) {
    for (const OpId op : graph.ops()) {
      root_.below(graph.scopeOf(op)).ops.push_back(op);
      if (!graph.pinOf(op).empty()) { // 0 is the host's colour; a pin may be any device
        pins_.try_emplace(std::string(graph.pinOf(op)), pins_.size() + 1);
      }
    }
  }

  std::string draw() && {
    out_ =
        dot::header(graph_.name(), fmt::format("{}: {}, {}", graph_.name(), counted(graph_.opCount(), "op"),
                                               counted(graph_.fetches().size(), "fetch")));
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

  dot::Colour colourOf(OpId op, dot::Colour otherwise) const {
    const auto pin = pins_.find(graph_.pinOf(op));
    return pin == pins_.end() ? otherwise : dot::deviceColour(pin->second);
  }

  std::string drawnOp(OpId op) {
    const std::string id = fmt::format("op{}", op.index());
    const std::string name(graph_.nameOf(op));
    const TensorType& type = graph_.typeOf(graph_[op].firstResult);
    switch (classOf(graph_[op].kind())) {
    case OpClass::Source: return drawnSource(op, id, name, type);
    case OpClass::State:
      return dot::node(id, fmt::format("next {}", graph_.nameOf(graph_[op].operands[0])),
                       "assign: read from the next step on\n" + detailsOf(op), colourOf(op, dot::stateColour),
                       "cylinder");
    case OpClass::Transfer:
      return dot::node(id, "transfer", detailsOf(op), colourOf(op, dot::noDevice), "cds");
    case OpClass::Elementwise:
    case OpClass::Reduction:
    case OpClass::Contraction:
    case OpClass::View:
    case OpClass::Movement:
    case OpClass::Composite:
    case OpClass::Request:
      return dot::node(id, nameOf(graph_[op].kind()), detailsOf(op), colourOf(op, dot::noDevice));
    }
    DFC_UNREACHABLE("op class");
  }

  std::string drawnSource(OpId op, const std::string& id, const std::string& name, const TensorType& type) {
    const std::string details = fmt::format("{}, {}", toString(type), humanBytes(type.bytes()));
    switch (graph_[op].kind()) {
    case OpKind::Input:
      return dot::node(id, name, "input " + details, colourOf(op, dot::sourceColour), "invhouse");
    case OpKind::Parameter:
      return dot::node(id, name, fmt::format("parameter {}\n{}", details, startOf(op)),
                       colourOf(op, dot::stateColour), "cylinder");
    default: break;
    }
    if (!isInline(op)) {
      return dot::node(id, name, "constant " + details, colourOf(op, dot::noDevice), "note");
    }
    std::string value;
    text::appendLiteral(value, graph_[op].as<ops::Constant>().value);
    return dot::node(id, value, detailsOf(op, Attributes::Hidden), colourOf(op, dot::noDevice), "plaintext");
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

  // The op's name, its attributes and its pin. A made-up name says nothing that the headline does not.
  enum class Attributes : bool { Hidden, Shown };
  std::string detailsOf(OpId op, Attributes shown = Attributes::Shown) {
    std::vector<std::string> lines;
    const std::string_view name = graph_.nameOf(op);
    const std::string_view kind = nameOf(graph_[op].kind());
    const bool madeUp =
        name.substr(0, kind.size()) == kind && (name.size() == kind.size() || name[kind.size()] == '.');
    if (!madeUp && graph_[op].resultCount == 1) { // else the edges carry the names
      lines.emplace_back(name);
    }
    if (std::string attributes = shown == Attributes::Shown ? ops_.attributes(op) : ""; !attributes.empty()) {
      lines.push_back(std::move(attributes));
    }
    if (!graph_.pinOf(op).empty()) {
      lines.push_back(fmt::format("on {}", graph_.pinOf(op)));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

  void drawFetch(size_t index) {
    const Fetch& fetch = graph_.fetches()[index];
    const std::string id = fmt::format("fetch{}", index);
    line("  ", dot::node(id, graph_.text(fetch.name), "fetch", dot::resultColour, "house"));
    drawEdge(fetch.value, id);
  }

  void drawEdge(ValueId value, std::string_view to) {
    const OpId producer = graph_[value].producer;
    if (isInline(producer)) {
      return line("  ", fmt::format("op{} -> {};", producer.index(), to));
    }
    const std::string_view name = graph_[producer].resultCount > 1 ? graph_.nameOf(value) : "";
    line("  ", fmt::format("op{} -> {} [label={}];", producer.index(), to,
                           dot::edgeLabel(graph_.typeOf(value), name)));
  }

  void drawOperands(OpId op) {
    const OpRow& row = graph_[op];
    const bool assign = row.kind() == OpKind::Assign;
    for (size_t i = assign ? 1 : 0; i < row.operands.size(); ++i) {
      drawEdge(row.operands[i], fmt::format("op{}", op.index()));
    }
  }

  void drawLegend() {
    line("  ", "subgraph cluster_legend {");
    line("  ",
         "  label=\"how to read this\"; labeljust=l; fontsize=11; style=\"rounded\"; color=\"#d0d7de\";");
    line("    ", dot::node("legend_input", "input", "fed at every step", dot::sourceColour, "invhouse"));
    line("    ",
         dot::node("legend_state", "parameter", "kept from step to step", dot::stateColour, "cylinder"));
    line("    ", dot::node("legend_op", "op", "reads what points at it", dot::noDevice));
    line("    ", dot::node("legend_fetch", "fetch", "given back after a step", dot::resultColour, "house"));
    std::string order = "legend_input -> legend_state -> legend_op -> legend_fetch";
    for (const auto& [pin, index] : pins_) {
      line("    ",
           dot::node(fmt::format("legend_pin{}", index), pin, "pinned to it", dot::deviceColour(index)));
      order += fmt::format(" -> legend_pin{}", index);
    }
    line("    ", fmt::format("{{ rank=same; {} [style=invis]; }}", order));
    line("  ", "}");
  }

  const Graph& graph_;
  text::OpPrinter ops_;
  Scope root_;
  std::map<std::string, size_t, std::less<>> pins_; ///< to its colour's number
  size_t clusters_ = 0;
  std::string out_;
};

} // namespace

std::string graphDot(const Graph& graph) { return GraphDrawing(graph).draw(); }

} // namespace dfc
