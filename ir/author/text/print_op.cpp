// See print_op.h.
#include "ir/author/text/print_op.h"

#include "ir/author/text/initialisers.h"
#include "ir/author/text/number.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace dfc::text {
namespace {

void appendDims(std::string& out, llvm::ArrayRef<int64_t> dims) {
  out += '[';
  for (size_t i = 0; i < dims.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ", dims[i]);
  }
  out += ']';
}

void appendType(std::string& out, const TensorType& type) {
  out += name(type.element);
  appendDims(out, dimRange(type.shape));
}

bool allEqual(std::span<const std::byte> bytes, size_t width) {
  return bytes.size() > width && std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

// Appends the part of the literal below `axis` that starts at `at`, and moves `at` behind it.
void appendLists(std::string& out, const TensorType& type, size_t axis, const std::byte*& at) {
  if (axis == type.shape.rank()) {
    appendElement(out, type.element, at);
    at += byteWidth(type.element);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < type.shape[axis]; ++i) {
    out += i == 0 ? "" : ", ";
    appendLists(out, type, axis + 1, at);
  }
  out += ']';
}

// Each attribute as "name=value", and whether it must be shown.
class FieldPrinter : public AttributeVisitor {
 public:
  std::vector<std::string> texts;
  std::vector<Presence> presences;

  void field(std::string_view name, bool& value, Presence presence) override {
    begin(name, presence) += value ? "true" : "false";
  }
  void field(std::string_view name, int64_t& value, Presence presence) override {
    begin(name, presence) += fmt::format_int(value).c_str();
  }
  void field(std::string_view name, double& value, Presence presence) override {
    appendDouble(begin(name, presence), value);
  }
  void field(std::string_view name, std::string& value, Presence presence) override {
    appendQuoted(begin(name, presence), value);
  }
  void field(std::string_view name, Dims& value, Presence presence) override {
    appendDims(begin(name, presence), value);
  }
  void field(std::string_view name, ElementType& value, Presence presence) override {
    begin(name, presence) += dfc::name(value);
  }
  void field(std::string_view name, TensorType& value, Presence presence) override {
    appendType(begin(name, presence), value);
  }
  void field(std::string_view name, Literal& value, Presence presence) override {
    std::string& out = begin(name, presence);
    appendType(out, value.type());
    out += ' ';
    appendLiteral(out, value);
  }
  void field(std::string_view name, TextCoded& value, Presence presence) override {
    appendQuoted(begin(name, presence), value.encode());
  }
  void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
              Presence presence) override {
    DFC_ASSERT(value < names.size(), "an enumeration outside its names");
    begin(name, presence) += names[value];
  }

 private:
  std::string& begin(std::string_view name, Presence presence) {
    presences.push_back(presence);
    texts.emplace_back(name) += '=';
    return texts.back();
  }
};

struct Comma {
  std::string& out;
  bool first = true;
  std::string& next() {
    out += first ? "" : ", ";
    first = false;
    return out;
  }
};

bool sameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

// What the form has no position for stands by name, so that any parameter reads back the same.
void appendInitialiser(std::string& out, const ops::Parameter& parameter) {
  const InitialiserForm& form = formOf(parameter.initialiser);
  out += form.name;
  out += '(';
  Comma comma{out};
  if (form.takesFile) {
    appendQuoted(comma.next(), parameter.file);
  }
  if (form.numbers > 0) {
    appendDouble(comma.next(), parameter.a);
  } else if (!sameBits(parameter.a, 0)) {
    appendDouble(comma.next() += "a=", parameter.a);
  }
  if (form.numbers > 1) {
    appendDouble(comma.next(), parameter.b);
  } else if (!sameBits(parameter.b, 0)) {
    appendDouble(comma.next() += "b=", parameter.b);
  }
  if (parameter.seed != 0) {
    comma.next() += fmt::format("seed={}", parameter.seed);
  }
  if (!form.takesFile && !parameter.file.empty()) {
    appendQuoted(comma.next() += "file=", parameter.file);
  }
  if (parameter.ofPlan) {
    comma.next() += "ofPlan=true";
  }
  if (parameter.part.isPart()) {
    appendDims(comma.next() += "starts=", parameter.part.starts);
    appendDims(comma.next() += "whole=", parameter.part.whole);
  }
  if (!parameter.of.empty()) {
    appendQuoted(comma.next() += "of=", parameter.of);
  }
  out += ')';
}

// Of a split graph: the part of what the caller feeds.
void appendPlace(std::string& out, const ops::Input& input) {
  Comma comma{out};
  out += " = part(";
  appendQuoted(comma.next() += "of=", input.of);
  if (input.part.isPart()) {
    appendDims(comma.next() += "starts=", input.part.starts);
    appendDims(comma.next() += "whole=", input.part.whole);
  }
  out += ')';
}

} // namespace

void appendLiteral(std::string& out, const Literal& literal) {
  const TensorType& type = literal.type();
  const std::byte* at = literal.bytes().data();
  if (type.shape.elements() == 0) {
    out += "[]";
  } else if (allEqual(literal.bytes(), static_cast<size_t>(byteWidth(type.element)))) {
    out += "fill(";
    appendElement(out, type.element, at);
    out += ')';
  } else {
    appendLists(out, type, 0, at);
  }
}

void OpPrinter::append(std::string& out, OpId op) {
  const OpRow& row = graph_[op];
  if (classOf(row.kind()) == OpClass::Source) {
    out += nameOf(row.kind());
    out += ' ';
  }
  appendResults(out, row);
  const auto* input = row.getIf<ops::Input>();
  if (input == nullptr) {
    out += " = ";
    appendCall(out, op);
  } else if (!input->of.empty() || input->part.isPart()) {
    appendPlace(out, *input);
  }
}

void OpPrinter::appendResults(std::string& out, const OpRow& row) {
  Comma comma{out};
  for (const ValueId value : row.results()) {
    appendName(comma.next(), graph_.nameOf(value));
    out += " : ";
    appendType(out, graph_.typeOf(value));
  }
}

void OpPrinter::appendCall(std::string& out, OpId op) {
  const OpRow& row = graph_[op];
  if (const auto* parameter = row.getIf<ops::Parameter>()) {
    return appendInitialiser(out, *parameter);
  }
  if (const auto* constant = row.getIf<ops::Constant>()) {
    return appendLiteral(out, constant->value);
  }
  out += nameOf(row.kind());
  out += '(';
  Comma comma{out};
  for (const ValueId operand : row.operands) {
    appendName(comma.next(), graph_.nameOf(operand));
  }
  if (const std::string shown = attributes(op); !shown.empty()) {
    comma.next() += shown;
  }
  out += ')';
}

std::string OpPrinter::attributes(OpId op) {
  const OpRow& row = graph_[op];
  FieldPrinter fields;
  visitFields(row.attributes, fields);
  const llvm::ArrayRef<std::string> defaults = defaultsOf(row.kind());
  std::string out;
  Comma comma{out};
  for (size_t i = 0; i < fields.texts.size(); ++i) {
    if (fields.presences[i] == Presence::Required || fields.texts[i] != defaults[i]) {
      comma.next() += fields.texts[i];
    }
  }
  return out;
}

llvm::ArrayRef<std::string> OpPrinter::defaultsOf(OpKind kind) {
  auto& defaults = defaults_[static_cast<size_t>(kind)];
  if (!defaults) {
    FieldPrinter printer;
    visitFields(defaultAttributes(kind), printer);
    defaults = std::move(printer.texts);
  }
  return *defaults;
}

} // namespace dfc::text
