// See placed_dot.h.
#include "ir/text/placed_dot.h"

#include "ir/scope_view.h"
#include "ir/spoken_name.h"
#include "ir/text/dot_parts.h"
#include "ir/text/dot_writer.h"
#include "ir/text/units.h"

#include <fmt/format.h>

#include <map>

namespace dfc {
namespace {

constexpr const char* laterEdge = "style=dashed, constraint=false, color=\"#8c959f\"";
constexpr const char* orderEdge = "style=dotted, constraint=false, color=\"#8c959f\"";

std::string routeText(const TransferRow& transfer, const Machine& machine) {
  std::string links;
  for (const LinkId link : transfer.links) {
    links += (links.empty() ? "" : " + ") + machine.links[link].name;
  }
  return fmt::format("{} → {}{}{}", machine.devices[transfer.from].name, machine.devices[transfer.to].name,
                     links.empty() ? "" : "\nover ", links);
}

// What both pictures draw alike: frames of devices, copies, parameters, a legend.
class DeviceDrawing {
 public:
  DeviceDrawing(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), graph_(placed.graph), machine_(machine), palette_(machine) {}

 protected:
  dot::Colour colourOf(DeviceId device) const { return palette_.of(machine_.devices[device].name); }
  dot::Colour outlined(DeviceId device) const { return {"#ffffff", colourOf(device).border}; }

  std::string deviceFrame(DeviceId device, const std::string& contents) const {
    const DeviceRow& row = machine_.devices[device];
    const dot::Colour colours = colourOf(device);
    return fmt::format(
        "  subgraph cluster_device{} {{\n    label={}; style=\"rounded,filled\"; fillcolor=\"{}\"; "
        "color=\"{}\"; fontcolor=\"{}\"; fontsize=16; penwidth=1.5; margin=12;\n{}  }}\n",
        device.index(), dotQuoted(row.model.empty() ? row.name : row.name + "  (" + row.model + ")"),
        paler(colours.fill), colours.border, colours.border, contents);
  }

  std::string copyNode(const std::string& id, OpId op) const {
    const TransferRow& row = placed_.transfers.find(op)->second;
    return fmt::format(
        "  {} [shape=cds, style=filled, margin=\"0.16,0.12\", fontsize=11, fillcolor=\"{}\", color=\"{}\", "
        "label={}];\n",
        id, transferColour.fill, transferColour.border,
        dotQuoted(fmt::format("{}\n{}\n{}", wrapped(transferLabel(placed_, op), 24), humanBytes(row.bytes),
                              routeText(row, machine_))));
  }

  // "replica of w1" where `parameter` is one, else its own name.
  std::string stateName(OpId parameter) const {
    const auto original = placed_.replicas.find(parameter);
    return original == placed_.replicas.end() ? std::string(graph_.nameOf(parameter))
                                              : fmt::format("replica of {}", graph_.nameOf(original->second));
  }

  std::string stateNode(const std::string& id, OpId parameter) const {
    const TensorType& type = graph_.typeOf(graph_[parameter].firstResult);
    return dot::node(id, stateName(parameter),
                     fmt::format("{}, {}", toString(type), humanBytes(type.bytes())),
                     outlined(placed_.device[parameter]), "cylinder");
  }

  static std::string copyKey() {
    return fmt::format(
        "legend_copy [shape=cds, style=filled, margin=\"0.16,0.1\", fillcolor=\"{}\", color=\"{}\", "
        "label=\"copy between devices\\nwith its bytes and its route\"];",
        transferColour.fill, transferColour.border);
  }
  // An arrow in the legend: from a point to its meaning.
  static std::vector<std::string> arrowKey(const std::string& id, const char* look, const char* meaning) {
    return {fmt::format("{}_from [shape=point, width=0.05];", id),
            fmt::format("{} [shape=plaintext, style=\"\", fontsize=11, label=\"{}\"];", id, meaning),
            fmt::format("{{ rank=same; {0}_from -> {0} [{1}]; }}", id, look)};
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  dot::DevicePalette palette_;
};

// Every op.
class PlacedDrawing : DeviceDrawing {
 public:
  using DeviceDrawing::DeviceDrawing;

