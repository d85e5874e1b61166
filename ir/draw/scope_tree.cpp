#include "ir/draw/scope_tree.h"

#include "ir/draw/folded_name.h"

#include <llvm/ADT/Hashing.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace dfc {
namespace {

/// A scope before layers are folded.
struct Draft {
  ScopeNode node;
  std::vector<uint32_t> children;
  std::set<uint32_t> devices; ///< that compute its ops
  uint64_t contents = 0;      ///< a sum of hashes: the same for the same ops in any order
  double sumOfIds = 0;
  uint32_t firstId = 0; ///< of its own ops
  size_t ops = 0;
};

class TreeMaker {
 public:
  explicit TreeMaker(const PlacedGraph& placed)
      : placed_(placed), graph_(placed.graph), draftOf_(graph_.opCount(), 0) {
    drafts_.push_back({{ScopeNode::Kind::Root, ScopeNode::none, "", ""}, {}, {}, 0, 0, 0, 0});
  }

  ScopeTree make() {
    placeOps();
    for (uint32_t index = static_cast<uint32_t>(drafts_.size()); index-- > 1;) {
      addToParent(drafts_[index]);
    }
    finish(0, ScopeNode::none);
    ScopeTree tree{std::move(nodes_), SideTable<OpId, uint32_t>(graph_.opCount(), 0)};
    for (const OpId op : graph_.ops()) {
      tree.nodeOf[op] = indexOf_[draftOf_[op]];
    }
    return tree;
  }

 private:
  // --- Ops into scopes, in the order of ids: an op's operands have theirs already.
  void placeOps() {
    std::vector<uint32_t> follows(graph_.opCount(), 0); // by op: 1 + the number of the latest outermost scope
    std::map<uint32_t, uint32_t> numbers, outside;      // by outermost scope; by what they follow
    for (const OpId op : graph_.ops()) {
      uint32_t& latest = follows[op.index()];
      for (const ValueId operand : graph_[op].operands) {
        latest = std::max(latest, follows[graph_[operand].producer.index()]);
      }
      const std::string_view scope = graph_.scopeOf(op);
      if (!scope.empty()) {
        draftOf_[op] = draftOfScope(scope);
        if (!placed_.isResident(op)) {
          latest = 1 + numbers.try_emplace(outermost(draftOf_[op]), numbers.size()).first->second;
        }
      } else {
        const auto [found, isNew] = outside.try_emplace(latest, static_cast<uint32_t>(drafts_.size()));
        if (isNew) {
          add(0, ScopeNode::Kind::Outside, "", "");
        }
        draftOf_[op] = found->second;
      }
      count(op, drafts_[draftOf_[op]]);
    }
  }

  void count(OpId op, Draft& draft) const {
    if (placed_.isResident(op)) {
      return;
    }
    const OpRow& row = graph_[op];
    if (row.kind() != OpKind::Transfer) {
      draft.devices.insert(placed_.device[op].index());
    }
    const std::string type = row.resultCount > 0 ? toString(graph_.typeOf(row.firstResult)) : "";
    draft.contents += llvm::hash_combine(static_cast<int>(row.kind()), type);
    draft.sumOfIds += op.index();
    draft.firstId = draft.ops == 0 ? op.index() : draft.firstId;
    ++draft.ops;
  }

  uint32_t add(uint32_t parent, ScopeNode::Kind kind, std::string name, std::string path) {
    const auto index = static_cast<uint32_t>(drafts_.size());
    drafts_[parent].children.push_back(index);
    drafts_.push_back({{kind, parent, std::move(name), std::move(path)}, {}, {}, 0, 0, 0, 0});
    return index;
  }

