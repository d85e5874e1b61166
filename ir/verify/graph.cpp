// verifyGraph: the promises of ir/graph/graph.h, checked from the tables alone and trusting none of them.
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>

namespace dfc {
namespace {

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : graph_(graph), findings_(graph) {}

  Diagnostics run() {
    checkTables();
    if (!findings_.empty()) {
      return findings_.take(); // names and types cannot be asked for
    }
    for (const OpId op : graph_.ops()) {
      checkTypes(op);
      checkAssign(op);
    }
    checkNames();
    checkFetches();
    return findings_.take();
  }

 private:
  /// Results follow one another without gaps, and operands come before them.
  void checkTables() {
    uint32_t next = 0;
    for (const OpId op : graph_.ops()) {
      const OpRow& row = graph_[op];
      if (row.resultCount == 0 || row.firstResult.index() != next ||
          row.resultCount > graph_.valueCount() - next) {
        findings_.add(fmt::format("op {} ({}) does not own the values that follow the op before it",
                                  op.index(), dfc::nameOf(row.kind())));
        return;
      }
      checkOwnership(op, row);
      next += row.resultCount;
    }
    if (next != graph_.valueCount()) {
      findings_.add(fmt::format("{} values belong to no op", graph_.valueCount() - next));
    }
  }

  void checkOwnership(OpId op, const OpRow& row) {
    for (const ValueId result : row.results()) {
      if (graph_[result].producer != op) {
        findings_.add(
            fmt::format("value {} names another op than {} as its producer", result.index(), op.index()));
      }
    }
    for (const ValueId operand : row.operands) {
      if (!operand.valid() || operand >= row.firstResult) {
        findings_.add(fmt::format("op {} ({}) reads a value that does not exist before it", op.index(),
                                  dfc::nameOf(row.kind())));
      }
    }
  }

  void checkTypes(OpId op) {
    const TypeResult rule = resultTypes(graph_[op].attributes, graph_.operandTypesOf(op));
    if (!rule.ok()) {
      findings_.at(op, fmt::format("op '{}': {}", graph_.nameOf(op), rule.error), rule.hint);
      return;
    }
    const auto types = graph_.resultTypesOf(op);
    if (llvm::ArrayRef<TensorType>(types) != llvm::ArrayRef<TensorType>(rule.types)) {
      findings_.at(op, fmt::format("op '{}' is typed {}, but its rule gives {}", graph_.nameOf(op),
                                   listOf(types), listOf(rule.types)));
    }
  }

  static std::string listOf(llvm::ArrayRef<TensorType> types) {
    std::string list;
    for (const TensorType& type : types) {
      list += (list.empty() ? "" : ", ") + toString(type);
    }
    return list;
  }

  void checkAssign(OpId op) {
    const OpRow& row = graph_[op];
    if (row.kind() != OpKind::Assign) {
      return;
    }
    const ValueId target = row.operands[0];
    if (graph_[graph_[target].producer].kind() != OpKind::Parameter) {
      findings_.at(op,
                   fmt::format("op '{}' assigns to '{}', which is no parameter", graph_.nameOf(op),
                               graph_.nameOf(target)),
                   "assign takes the parameter first, then its next value");
    } else if (!assigned_.insert(target).second) {
      findings_.at(op,
                   fmt::format("op '{}' assigns to parameter '{}' a second time", graph_.nameOf(op),
                               graph_.nameOf(target)),
                   "a step gives a parameter one next value");
    }
  }

  void checkNames() {
    llvm::DenseSet<StringId> seen;
    for (const ValueId value : graph_.values()) {
      const OpId producer = graph_[value].producer;
      if (graph_.nameOf(value).empty()) {
        findings_.at(producer, fmt::format("value {} has no name", value.index()));
      } else if (!seen.insert(graph_[value].name).second) {
        findings_.at(producer, fmt::format("two values are named '{}'", graph_.nameOf(value)));
      }
    }
  }

  void checkFetches() {
    llvm::DenseSet<StringId> seen;
    for (const Fetch& fetch : graph_.fetches()) {
      const std::string_view name = graph_.text(fetch.name);
      if (name.empty()) {
        findings_.add("a fetch has no name", "name what you fetch");
      } else if (!seen.insert(fetch.name).second) {
        findings_.add(fmt::format("two fetches are named '{}'", name), "give each fetch its own name");
      }
      if (!fetch.value.valid() || fetch.value.index() >= graph_.valueCount()) {
        findings_.add(fmt::format("fetch '{}' names a value that does not exist", name));
      }
    }
  }

  const Graph& graph_;
  Findings findings_;
  llvm::DenseSet<ValueId> assigned_;
};

} // namespace

Diagnostics verifyGraph(const Graph& graph) { return GraphVerifier(graph).run(); }

} // namespace dfc
