#include "ir/text/placed_dot.h"

#include "ir/scope_view.h"
#include "ir/text/dot_writer.h"
#include "ir/text/units.h"

#include <fmt/format.h>

#include <map>

namespace dfc {
namespace {

std::string routeText(const TransferRow& transfer, const Machine& machine) {
  std::string links;
  for (const LinkId link : transfer.links) {
    links += (links.empty() ? "" : " + ") + machine.links[link].name;
  }
  return fmt::format("{} → {}{}{}", machine.devices[transfer.from].name, machine.devices[transfer.to].name,
                     links.empty() ? "" : "\nover ", links);
}

std::string deviceHead(DeviceId device, const Machine& machine) {
  const DeviceRow& row = machine.devices[device];
  const dot::Colour colours = dot::deviceColour(device.index());
  const std::string label = row.model.empty() ? row.name : row.name + "  (" + row.model + ")";
  return fmt::format("  subgraph cluster_device{} {{\n    graph [label={}, style=\"rounded,filled\", "
                     "fillcolor=\"{}\", color=\"{}\", fontcolor=\"{}\", penwidth=1.5, margin=14]\n",
                     device.index(), dotQuoted(label), paler(colours.fill), colours.border, colours.border);
}

std::string transferNode(const std::string& id, OpId op, const PlacedGraph& placed, const Machine& machine) {
  const TransferRow& row = placed.transfers.find(op)->second;
  return fmt::format(
      "  {} [shape=cds, style=filled, margin=\"0.2,0.14\", fillcolor=\"{}\", color=\"{}\", label={}]\n", id,
      transferColour.fill, transferColour.border,
      dotQuoted(fmt::format("{}\n{}, {}", wrapped(transferLabel(placed, op), 24), humanBytes(row.bytes),
                            routeText(row, machine))));
}

std::string opNode(OpId op, const PlacedGraph& placed, const std::string& indent) {
  const Graph& graph = placed.graph;
  const DotShape shape = shapeOf(graph[op].kind());
  const std::string label = wrapped(graph.nameOf(op), 28) + "\n" +
                            (placed.replicas.count(op) != 0 ? "replica, " : "") + opCaption(graph, op);
  return fmt::format("{}op{} [shape={}, style=\"{}\", fillcolor=white, color=\"{}\", label={}]\n", indent,
                     op.index(), shape.shape, shape.style,
                     dot::deviceColour(placed.device[op].index()).border, dotQuoted(label));
}

using OpsByScope = std::map<std::string, std::vector<OpId>>;

std::string scopeClusters(DeviceId device, const OpsByScope& scopes, const PlacedGraph& placed) {
  std::string text;
  size_t number = 0;
  for (const auto& [scope, ops] : scopes) {
    if (!scope.empty()) {
      text +=
          fmt::format("    subgraph cluster_scope{}_{} {{\n      graph [label={}, style=\"rounded,dashed\", "
                      "color=\"{}\", fontcolor=black, fontsize=13, margin=8]\n",
                      device.index(), number++, dotQuoted(scope), dot::deviceColour(device.index()).border);
    }
    for (const OpId op : ops) {
      text += opNode(op, placed, scope.empty() ? "    " : "      ");
    }
    text += scope.empty() ? "" : "    }\n";
  }
  return text;
}

std::string opEdges(const PlacedGraph& placed) {
  std::string text;
  for (const OpId op : placed.graph.ops()) {
    for (const ValueId operand : placed.graph[op].operands) {
      text += fmt::format("  op{} -> op{}\n", placed.graph[operand].producer.index(), op.index());
    }
  }
  for (const Ordering& ordering : placed.orderings) {
    text += fmt::format("  op{} -> op{} [style=dotted, color=\"#aaaaaa\", constraint=false]\n",
                        ordering.before.index(), ordering.after.index());
  }
  return text;
}

std::string figureBox(uint32_t box, const ScopeView& view, const PlacedGraph& placed) {
  const ScopeBox& row = view.boxes[box];
  const bool input = placed.graph[row.ops.front()].kind() == OpKind::Input;
  return fmt::format(
      "    box{} [shape={}, fillcolor=white, color=\"{}\", penwidth=1.3, fontsize=13, label={}]\n", box,
      input && row.ops.size() == 1 ? "invhouse" : "box", dot::deviceColour(row.device.index()).border,
      dotQuoted(wrapped(row.label, 26)));
}

} // namespace

std::string placedDot(const PlacedGraph& placed, const Machine& machine) {
  const Graph& graph = placed.graph;
  std::string text =
      dotHead(fmt::format("{} on {}", graph.name(), machine.name),
              "a frame is a device and in it a scope; a yellow arrow is a copy between devices");
  for (const DeviceId device : machine.devices.ids()) {
    OpsByScope scopes;
    for (const OpId op : graph.ops()) {
      if (placed.device[op] == device && placed.transfers.count(op) == 0) {
        scopes[std::string(graph.scopeOf(op))].push_back(op);
      }
    }
    if (!scopes.empty()) {
      text += deviceHead(device, machine) + scopeClusters(device, scopes, placed) + "  }\n";
    }
  }
  for (const OpId op : graph.ops()) {
    if (placed.transfers.count(op) != 0) {
      text += transferNode(fmt::format("op{}", op.index()), op, placed, machine);
    }
  }
  return text + opEdges(placed) + dotFetches(graph) + "}\n";
}

std::string figureDot(const PlacedGraph& placed, const Machine& machine) {
  const ScopeView view = collapseByScope(placed);
  std::string text =
      dotHead(fmt::format("{} on {}: one step", placed.graph.name(), machine.name),
              "a box is the work of one scope on one device; a yellow arrow is a copy between devices");
  for (const DeviceId device : machine.devices.ids()) {
    std::string boxes;
    for (uint32_t box = 0; box < view.boxes.size(); ++box) {
      if (view.boxes[box].device == device && !view.boxes[box].transfer) {
        boxes += figureBox(box, view, placed);
      }
    }
    text += boxes.empty() ? "" : deviceHead(device, machine) + boxes + "  }\n";
  }
  for (uint32_t box = 0; box < view.boxes.size(); ++box) {
    if (view.boxes[box].transfer) {
      text += transferNode(fmt::format("box{}", box), view.boxes[box].ops.front(), placed, machine);
    }
  }
  for (const auto& [from, to] : view.edges) {
    text += fmt::format("  box{} -> box{}\n", from, to);
  }
  return text + "}\n";
}

} // namespace dfc