  uint32_t draftOfScope(std::string_view scope) {
    const auto [known, isNew] = byScope_.try_emplace(std::string(scope), 0);
    if (!isNew) {
      return known->second;
    }
    uint32_t at = 0;
    size_t begin = 0;
    for (size_t level = 1; begin <= scope.size(); ++level) {
      const size_t slash = level < ScopeTree::mostLevels ? scope.find('/', begin) : std::string_view::npos;
      const size_t end = std::min(slash, scope.size());
      const auto [child, isFirst] =
          byWord_.try_emplace({at, std::string(scope.substr(begin, end - begin))}, 0);
      if (isFirst) {
        child->second =
            add(at, ScopeNode::Kind::Scope, child->first.second, foldedName(scope.substr(0, end)));
      }
      at = child->second;
      begin = end + 1;
    }
    return known->second = at;
  }

  uint32_t outermost(uint32_t draft) const {
    while (drafts_[draft].node.parent != 0) {
      draft = drafts_[draft].node.parent;
    }
    return draft;
  }

  void addToParent(const Draft& draft) {
    Draft& parent = drafts_[draft.node.parent];
    parent.devices.insert(draft.devices.begin(), draft.devices.end());
    parent.contents +=
        llvm::hash_combine(draft.node.name.empty() ? "" : foldedName(draft.node.name), draft.contents);
    parent.sumOfIds += draft.sumOfIds;
    parent.ops += draft.ops;
  }

  // --- Folds.
  using Layers = std::vector<uint32_t>;

  /// Children that lie in one fold, or by themselves.
  std::vector<Layers> groupsOf(const Draft& draft) const {
    std::map<std::pair<std::string, std::set<uint32_t>>, size_t> known;
    std::vector<Layers> groups;
    for (const uint32_t child : draft.children) {
      const ScopeNode& node = drafts_[child].node;
      const std::string folded = foldedName(node.name);
      size_t group = groups.size();
      if (node.kind == ScopeNode::Kind::Scope && folded != node.name) {
        group = known.try_emplace({folded, drafts_[child].devices}, group).first->second;
      }
      groups.resize(std::max(groups.size(), group + 1));
      groups[group].push_back(child);
    }
    return groups;
  }

  void finish(uint32_t index, uint32_t parent) {
    Draft& draft = drafts_[index];
    draft.node.parent = parent;
    // Ops outside of scopes may end far behind the others of their group: sums of a loss over devices.
    draft.node.order = draft.node.kind == ScopeNode::Kind::Outside ? draft.firstId
                       : draft.ops > 0 ? draft.sumOfIds / static_cast<double>(draft.ops)
                                       : 0;
    indexOf_[index] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(draft.node);
    for (const Layers& layers : groupsOf(draft)) {
      const uint32_t above = layers.size() > 1 ? addFold(layers, indexOf_[index]) : indexOf_[index];
      for (const uint32_t child : layers) {
        finish(child, above);
      }
    }
  }

  uint32_t addFold(const Layers& layers, uint32_t parent) {
    const Draft& first = drafts_[layers.front()];
    ScopeNode fold{ScopeNode::Kind::Fold, parent, foldedName(first.node.name), first.node.path};
    fold.layers = static_cast<uint32_t>(layers.size());
    size_t ops = 0;
    for (const uint32_t layer : layers) {
      fold.layersEqual = fold.layersEqual && drafts_[layer].contents == first.contents;
      fold.order += drafts_[layer].sumOfIds;
      ops += drafts_[layer].ops;
    }
    fold.order /= static_cast<double>(std::max<size_t>(ops, 1));
    nodes_.push_back(std::move(fold));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  const PlacedGraph& placed_;
  const Graph& graph_;
  SideTable<OpId, uint32_t> draftOf_;
  std::vector<Draft> drafts_; // parents before their children
  std::map<std::string, uint32_t, std::less<>> byScope_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> byWord_; // of a parent and a name
  std::map<uint32_t, uint32_t> indexOf_;                        // draft -> node
  std::vector<ScopeNode> nodes_;
};

} // namespace

ScopeTree scopeTree(const PlacedGraph& placed) { return TreeMaker(placed).make(); }

} // namespace dfc
