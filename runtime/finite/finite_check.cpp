#include "runtime/finite/finite_check.h"

#include "ir/draw/display_name.h"
#include "runtime/finite/first_not_finite.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

bool overlap(const Location& a, const Location& b) {
  return a.base == b.base && a.buffer == b.buffer && a.arena == b.arena && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

/// "'h'", and what it is where the name does not say it: "'y' (mul, log)".
std::string quotedName(const Graph& graph, OpId op) {
  const std::string name(graph.nameOf(op)), shown = displayName(graph, op), kind = displayKind(graph, op);
  const std::string what = shown == name ? kind : shown;
  return what == name ? fmt::format("'{}'", name) : fmt::format("'{}' ({})", name, what);
}

/// The input, parameter or constant that `value` is a copy or a reshape of; invalid if an op computes it.
ValueId sourceOf(const Graph& graph, ValueId value) {
  for (;;) {
    const OpId op = graph[value].producer;
    switch (graph[op].kind()) {
    case OpKind::Input:
    case OpKind::Parameter:
    case OpKind::Constant: return value;
    case OpKind::Transfer:
    case OpKind::Reshape:
    case OpKind::Subview:
    case OpKind::StopGradient:
    case OpKind::Cut: value = graph[op].operands[0]; break;
    default: return {};
    }
  }
}

/// "input 'x' is fed values that are not finite", "parameter 'w' holds …".
std::string sourceText(const Graph& graph, ValueId source) {
  const OpKind kind = graph[graph[source].producer].kind();
  return fmt::format("{} '{}' {} values that are not finite", nameOf(kind), graph.nameOf(source),
                     kind == OpKind::Input ? "is fed" : "holds");
}

/// Whether the graph asks for infinities in a result of the op.
bool mayBeInfinite(const Graph& graph, OpId op, size_t result) {
  const OpRow& row = graph[op];
  if (row.kind() == OpKind::Attention && result == 1) {
    return true;
  }
  return std::any_of(row.operands.begin(), row.operands.end(), [&](ValueId operand) {
    const ValueId source = sourceOf(graph, operand);
    const auto* constant = source.valid() ? graph[graph[source].producer].getIf<ops::Constant>() : nullptr;
    return constant != nullptr && rangeOf(constant->value.type(), constant->value.bytes()).infinities > 0;
  });
}

Literal literalOf(const TensorType& type, std::span<const std::byte> bytes) {
  Literal literal(type);
  std::copy(bytes.begin(), bytes.end(), literal.mutableBytes().begin());
  return literal;
}

} // namespace

FiniteCheck::FiniteCheck(const Executable& plan, llvm::ArrayRef<Command> commands) : plan_(plan) {
  rows_.reserve(commands.size());
  for (const Command& command : commands) {
    Row& row = rows_.emplace_back();
    if (command.kind == Command::Kind::Compute) {
      row = {command.op, command.operands, command.results, {}, {}};
      row.overwritten.resize(row.operands.size());
      row.kept.resize(row.operands.size());
    }
  }
}

std::span<const std::byte> FiniteCheck::bytesOf(const Location& location, const Step& step) {
  const auto size = static_cast<size_t>(location.bytes);
  switch (location.base) {
  case Location::Base::Feed: return {step.feeds[location.buffer] + location.offset, size};
  case Location::Base::Fetch: return {step.fetches[location.buffer] + location.offset, size};
  case Location::Base::Arena: break;
  }
  if (const std::byte* base = location.arena->hostAddress(); base != nullptr) {
    return {base + location.offset, size};
  }
  bytes_.resize(std::max(bytes_.size(), size));
  location.arena->read(location.offset, {bytes_.data(), size});
  return {bytes_.data(), size};
}

void FiniteCheck::before(size_t command, const Step& step) {
  Row& row = rows_[command];
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const bool isOverwritten =
        std::any_of(row.results.begin(), row.results.end(),
                    [&](const Location& result) { return overlap(result, row.operands[i]); });
    if (isOverwritten) {
      const TensorType& type = plan_.graph().typeOf(plan_.graph()[row.op].operands[i]);
      const std::span<const std::byte> bytes = bytesOf(row.operands[i], step);
      row.overwritten[i] = rangeOf(type, bytes);
      if (isFused(plan_.graph()[row.op].attributes)) {
        row.kept[i] = literalOf(type, bytes);
      }
    }
  }
}

