// See folded_dot.h. Boxes are told apart by the folded path of their scope ("h.*/attn"), so that the scopes
// of equal layers meet in one box.
#include "ir/draw/folded_dot.h"

#include "ir/author/text/units.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_parts.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/scope_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace dfc {
namespace {

constexpr size_t shownKinds = 3;
constexpr const char* backEdge = "style=dashed, constraint=false";

/// What the scopes of one folded path have in common.
struct Group {
  std::string label;
  uint32_t parent = 0;
  std::vector<uint32_t> children;
  uint32_t layers = 1; ///< how many equal scopes are one box, those around it included
  bool equal = true;
  bool open = false;
  double order = 0;
  std::set<uint32_t> devices;
  std::map<std::string, size_t> kinds;
  size_t ops = 0, parameters = 0, copies = 0;
  int64_t parameterBytes = 0, copiedBytes = 0;
  OpId onlyOp; ///< where it has one
};

std::string copiesText(size_t copies) { return fmt::format("{} cop{}", copies, copies == 1 ? "y" : "ies"); }

struct Flow {
  size_t values = 0, copies = 0;
  int64_t copiedBytes = 0;
};

class FoldedDrawing {
 public:
  FoldedDrawing(const PlacedGraph& placed, const Machine* machine, const FoldedPicture& picture)
      : placed_(placed), graph_(placed.graph), machine_(machine), picture_(picture),
        tree_(scopeTree(placed)) {}

  std::string draw() {
    makeGroups();
    open();
    std::string text = dot::header("dfc", picture_.title, picture_.explanation);
    count();
    drawChildren(0, "  ", text);
    return text + edges() + legend() + "}\n";
  }

 private:
  // --- Groups: nodes of the scope tree by their path; ops outside of scopes have no path and stay apart.
  void makeGroups() {
    std::map<std::string, uint32_t> byPath;
    groups_.emplace_back();
    groupOf_.resize(tree_.nodes.size(), 0);
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      const ScopeNode& node = tree_.nodes[i];
      const uint32_t parent = groupOf_[node.parent];
      const bool named = node.kind != ScopeNode::Kind::Outside;
      const auto next = static_cast<uint32_t>(groups_.size());
      groupOf_[i] = named ? byPath.try_emplace(node.path, next).first->second : next;
      if (groupOf_[i] == next) {
        addGroup(node, parent);
      }
      Group& group = groups_[groupOf_[i]];
      if (node.kind == ScopeNode::Kind::Fold) {
        group.layers = std::max(group.layers, groups_[group.parent].layers * node.layers);
        group.equal = group.equal && node.layersEqual;
      }
    }
    for (Group& group : groups_) {
      std::sort(group.children.begin(), group.children.end(),
                [&](uint32_t a, uint32_t b) { return groups_[a].order < groups_[b].order; });
    }
  }

  void addGroup(const ScopeNode& node, uint32_t parent) {
    groups_[parent].children.push_back(static_cast<uint32_t>(groups_.size()));
    Group group;
    group.label = node.name;
    group.parent = parent;
    group.layers = groups_[parent].layers;
    group.order = node.order;
    groups_.push_back(std::move(group));
  }

  // Level by level, in the order of computation, as long as there is room.
  void open() {
    size_t boxes = groups_[0].children.size();
    groups_[0].open = true;
    std::vector<uint32_t> level = groups_[0].children;
    while (!level.empty()) {
      std::vector<uint32_t> below;
      for (const uint32_t index : level) {
        Group& group = groups_[index];
        const size_t more = group.children.size();
        if (more > 0 && boxes + more <= picture_.mostBoxes) {
          group.open = true;
          boxes += more;
          below.insert(below.end(), group.children.begin(), group.children.end());
        }
      }
      level = std::move(below);
    }
  }

  uint32_t boxOf(OpId op) const {
    uint32_t box = groupOf_[tree_.nodeOf[op]];
    for (uint32_t at = box; at != 0; at = groups_[at].parent) {
      box = groups_[groups_[at].parent].open ? box : groups_[at].parent;
    }
    return box;
  }