  std::string draw() const {
    std::string text =
        dot::header("dfc", fmt::format("{} on {}: who computes what", graph_.name(), machine_.name), "");
    for (const DeviceId device : machine_.devices.ids()) {
      const std::string ops = opsOf(device);
      text += ops.empty() ? "" : deviceFrame(device, ops);
    }
    for (const OpId op : graph_.ops()) {
      text += placed_.transfers.count(op) != 0 ? copyNode(fmt::format("op{}", op.index()), op) : "";
    }
    const std::string orderings = orderingEdges();
    return text + edges() + orderings + fetches() + legend(!orderings.empty()) + "}\n";
  }

 private:
  // Numbers like 0.5 stand in the ops that read them.
  bool isNumber(OpId op) const {
    const auto* constant = graph_[op].getIf<ops::Constant>();
    return constant != nullptr && constant->value.type().shape.elements() == 1;
  }

  std::string opsOf(DeviceId device) const {
    std::map<std::string, std::string> scopes;
    for (const OpId op : graph_.ops()) {
      if (placed_.device[op] == device && placed_.transfers.count(op) == 0 && !isNumber(op)) {
        scopes[std::string(graph_.scopeOf(op))] += "      " + opNode(op) + "\n";
      }
    }
    std::string text;
    size_t number = 0;
    for (const auto& [scope, ops] : scopes) {
      text +=
          scope.empty()
              ? ops
              : fmt::format("    subgraph cluster_scope{}_{} {{\n      label={}; style=\"rounded,dashed\"; "
                            "color=\"{}\"; fontcolor=\"#24292f\"; fontsize=13; margin=7;\n{}    }}\n",
                            device.index(), number++, dotQuoted(scope), colourOf(device).border, ops);
    }
    return text;
  }

  std::string opNode(OpId op) const {
    const std::string id = fmt::format("op{}", op.index());
    const OpKind kind = graph_[op].kind();
    if (kind == OpKind::Parameter) {
      return stateNode(id, op);
    }
    if (kind == OpKind::Assign) {
      return dot::node(id, "new " + originalName(graph_[graph_[op].operands[0]].producer),
                       "read from the next step on", outlined(placed_.device[op]), "cylinder");
    }
    const std::string type = toString(graph_.typeOf(graph_[op].firstResult));
    const bool plain = nameIsMadeUp(graph_, op);
    return dot::node(id, wrapped(spokenName(graph_, op), 22),
                     fmt::format("{}{}{}", plain ? "" : spokenKind(graph_, op) + " ", type, numbersOf(op)),
                     outlined(placed_.device[op]), shapeOf(kind).shape);
  }

  std::string originalName(OpId parameter) const {
    const auto original = placed_.replicas.find(parameter);
    return std::string(graph_.nameOf(original == placed_.replicas.end() ? parameter : original->second));
  }

  // "\nwith 0.286, 2.83286" for an op that reads numbers.
  std::string numbersOf(OpId op) const {
    std::string text;
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (isNumber(producer)) {
        text += fmt::format("{}{:.6g}", text.empty() ? "\nwith " : ", ",
                            graph_[producer].as<ops::Constant>().value.at(0));
      }
    }
    return text;
  }

  std::string edges() const {
    std::string text;
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      for (size_t i = row.kind() == OpKind::Assign ? 1 : 0; i < row.operands.size(); ++i) {
        const OpId from = graph_[row.operands[i]].producer;
        text += isNumber(from) ? "" : fmt::format("  op{} -> op{};\n", from.index(), op.index());
      }
    }
    return text;
  }

  // Those that no chain of arrows implies: the others are in the picture already.
  std::string orderingEdges() const {
    std::string text;
    for (const Ordering& ordering : placed_.orderings) {
      text += follows(ordering.before, ordering.after)
                  ? ""
                  : fmt::format("  op{} -> op{} [{}];\n", ordering.before.index(), ordering.after.index(),
                                orderEdge);
    }
    return text;
  }

  // Whether a chain of operands leads from `before` to `after`. Ids grow along chains, so the search is
  // short.
  bool follows(OpId before, OpId after) const {
    SideTable<OpId, bool> reached(graph_.opCount(), false);
    reached[before] = true;
    for (uint32_t index = before.index() + 1; index <= after.index(); ++index) {
      for (const ValueId operand : graph_[OpId(index)].operands) {
        reached[OpId(index)] = reached[OpId(index)] || reached[graph_[operand].producer];
      }
    }
    return reached[after];
  }

  std::string fetches() const {
    std::string text;
    size_t number = 0;
    for (const Fetch& fetch : graph_.fetches()) {
      text +=
          fmt::format("  {}\n  op{} -> fetch{};\n",
                      dot::node(fmt::format("fetch{}", number), graph_.text(fetch.name),
                                "fetch " + toString(graph_.typeOf(fetch.value)), dot::resultColour, "house"),
                      graph_[fetch.value].producer.index(), number);
      ++number;
    }
    return text;
  }