void FiniteCheck::after(size_t command, const Step& step) {
  const Row& row = rows_[command];
  for (size_t i = 0; i < row.results.size(); ++i) {
    const ValueId result(plan_.graph()[row.op].firstResult.index() + static_cast<uint32_t>(i));
    const TensorType& type = plan_.graph().typeOf(result);
    const std::span<const std::byte> bytes = bytesOf(row.results[i], step);
    if (isFinite(type, bytes)) {
      continue;
    }
    const ElementRange range = rangeOf(type, bytes);
    if (range.nans > 0 || !mayBeInfinite(plan_.graph(), row.op, i)) {
      refuse(row, result, range, step);
    }
  }
}

std::string FiniteCheck::operandText(const Row& row, size_t operand, const Step& step) {
  const Graph& graph = plan_.graph();
  const ValueId value = graph[row.op].operands[operand];
  const TensorType& type = graph.typeOf(value);
  return fmt::format("'{}' {} {}", graph.nameOf(value), toString(type),
                     textOf(operandRange(row, operand, step)));
}

ElementRange FiniteCheck::operandRange(const Row& row, size_t operand, const Step& step) {
  const Graph& graph = plan_.graph();
  const TensorType& type = graph.typeOf(graph[row.op].operands[operand]);
  return row.overwritten[operand] ? *row.overwritten[operand]
                                  : rangeOf(type, bytesOf(row.operands[operand], step));
}

std::string FiniteCheck::operandsText(const Row& row, const Step& step) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    operands.push_back(operandText(row, i, step));
  }
  return operands.empty() ? "it has no operands" : fmt::format("its operands: {}", fmt::join(operands, "; "));
}

// Of a fused op: which of its parts is the first to give such a value; else empty.
std::string FiniteCheck::partText(const Row& row, bool infinitiesPass, const Step& step) {
  const Graph& graph = plan_.graph();
  const OpAttributes& attributes = graph[row.op].attributes;
  if (!isFused(attributes)) {
    return "";
  }
  std::vector<NamedLiteral> operands;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const ValueId value = graph[row.op].operands[i];
    operands.push_back(
        {fmt::format("'{}'", graph.nameOf(value)),
         row.overwritten[i] ? row.kept[i] : literalOf(graph.typeOf(value), bytesOf(row.operands[i], step))});
  }
  const std::optional<FusedPart> part = firstNotFinite(attributes, std::move(operands), infinitiesPass);
  return fmt::format(
      "of the ops fused into it, {}; compiled with {}(CompileOptions::skipPasses), each has its "
      "line; ",
      part ? "the first is " + textOf(*part) : "the reduction at its end is the first",
      graph[row.op].kind() == OpKind::Fused ? "--skip-pass fuse_elementwise "
                                            : "--skip-pass fuse_matmul --skip-pass fuse_elementwise ");
}

// Data at fault: reports the feed, restored parameter or constant that is not finite, in place of its reader.
void FiniteCheck::refuseSource(const Row& row, const ElementRange& result, const Step& step) {
  const Graph& graph = plan_.graph();
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const ValueId source = sourceOf(graph, graph[row.op].operands[i]);
    if (!source.valid()) {
      continue;
    }
    if (const ElementRange range = operandRange(row, i, step); !range.finite()) {
      throw NotFiniteError(
          {{Severity::Error, graph.locationOf(graph[source].producer),
            fmt::format("{} in step {}, counted from 1: {}", sourceText(graph, source), step.number + 1,
                        textOf(range)),
            fmt::format("op {} reads them and gives a value {}; {}", quotedName(graph, row.op),
                        textOf(result), operandsText(row, step))}});
    }
  }
}

void FiniteCheck::refuse(const Row& row, ValueId result, const ElementRange& range, const Step& step) {
  refuseSource(row, range, step);
  const Graph& graph = plan_.graph();
  const bool several = graph[row.op].resultCount > 1;
  Diagnostic error{Severity::Error, graph.locationOf(row.op),
                   fmt::format("op {} gives a value that is not finite in step {}, counted from 1: {}{}",
                               quotedName(graph, row.op), step.number + 1,
                               several ? fmt::format("'{}' ", graph.nameOf(result)) : "", textOf(range)),
                   partText(row, mayBeInfinite(graph, row.op, 0), step) + operandsText(row, step)};
  throw NotFiniteError({inScope(std::move(error), graph.scopeOf(row.op))});
}

} // namespace dfc
