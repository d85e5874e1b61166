// The table itself, and signatures. A signature is read back by the parser of graph files: as the one op of a
// graph whose inputs have its types, which must then have that very signature.
#include "ir/machine/calibration.h"

#include "ir/author/text/parse.h"
#include "ir/author/text/print_op.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace dfc {
namespace {

bool before(const CalibratedOp& a, const CalibratedOp& b) { return a.signature < b.signature; }

bool beforeCopy(const CalibratedCopy& a, const CalibratedCopy& b) {
  return std::tie(a.to, a.bytes) < std::tie(b.to, b.bytes);
}

/// Of copies to one model, the smallest first.
double secondsAmong(std::span<const CalibratedCopy> copies, int64_t bytes) {
  if (bytes <= copies[0].bytes) {
    return copies[0].seconds;
  }
  if (copies.size() == 1) {
    return copies[0].seconds * static_cast<double>(bytes) / static_cast<double>(copies[0].bytes);
  }
  size_t above = 1; // or the largest
  while (above + 1 < copies.size() && copies[above].bytes < bytes) {
    ++above;
  }
  const CalibratedCopy &low = copies[above - 1], &high = copies[above];
  const double slope = (high.seconds - low.seconds) / static_cast<double>(high.bytes - low.bytes);
  return low.seconds + std::max(slope, 0.0) * static_cast<double>(bytes - low.bytes);
}

/// The pieces of "kind(types) attributes".
struct Pieces {
  std::string_view kind, types, attributes;
};

std::optional<Pieces> piecesOf(std::string_view signature) {
  const size_t open = signature.find('(');
  const size_t close = signature.find(')'); // no type has one
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const std::string_view rest = signature.substr(close + 1);
  return Pieces{signature.substr(0, open), signature.substr(open + 1, close - open - 1),
                rest.substr(rest.starts_with(' ') ? 1 : 0)};
}

/// Splits off "f32[2, 3]"; the rest follows the comma behind it.
std::string_view takeType(std::string_view& types) {
  const size_t end = types.find(']');
  const std::string_view type = types.substr(0, end == std::string_view::npos ? end : end + 1);
  types.remove_prefix(type.size());
  types.remove_prefix(types.starts_with(", ") ? 2 : 0);
  return type;
}

/// A graph file that contains the op with so many results, if the pieces are well-formed.
std::string graphText(const Pieces& pieces, size_t results, size_t& operands) {
  std::string text = "graph signature {\n", call;
  std::string_view types = pieces.types;
  for (operands = 0; !types.empty(); ++operands) {
    const std::string_view type = takeType(types);
    if (type.empty()) {
      break;
    }
    text += fmt::format("  input x{} : {}\n", operands, type);
    call += fmt::format("{}x{}", operands == 0 ? "" : ", ", operands);
  }
  const std::string_view comma = pieces.attributes.empty() || operands == 0 ? "" : ", ";
  std::string names = "y";
  for (size_t i = 1; i < results; ++i) {
    names += fmt::format(", y{}", i);
  }
  return fmt::format("{}  {} = {}({}{}{})\n  fetch y\n}}\n", text, names, pieces.kind, call, comma,
                     pieces.attributes);
}

/// The signature says nothing of results: the op is read with as many as there may be. A split has one for
/// each of its sizes; other ops have few.
std::optional<Graph> lonelyGraph(const Pieces& pieces, size_t& operands) {
  const std::string_view sizes = pieces.attributes.substr(0, pieces.attributes.find(']'));
  const auto parts = static_cast<size_t>(std::count(sizes.begin(), sizes.end(), ',')) + 1;
  constexpr size_t few = 8;
  for (size_t results = 1; results <= std::max(few, parts); ++results) {
    if (results > few && results != parts) {
      continue;
    }
    if (auto graph = parseGraph(graphText(pieces, results, operands), "")) {
      return *std::move(graph);
    }
  }
  return std::nullopt;
}

} // namespace

const CalibratedOp* Calibration::find(std::string_view signature) const {
  const auto found =
      std::lower_bound(ops.begin(), ops.end(), signature,
                       [](const CalibratedOp& op, std::string_view wanted) { return op.signature < wanted; });
  return found != ops.end() && found->signature == signature ? &*found : nullptr;
}

