// verifyGraph: the promises of ir/graph/graph.h, checked from the tables alone and trusting none of them.
#include "ir/graph/whole_state.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseSet.h>

#include <map>
#include <set>

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
    if (findings_.empty()) {
      checkParts(OpKind::Input);
      checkParts(OpKind::Parameter);
    }
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

  // Of a split graph: what is given under one name is cut into the parts without a rest. (Replicas lie where
  // their original does, and may have another element type.)
  void checkParts(OpKind kind) {
    struct Whole {
      OpId first;
      Shape shape;
      std::set<Dims> starts;
      int64_t elements = 0;
    };
    std::map<std::string_view, Whole> wholes;
    for (const OpId op : graph_.opsOf(kind)) {
      const TensorPart& place = placeOf(graph_, op);
      const Shape& own = graph_.typeOf(graph_[op].firstResult).shape;
      const auto [found, isNew] =
          wholes.try_emplace(authorNameOf(graph_, op), Whole{op, authorTypeOf(graph_, op).shape, {}, 0});
      Whole& whole = found->second;
      if (whole.shape != authorTypeOf(graph_, op).shape) {
        findings_.at(op,
                     fmt::format("{} '{}' is a part of '{}' of another shape than '{}' is", dfc::nameOf(kind),
                                 graph_.nameOf(op), found->first, graph_.nameOf(whole.first)),
                     "give all parts the same shape of the whole");
      }
      if (kind == OpKind::Input && place.contiguous(own) != own.elements()) {
        findings_.at(op,
                     fmt::format("input '{}' is no run of neighbouring elements of '{}'", graph_.nameOf(op),
                                 found->first),
                     "cut inputs along their first axis");
      }
      whole.elements += whole.starts.insert(place.starts).second ? own.elements() : 0;
    }
    for (const auto& [name, whole] : wholes) {
      if (whole.elements != whole.shape.elements()) {
        findings_.at(whole.first,
                     fmt::format("the parts of '{}' have {} of its {} elements", name, whole.elements,
                                 whole.shape.elements()),
                     "let the parts be the whole, none twice");
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