  // --- What each box holds and what flows between them; a copy belongs to the arrow that it is part of.
  void count() {
    for (const OpId op : graph_.ops()) {
      if (graph_[op].kind() == OpKind::Transfer) {
        continue;
      }
      const uint32_t box = boxOf(op);
      hold(op, groups_[box]);
      const bool assign = graph_[op].kind() == OpKind::Assign;
      for (size_t i = assign ? 1 : 0; i < graph_[op].operands.size(); ++i) {
        flow(graph_[op].operands[i], box);
      }
    }
  }

  void hold(OpId op, Group& group) const {
    if (graph_[op].kind() == OpKind::Parameter) {
      ++group.parameters;
      group.parameterBytes += graph_.typeOf(graph_[op].firstResult).bytes();
    } else if (graph_[op].kind() != OpKind::Constant) {
      group.onlyOp = group.ops++ == 0 ? op : OpId{};
      ++group.kinds[std::string(nameOf(graph_[op].kind()))];
      group.devices.insert(placed_.device[op].index());
    }
  }

  void flow(ValueId value, uint32_t to) {
    Flow found{1, 0, 0};
    OpId from = graph_[value].producer;
    for (; graph_[from].kind() == OpKind::Transfer; from = graph_[graph_[from].operands.front()].producer) {
      if (counted_.insert(from.index()).second) {
        ++found.copies;
        found.copiedBytes += graph_.typeOf(graph_[from].firstResult).bytes();
      }
    }
    if (graph_[from].kind() == OpKind::Constant) {
      return;
    }
    const uint32_t box = boxOf(from);
    if (box == to) {
      groups_[to].copies += found.copies;
      groups_[to].copiedBytes += found.copiedBytes;
      return;
    }
    Flow& sum = flows_[{box, to}];
    sum.values += found.values;
    sum.copies += found.copies;
    sum.copiedBytes += found.copiedBytes;
  }

  // --- Boxes.
  void drawChildren(uint32_t index, const std::string& indent, std::string& text) const {
    if (const Group& group = groups_[index]; index != 0 && group.ops + group.parameters > 0) {
      text += indent + node(index, "directly in it") + "\n"; // an open scope's own ops
    }
    for (const uint32_t child : groups_[index].children) {
      const Group& group = groups_[child];
      if (!group.open) {
        text += group.ops + group.parameters > 0 ? indent + node(child, titleOf(group)) + "\n" : "";
        continue;
      }
      text += fmt::format("{}subgraph cluster_{} {{\n{}  label={}; labeljust=l; fontsize=13; "
                          "style=\"rounded,filled\"; fillcolor=\"#f6f8fa\"; color=\"#d0d7de\";\n",
                          indent, child, indent, dot::quoted(titleOf(group)));
      drawChildren(child, indent + "  ", text);
      text += indent + "}\n";
    }
  }

  std::string titleOf(const Group& group) const {
    std::string title = group.label;
    if (title.empty()) {
      title = group.onlyOp.valid() ? displayName(graph_, group.onlyOp) : "outside of scopes";
    }
    const bool fold = group.layers > groups_[group.parent].layers;
    return wrapped(title, 30) +
           (fold ? fmt::format(" × {}", group.layers / groups_[group.parent].layers) : "");
  }

  std::string node(uint32_t index, const std::string& title) const {
    const Group& group = groups_[index];
    return dot::node(fmt::format("g{}", index), title, contentsOf(group), colourOf(group));
  }