  static std::string legend(bool orderings) {
    std::vector<std::string> nodes = {dot::node("legend_op", "computation",
                                                "what it does and the type of its result\n"
                                                "dashed frame: a scope of the author",
                                                dot::noDevice),
                                      dot::node("legend_state", "parameter",
                                                "kept on its device from step to step", dot::noDevice,
                                                "cylinder"),
                                      copyKey()};
    std::vector<std::string> order = {"legend_op", "legend_state", "legend_copy"};
    if (orderings) {
      const auto key = arrowKey("legend_order", orderEdge,
                                "nothing is passed: an old value\\nis read before it is overwritten");
      nodes.insert(nodes.end(), key.begin(), key.end());
      order.emplace_back("legend_order");
    }
    return dot::legend(nodes, order);
  }
};

// A box for each scope on each device.
class FigureDrawing : DeviceDrawing {
 public:
  FigureDrawing(const PlacedGraph& placed, const Machine& machine)
      : DeviceDrawing(placed, machine), view_(collapseByScope(placed)) {}

  std::string draw() const {
    std::string text =
        dot::header("dfc", fmt::format("{} on {}: one step", graph_.name(), machine_.name), "");
    for (const DeviceId device : machine_.devices.ids()) {
      const std::string contents = boxesOf(device) + statesOf(device);
      text += contents.empty() ? "" : deviceFrame(device, contents);
    }
    for (uint32_t box = 0; box < view_.boxes.size(); ++box) {
      text +=
          view_.boxes[box].transfer ? copyNode(fmt::format("box{}", box), view_.boxes[box].ops.front()) : "";
    }
    for (const auto& [from, to] : view_.edges) {
      text += fmt::format("  box{} -> box{};\n", from, to);
    }
    for (const ScopeState& state : view_.states) {
      text += stateEdges(state);
    }
    return text + legend() + "}\n";
  }

 private:
  std::string boxesOf(DeviceId device) const {
    std::string text;
    for (uint32_t box = 0; box < view_.boxes.size(); ++box) {
      const ScopeBox& row = view_.boxes[box];
      if (row.device == device && !row.transfer) {
        const bool input = graph_[row.ops.front()].kind() == OpKind::Input && row.ops.size() == 1;
        text += fmt::format("    box{} [shape={}, fillcolor=white, color=\"{}\", fontsize=13, label={}];\n",
                            box, input ? "invhouse" : "box", colourOf(device).border,
                            dotQuoted(wrapped(row.label, 26)));
      }
    }
    return text;
  }

  std::string statesOf(DeviceId device) const {
    std::string text;
    for (const ScopeState& state : view_.states) {
      if (placed_.device[state.parameter] == device) {
        text += "    " + stateNode(fmt::format("state{}", state.parameter.index()), state.parameter) + "\n";
      }
    }
    return text;
  }

  // State that changes stands below what writes it, and is read from there in the next step.
  std::string stateEdges(const ScopeState& state) const {
    std::string text;
    for (const uint32_t writer : state.writers) {
      text += fmt::format("  box{} -> state{};\n", writer, state.parameter.index());
    }
    for (const uint32_t reader : state.readers) {
      text += fmt::format("  state{} -> box{}{};\n", state.parameter.index(), reader,
                          state.writers.empty() ? "" : fmt::format(" [{}]", laterEdge));
    }
    return text;
  }

  static std::string legend() {
    std::vector<std::string> nodes = {
        dot::node("legend_box", "computation", "all ops of one scope on one device", dot::noDevice),
        dot::node("legend_state", "parameter", "kept on its device from step to step", dot::noDevice,
                  "cylinder"),
        copyKey()};
    const auto key = arrowKey("legend_later", laterEdge, "is read in the next step");
    nodes.insert(nodes.end(), key.begin(), key.end());
    return dot::legend(nodes, {"legend_box", "legend_state", "legend_copy", "legend_later"});
  }

  ScopeView view_;
};

} // namespace

std::string placedDot(const PlacedGraph& placed, const Machine& machine) {
  return PlacedDrawing(placed, machine).draw();
}

std::string figureDot(const PlacedGraph& placed, const Machine& machine) {
  return FigureDrawing(placed, machine).draw();
}

} // namespace dfc