void Calibration::keep(std::vector<CalibratedOp> measured) {
  for (const CalibratedOp& op : measured) {
    DFC_ASSERT(op.seconds > 0 && std::isfinite(op.seconds), "no time: " + op.signature);
  }
  // The latest first among equals, so that `unique` keeps it.
  std::vector<CalibratedOp> all(std::make_move_iterator(measured.rbegin()),
                                std::make_move_iterator(measured.rend()));
  all.insert(all.end(), std::make_move_iterator(ops.begin()), std::make_move_iterator(ops.end()));
  std::stable_sort(all.begin(), all.end(), before);
  const auto same = [](const CalibratedOp& a, const CalibratedOp& b) { return a.signature == b.signature; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  ops = std::move(all);
}

void Calibration::keepCopies(std::vector<CalibratedCopy> measured) {
  for (CalibratedCopy& copy : measured) {
    DFC_ASSERT(copy.bytes > 0 && copy.seconds > 0 && std::isfinite(copy.seconds), "no time of a copy");
    const auto place = std::lower_bound(copies.begin(), copies.end(), copy, beforeCopy);
    if (place != copies.end() && !beforeCopy(copy, *place)) {
      *place = std::move(copy);
    } else {
      copies.insert(place, std::move(copy));
    }
  }
}

std::optional<double> Calibration::copySeconds(std::string_view to, int64_t bytes) const {
  const auto first =
      std::find_if(copies.begin(), copies.end(), [&](const CalibratedCopy& copy) { return copy.to == to; });
  const auto last =
      std::find_if(first, copies.end(), [&](const CalibratedCopy& copy) { return copy.to != to; });
  return first == last ? std::nullopt
                       : std::optional(secondsAmong({&*first, static_cast<size_t>(last - first)}, bytes));
}

bool hasCopies(const std::vector<Calibration>& tables, std::string_view from, std::string_view to) {
  return std::any_of(tables.begin(), tables.end(), [&](const Calibration& table) {
    return table.device == from && table.copySeconds(to, 1).has_value();
  });
}

bool isTimed(OpKind kind) {
  switch (classOf(kind)) {
  case OpClass::Source:
  case OpClass::State:
  case OpClass::View:
  case OpClass::Transfer:
  case OpClass::Request: return false;
  case OpClass::Elementwise:
  case OpClass::Reduction:
  case OpClass::Contraction:
  case OpClass::Movement:
  case OpClass::Structured:
  case OpClass::Custom: return true;
  }
  DFC_UNREACHABLE("op class");
}

bool isMeasured(OpKind kind) { return isTimed(kind) && kind != OpKind::Custom; }

std::string signatureOf(const Graph& graph, OpId op) {
  const OpKind kind = graph[op].kind();
  DFC_ASSERT(isTimed(kind), fmt::format("{} takes no time of its own", nameOf(kind)));
  std::string text(nameOf(kind));
  text += '(';
  for (const ValueId operand : graph[op].operands) {
    text += (text.back() == '(' ? "" : ", ") + toString(graph.typeOf(operand));
  }
  text += ')';
  const std::string attributes = text::OpPrinter(graph).attributes(op);
  return attributes.empty() ? text : text + " " + attributes;
}

std::optional<LoneOp> opOfSignature(std::string_view signature) {
  const auto pieces = piecesOf(signature);
  const auto kind = pieces ? opKindNamed(pieces->kind) : std::nullopt;
  if (!kind || !isTimed(*kind)) {
    return std::nullopt;
  }
  size_t operands = 0;
  auto graph = lonelyGraph(*pieces, operands);
  if (!graph || graph->opCount() != operands + 1) {
    return std::nullopt;
  }
  const OpId op(static_cast<uint32_t>(operands));
  if (!isTimed((*graph)[op].kind()) || signatureOf(*graph, op) != signature) {
    return std::nullopt;
  }
  return LoneOp{*std::move(graph), op};
}

const Calibration* tableOf(const std::vector<Calibration>& tables, std::string_view device) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Calibration& table) { return table.device == device; });
  return found != tables.end() ? &*found : nullptr;
}

} // namespace dfc
