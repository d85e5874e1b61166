// The picture with a box for each scope on each device. See placed_dot.h.
#include "ir/draw/device_drawing.h"
#include "ir/draw/placed_dot.h"

namespace dfc {
namespace {

constexpr const char* laterEdge = "style=dashed, constraint=false, color=\"#8c959f\"";

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

std::string figureDot(const PlacedGraph& placed, const Machine& machine) {
  return FigureDrawing(placed, machine).draw();
}

} // namespace dfc