  std::string contentsOf(const Group& group) const {
    std::vector<std::string> lines;
    if (group.ops > 0) {
      lines.push_back(counted(group.ops, "op") + ": " + kindsOf(group));
    }
    if (group.parameters > 0) {
      lines.push_back(counted(group.parameters, "parameter") + ", " + humanBytes(group.parameterBytes));
    }
    if (group.copies > 0) {
      lines.push_back(copiesText(group.copies) + " within, " + humanBytes(group.copiedBytes));
    }
    if (!group.equal) {
      lines.emplace_back("layers that differ");
    }
    if (machine_ != nullptr && !group.devices.empty()) {
      lines.push_back("on " + devicesOf(group));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

  std::string kindsOf(const Group& group) const {
    std::vector<std::pair<size_t, std::string>> kinds;
    for (const auto& [kind, ops] : group.kinds) {
      kinds.emplace_back(ops, kind);
    }
    std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::string text;
    for (size_t i = 0; i < std::min(shownKinds, kinds.size()); ++i) {
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", kinds[i].first, kinds[i].second);
    }
    return text + (kinds.size() > shownKinds ? ", …" : "");
  }

  std::string devicesOf(const Group& group) const {
    if (group.devices.size() > 3) {
      return fmt::format("{} devices", group.devices.size());
    }
    std::vector<std::string> names;
    for (const uint32_t device : group.devices) {
      names.push_back(machine_->devices[DeviceId(device)].name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  dot::Colour colourOf(const Group& group) const {
    if (machine_ == nullptr || group.devices.size() != 1) {
      return {"#ffffff", "#57606a"};
    }
    return dot::DevicePalette(*machine_).of(machine_->devices[DeviceId(*group.devices.begin())].name);
  }

  // --- Arrows. One from a later box to an earlier one, as of a layer to the next of its fold, is dashed.
  std::string edges() const {
    std::string text;
    for (const auto& [ends, flow] : flows_) {
      const bool back = groups_[ends.first].order > groups_[ends.second].order;
      std::vector<std::string> look;
      if (back) {
        look.emplace_back(backEdge);
      }
      if (flow.copies > 0) {
        look.push_back(fmt::format("color=\"{0}\", fontcolor=\"{0}\", penwidth=1.6, label=\"{1}\\n{2}\"",
                                   transferColour.border, copiesText(flow.copies),
                                   humanBytes(flow.copiedBytes)));
      }
      text += fmt::format("  g{} -> g{}{};\n", ends.first, ends.second,
                          look.empty() ? "" : fmt::format(" [{}]", fmt::join(look, ", ")));
    }
    return text;
  }

  std::string legend() const {
    const dot::Colour plain{"#ffffff", "#57606a"};
    std::vector<std::string> nodes = {
        dot::node("legend_box", "scope", "all its ops; × n: n equal layers", plain)};
    std::vector<std::string> order = {"legend_box"};
    if (std::any_of(groups_.begin() + 1, groups_.end(), [](const Group& group) { return group.open; })) {
      nodes.push_back(dot::node("legend_frame", "grey frame", "an open scope, with its parts",
                                dot::Colour{"#f6f8fa", "#d0d7de"}));
      order.emplace_back("legend_frame");
    }
    if (machine_ != nullptr) {
      nodes.push_back(dot::node("legend_copy", "amber arrow", "values copied between devices",
                                dot::Colour{transferColour.fill, transferColour.border}));
      order.emplace_back("legend_copy");
    }
    nodes.push_back(
        dot::node("legend_back", "dashed arrow", "to an earlier box:\nlayer to layer, or back", plain));
    order.emplace_back("legend_back");
    return dot::legend(nodes, order);
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine* machine_;
  const FoldedPicture& picture_;
  ScopeTree tree_;
  std::vector<Group> groups_;     ///< the root first, parents before their children
  std::vector<uint32_t> groupOf_; ///< of a node of the tree
  std::map<std::pair<uint32_t, uint32_t>, Flow> flows_;
  std::set<uint32_t> counted_; ///< copies
};

} // namespace

std::string foldedDot(const PlacedGraph& placed, const Machine& machine, const FoldedPicture& picture) {
  return FoldedDrawing(placed, &machine, picture).draw();
}

std::string foldedDot(const Graph& graph, const FoldedPicture& picture) {
  PlacedGraph placed;
  placed.graph = graph;
  placed.device.resize(graph.opCount(), DeviceId(0));
  return FoldedDrawing(placed, nullptr, picture).draw();
}

} // namespace dfc
