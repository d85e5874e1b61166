// See explain_parts.h.
#include "compiler/explain/explain_parts.h"
#include "ir/draw/folded_name.h"
#include "ir/graph/graph.h"
#include "ir/graph/whole_state.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <set>

namespace dfc {
namespace {

/// Where an author's parameter is.
struct Holders {
  std::string type;
  size_t originals = 0;
  std::optional<size_t> cutAxis;
  /// By index. `replicas`: where a replica of another device's original is, and, unless originals are parts,
  /// no original.
  std::set<uint32_t> devices, replicas;
  std::map<uint32_t, int64_t> bytes = {}; ///< by device
};

std::optional<size_t> cutAxisOf(const Graph& graph, OpId op) {
  const TensorPart& place = placeOf(graph, op);
  const Shape& own = graph.typeOf(graph[op].firstResult).shape;
  for (size_t axis = 0; place.isPart() && axis < own.rank(); ++axis) {
    if (place.whole[axis] != own[axis]) {
      return axis;
    }
  }
  return std::nullopt;
}

/// `host`: its index; parameters may be there for want of memory elsewhere.
std::string layoutText(const Holders& holders, uint32_t host, const std::string& hostName) {
  const size_t count = holders.replicas.size();
  const bool onHost = holders.devices == std::set<uint32_t>{host};
  if (holders.cutAxis) {
    const std::string over = onHost ? fmt::format("into {}, on {}", holders.originals, hostName)
                                    : fmt::format("over {}", holders.devices.size());
    return fmt::format("cut along axis {} {}{}", *holders.cutAxis, over,
                       count == 0 ? "" : fmt::format("; replicas of the parts on {}", count));
  }
  const std::string replicas = count == 0 ? "" : fmt::format(", replicas on {}", count);
  return holders.originals > 1 ? fmt::format("on all {}{}", holders.devices.size(), replicas)
         : onHost              ? fmt::format("on {}{}", hostName, replicas)
                               : fmt::format("on one device each{}", replicas);
}

std::map<std::string, Holders> holdersOf(const PlacedGraph& placed) {
  const Graph& graph = placed.graph;
  std::map<std::string, Holders> all;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    const auto found = placed.replicas.find(op);
    const bool isReplica = found != placed.replicas.end();
    const OpId original = isReplica ? found->second : op;
    Holders& holders = all[std::string(authorNameOf(graph, original))];
    const uint32_t device = placed.device[op].index();
    holders.bytes[device] += graph.typeOf(graph[op].firstResult).bytes();
    if (isReplica) {
      if (device != placed.device[original].index()) { // else the same values in 16 bits
        holders.replicas.insert(device);
      }
      continue;
    }
    holders.type = toString(authorTypeOf(graph, op));
    holders.devices.insert(device);
    holders.cutAxis = cutAxisOf(graph, op);
    ++holders.originals;
  }
  for (auto& [name, holders] : all) {
    if (!holders.cutAxis) {
      for (const uint32_t device : holders.devices) {
        holders.replicas.erase(device);
      }
    }
  }
  return all;
}

struct Group {
  std::vector<std::string> names; ///< folded, each once
  size_t count = 0;
  std::map<uint32_t, int64_t> bytes;
};

std::string namesText(const Group& group) {
  return group.names.size() == 1 ? group.names.front()
                                 : fmt::format("{} and {} other name{}", group.names.front(),
                                               group.names.size() - 1, group.names.size() == 2 ? "" : "s");
}

int64_t mostOf(const std::map<uint32_t, int64_t>& bytes) {
  int64_t most = 0;
  for (const auto& [device, here] : bytes) {
    most = std::max(most, here);
  }
  return most;
}

} // namespace

std::vector<ExplainedParameters> explainParameters(const Executable& plan) {
  std::map<std::pair<std::string, std::string>, Group> groups;
  const DeviceId host = plan.machine().host();
  for (const auto& [name, holders] : holdersOf(plan.placed())) {
    Group& group =
        groups[{holders.type, layoutText(holders, host.index(), plan.machine().devices[host].name)}];
    const std::string folded = foldedName(name);
    if (!llvm::is_contained(group.names, folded)) {
      group.names.push_back(folded);
    }
    ++group.count;
    for (const auto& [device, bytes] : holders.bytes) {
      group.bytes[device] += bytes;
    }
  }
  std::vector<ExplainedParameters> rows;
  for (const auto& [key, group] : groups) {
    rows.push_back({namesText(group), group.count, key.first, key.second, mostOf(group.bytes)});
  }
  llvm::stable_sort(rows, [](const auto& a, const auto& b) { return a.bytesPerDevice > b.bytesPerDevice; });
  return rows;
}

} // namespace dfc
