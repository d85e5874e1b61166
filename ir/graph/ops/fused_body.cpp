// The text form of a fused body, both ways, exactly: "add:f32 %0 %1; compare.lt:bool %2 %0". Variants go by
// name, "gelu.tanh:f32 %0", those that do not exist by number; the first of gelu may be left out. Spaces may
// be many.
#include "ir/graph/fused_instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace dfc::ops {
namespace {

// A compare says what it compares; of other ops the first variant is the ordinary one.
bool isOptional(OpKind kind) { return kind != OpKind::Compare; }

std::string variantText(const FusedInstruction& instruction) {
  const auto names = variantNames(instruction.kind);
  if (instruction.variant == 0 && isOptional(instruction.kind)) {
    return "";
  }
  return instruction.variant < names.size() ? fmt::format(".{}", names[instruction.variant])
                                            : fmt::format(".{}", instruction.variant);
}

template <class Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<uint8_t> parseVariant(OpKind kind, std::string_view text) {
  const auto names = variantNames(kind);
  const auto* found = std::find(names.begin(), names.end(), text);
  return found != names.end() ? static_cast<uint8_t>(found - names.begin()) : parseNumber<uint8_t>(text);
}

// The part before `separator`, which goes with it; all of `text` when there is none.
std::string_view takeUntil(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

void skipSpaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

// "compare.lt:bool"
bool parseHead(std::string_view head, FusedInstruction& instruction) {
  std::string_view op = takeUntil(head, ':');
  const std::string_view kindName = takeUntil(op, '.');
  const std::optional<OpKind> kind = opKindNamed(kindName);
  const std::optional<ElementType> type = elementTypeNamed(head);
  if (!kind || !type) {
    return false;
  }
  const std::optional<uint8_t> variant = op.empty() ? uint8_t(0) : parseVariant(*kind, op);
  instruction.kind = *kind;
  instruction.type = *type;
  instruction.variant = variant.value_or(0);
  return variant.has_value() && (isOptional(*kind) || !op.empty());
}

std::optional<FusedInstruction> parseInstruction(std::string_view text) {
  FusedInstruction instruction;
  skipSpaces(text);
  if (!parseHead(takeUntil(text, ' '), instruction)) {
    return std::nullopt;
  }
  for (skipSpaces(text); !text.empty(); skipSpaces(text)) {
    const std::string_view word = takeUntil(text, ' ');
    const std::optional<uint32_t> input =
        word.front() == '%' ? parseNumber<uint32_t>(word.substr(1)) : std::nullopt;
    if (!input) {
      return std::nullopt;
    }
    instruction.inputs.push_back(*input);
  }
  return instruction;
}

} // namespace

std::string FusedBody::encode() const {
  std::string text;
  for (const FusedInstruction& instruction : instructions) {
    text += fmt::format("{}{}{}:{}", text.empty() ? "" : "; ", nameOf(instruction.kind),
                        variantText(instruction), name(instruction.type));
    for (const uint32_t input : instruction.inputs) {
      text += fmt::format(" %{}", input);
    }
  }
  return text;
}

bool FusedBody::decode(std::string_view text) {
  llvm::SmallVector<FusedInstruction, 1> decoded;
  while (!text.empty()) {
    std::optional<FusedInstruction> instruction = parseInstruction(takeUntil(text, ';'));
    if (!instruction) {
      return false;
    }
    decoded.push_back(std::move(*instruction));
  }
  instructions = std::move(decoded);
  return true;
}

} // namespace dfc::ops
