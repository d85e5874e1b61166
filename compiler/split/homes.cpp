#include "compiler/split/homes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/EquivalenceClasses.h>

#include <algorithm>

namespace dfc {
namespace {

// Bytes up to which a value leaves the ops at its two ends apart: a step count or a learning rate is read by
// the updates of all parameters.
constexpr int64_t mostUntied = 64;

bool isOnOne(const Graph& graph, const SplitPlan& plan, OpId op) {
  return plan.option[op].form == OpOption::Form::OnOne && graph[op].kind() != OpKind::Input;
}

using Groups = llvm::EquivalenceClasses<uint32_t>;

Groups groupsOf(const Graph& graph, const SplitPlan& plan) {
  Groups groups;
  for (const OpId op : graph.ops()) {
    if (!isOnOne(graph, plan, op)) {
      continue;
    }
    groups.insert(op.index());
    for (const ValueId operand : graph[op].operands) {
      const OpId producer = graph[operand].producer;
      if (isOnOne(graph, plan, producer) && graph.typeOf(operand).bytes() > mostUntied) {
        groups.unionSets(producer.index(), op.index());
      }
    }
    if (graph[op].kind() == OpKind::Assign) {
      groups.unionSets(graph[graph[op].operands[0]].producer.index(), op.index());
    }
  }
  return groups;
}

struct Group {
  int64_t bytes = 0; ///< of the results of its ops
  std::vector<OpId> ops;
};

/// In the order of their first ops.
std::vector<Group> listed(const Graph& graph, const SplitPlan& plan) {
  const Groups groups = groupsOf(graph, plan);
  std::vector<Group> all;
  llvm::DenseMap<uint32_t, size_t> indexOf;
  for (const OpId op : graph.ops()) {
    if (isOnOne(graph, plan, op)) {
      const auto [found, isNew] = indexOf.try_emplace(groups.getLeaderValue(op.index()), all.size());
      if (isNew) {
        all.emplace_back();
      }
      Group& group = all[found->second];
      group.ops.push_back(op);
      for (const ValueId result : graph[op].results()) {
        group.bytes += graph.typeOf(result).bytes();
      }
    }
  }
  return all;
}

} // namespace

SideTable<OpId, size_t> homesOf(const Graph& graph, const SplitPlan& plan) {
  std::vector<Group> groups = listed(graph, plan);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  const auto& rows = plan.rows.devices;
  std::vector<std::vector<double>> loads(std::max<size_t>(rows.size(), 1),
                                         std::vector<double>(plan.mesh.size(), 0));
  SideTable<OpId, size_t> home(graph.opCount(), 0);
  for (const Group& group : groups) {
    std::vector<double>& load = loads[rows.empty() ? 0 : plan.rows.of[group.ops.front()]];
    const auto least = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += static_cast<double>(group.bytes) / plan.mesh.shares[least];
    for (const OpId op : group.ops) {
      home[op] = least;
    }
  }
  return home;
}

} // namespace dfc
