// Shared parts of pictures of placed graphs: frames of devices, copies, parameters, keys of a legend. For
// placed_dot.cpp and figure_dot.cpp only.
#pragma once

#include "ir/author/text/units.h"
#include "ir/draw/dot_parts.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/scope_view.h"
#include "ir/plan/placed_graph.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace dfc {

class DeviceDrawing {
 public:
  DeviceDrawing(const PlacedGraph& placed, const Machine& machine)
      : placed_(placed), graph_(placed.graph), machine_(machine), palette_(machine), transferLabels_(placed) {
  }

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

  /// "cpu0 → gpu0\nover gpu0 pcie in"
  std::string routeText(const TransferRow& transfer) const {
    std::string links;
    for (const LinkId link : transfer.links) {
      links += (links.empty() ? "" : " + ") + machine_.links[link].name;
    }
    return fmt::format("{} → {}{}{}", machine_.devices[transfer.from].name,
                       machine_.devices[transfer.to].name, links.empty() ? "" : "\nover ", links);
  }

  std::string copyNode(const std::string& id, OpId op) const {
    const TransferRow& row = placed_.transfers.find(op)->second;
    return fmt::format(
        "  {} [shape=cds, style=filled, margin=\"0.16,0.12\", fontsize=11, fillcolor=\"{}\", color=\"{}\", "
        "label={}];\n",
        id, transferColour.fill, transferColour.border,
        dotQuoted(fmt::format("{}\n{}\n{}", wrapped(transferLabels_.of(op), 24), humanBytes(row.bytes),
                              routeText(row))));
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
  TransferLabels transferLabels_;
};

} // namespace dfc
