#include "compiler/operands/transposed_operands.h"

#include "ir/graph/rules/precision.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>

#include <algorithm>
#include <numeric>

namespace dfc {
namespace {

/// A product is left alone where its seconds with a copy are more than this part of those without: rates are
/// estimates.
constexpr double worthCopying = 0.9;

/// A value on a device.
using Key = std::pair<ValueId, DeviceId>;

bool isMatmul(OpKind kind) { return kind == OpKind::Matmul || kind == OpKind::FusedMatmul; }

double secondsAt(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

/// Reads operand 0 or 1 as the other way round.
OpAttributes withOperandTransposed(const OpRow& row, size_t operand) {
  const auto flip = [operand](auto product) {
    bool& flag = operand == 0 ? product.transposeA : product.transposeB;
    flag = !flag;
    return OpAttributes(std::move(product));
  };
  return row.kind() == OpKind::Matmul ? flip(row.as<ops::Matmul>()) : flip(row.as<ops::FusedMatmul>());
}

/// Which products read an operand from a copy.
class CopyChoice {
 public:
  CopyChoice(const Placement& placement, const Machine& machine)
      : placement_(placement), graph_(placement.graph), machine_(machine), copied_(graph_.opCount()) {
    for (const OpId op : graph_.ops()) {
      if (isStrided(op)) {
        strided_.push_back(op);
        ++readers_[key(op, 0)];
        ++readers_[key(op, 1)];
      }
    }
    for (const OpId op : strided_) {
      choose(op);
    }
  }

  bool hasCopies() const { return !copies_.empty(); }
  /// The operand of `op` that is read from a copy.
  std::optional<size_t> copiedOperand(OpId op) const { return copied_[op]; }

 private:
  Key key(OpId op, size_t operand) const { return {graph_[op].operands[operand], placement_.device[op]}; }
  const DeviceRow& deviceOf(OpId op) const { return machine_.devices[placement_.device[op]]; }

  bool isStrided(OpId op) const {
    const DeviceRow& device = deviceOf(op);
    return isMatmul(graph_[op].kind()) &&
           (device.stridedFlops != ByElementType{} || device.tf32StridedFlops > 0) &&
           costOf(op).product.strided;
  }

  OpCost costOf(OpId op) const {
    return dfc::costOf(graph_[op].attributes, graph_.operandTypesOf(op), graph_.resultTypesOf(op));
  }

  double workSeconds(OpId op, bool strided) const {
    OpCost cost = costOf(op);
    cost.product.strided = strided;
    const OpRow& row = graph_[op];
    const double rate = deviceOf(op).matmulRate(graph_.typeOf(row.operands[0]).element,
                                                precisionOf(row.attributes) == Precision::Tf32, cost.product);
    return std::max(secondsAt(cost.flops, rate), secondsAt(cost.bytes, deviceOf(op).memoryBandwidth));
  }

  /// Its part of a copy that all its readers share; nothing where another product has made it.
  double copySeconds(OpId op, size_t operand) const {
    if (copies_.count(key(op, operand)) > 0) {
      return 0;
    }
    const auto bytes = static_cast<double>(graph_.typeOf(graph_[op].operands[operand]).bytes());
    const double seconds = deviceOf(op).launchSeconds + secondsAt(2 * bytes, deviceOf(op).memoryBandwidth);
    return seconds / readers_.lookup(key(op, operand));
  }

  void choose(OpId op) {
    const size_t operand = copySeconds(op, 1) < copySeconds(op, 0) ? 1 : 0;
    if (workSeconds(op, false) + copySeconds(op, operand) < worthCopying * workSeconds(op, true)) {
      copied_[op] = operand;
      copies_.insert(key(op, operand));
    }
  }

  const Placement& placement_;
  const Graph& graph_;
  const Machine& machine_;
  std::vector<OpId> strided_;
  llvm::DenseMap<Key, int> readers_; // of strided products
  llvm::DenseSet<Key> copies_;
  SideTable<OpId, std::optional<size_t>> copied_;
};

/// Makes the graph with the copies, each in front of the first product that reads it.
class Copier {
 public:
  Copier(const Placement& placement, const CopyChoice& choice)
      : placement_(placement), graph_(placement.graph), choice_(choice), builder_(graph_),
        made_(graph_.valueCount()) {}

  Placement run() && {
    for (const OpId op : graph_.ops()) {
      append(op);
    }
    for (const Fetch& fetch : graph_.fetches()) {
      builder_.fetch(graph_.text(fetch.name), made_[fetch.value]);
    }
    auto graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "transposed operands broke the graph: " + render(graph.errors()));
    Placement placement{*std::move(graph), SideTable<OpId, DeviceId>(devices_.size()), placement_.policy};
    for (const OpId op : placement.device.ids()) {
      placement.device[op] = devices_[op.index()];
    }
    placement.recomputed = flagsOf(placement_.recomputed);
    placement.streamed = flagsOf(placement_.streamed);
    return placement;
  }

 private:
  void append(OpId op) {
    const OpRow& row = graph_[op];
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(made_[operand]);
    }
    const auto copied = choice_.copiedOperand(op);
    if (copied) {
      operands[*copied] = copyOf(row.operands[*copied], op);
    }
    const OpId made = builder_.appendInterned(copied ? withOperandTransposed(row, *copied) : row.attributes,
                                              operands, graph_.provenanceOf(op));
    DFC_ASSERT(made.valid(), "a product of a copy is ill-typed: " + render(builder_.errors()));
    note(op, op);
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      const ValueId old(row.firstResult.index() + i);
      made_[old] = builder_.result(made, i);
      if (i > 0) {
        builder_.rename(made_[old], graph_[old].name);
      }
    }
  }

  ValueId copyOf(ValueId operand, OpId reader) {
    ValueId& copy = copies_[{operand, placement_.device[reader]}];
    if (!copy.valid()) {
      ops::Transpose transpose;
      transpose.permutation.resize(graph_.typeOf(operand).shape.rank());
      std::iota(transpose.permutation.begin(), transpose.permutation.end(), 0);
      std::swap(transpose.permutation.end()[-1], transpose.permutation.end()[-2]);
      InternedProvenance provenance = graph_.provenanceOf(reader);
      provenance.name = builder_.intern(fmt::format("{}.transposed", graph_.nameOf(operand)));
      copy = builder_.result(builder_.appendInterned(transpose, {made_[operand]}, provenance));
      note(OpId(), reader);
    }
    return copy;
  }

  /// `from`: the old op, invalid for a copy.
  void note(OpId from, OpId placed) {
    from_.push_back(from);
    devices_.push_back(placement_.device[placed]);
  }

  SideTable<OpId, bool> flagsOf(const SideTable<OpId, bool>& old) const {
    SideTable<OpId, bool> flags(old.empty() ? 0 : from_.size(), false);
    for (const OpId op : flags.ids()) {
      flags[op] = from_[op.index()].valid() && old[from_[op.index()]];
    }
    return flags;
  }

  const Placement& placement_;
  const Graph& graph_;
  const CopyChoice& choice_;
  GraphBuilder builder_;
  SideTable<ValueId, ValueId> made_;
  llvm::DenseMap<Key, ValueId> copies_;
  std::vector<OpId> from_; // of the new ops
  std::vector<DeviceId> devices_;
};

} // namespace

std::optional<Placement> withTransposedOperands(const Placement& placement, const Machine& machine) {
  const CopyChoice choice(placement, machine);
  return choice.hasCopies() ? std::optional(Copier(placement, choice).run()) : std::nullopt;
}

} // namespace dfc
