// The picture of every op. See placed_dot.h.
#include "ir/draw/placed_dot.h"

#include "ir/draw/device_drawing.h"
#include "ir/draw/display_name.h"

#include <map>

namespace dfc {
namespace {

constexpr const char* orderEdge = "style=dotted, constraint=false, color=\"#8c959f\"";

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
    for (const OpId op : graph_.ops()) {
      text += placed_.transfers.count(op) != 0 && homeOf(op) == device
                  ? "  " + copyNode(fmt::format("op{}", op.index()), op)
                  : "";
    }
    return text;
  }

  // A copy stands in the frame of the accelerator whose engine moves it: frames with nothing between them are
  // laid out side by side.
  DeviceId homeOf(OpId transfer) const {
    const TransferRow& row = placed_.transfers.find(transfer)->second;
    return machine_.devices[row.to].kind == DeviceKind::Gpu ? row.to : row.from;
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
    return dot::node(id, wrapped(displayName(graph_, op), 22),
                     fmt::format("{}{}{}", plain ? "" : displayKind(graph_, op) + " ", type, numbersOf(op)),
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

} // namespace

std::string placedDot(const PlacedGraph& placed, const Machine& machine) {
  return PlacedDrawing(placed, machine).draw();
}

} // namespace dfc
