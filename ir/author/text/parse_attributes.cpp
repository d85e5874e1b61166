// Attributes, name=value, by way of each op's `fields`: a new op needs nothing here.
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc::text {
namespace {

// The names of an op's attributes, in order.
class FieldLister : public AttributeVisitor {
 public:
  explicit FieldLister(std::vector<FieldInfo>& fields) : fields_(fields) {}
  void field(std::string_view name, bool&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, int64_t&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, double&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, std::string&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, Dims&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, ElementType&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, TensorType&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, Literal&, Presence presence) override { add(name, presence); }
  void field(std::string_view name, TextCoded&, Presence presence) override { add(name, presence); }
  void choice(std::string_view name, uint8_t&, llvm::ArrayRef<std::string_view>, Presence presence) override {
    add(name, presence);
  }

 private:
  void add(std::string_view name, Presence presence) { fields_.push_back({name, presence}); }
  std::vector<FieldInfo>& fields_;
};

std::vector<std::string> namesOf(llvm::ArrayRef<FieldInfo> fields) {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const FieldInfo& field : fields) {
    names.emplace_back(field.name);
  }
  return names;
}

std::string unknownAttributeHint(std::string_view word, std::string_view op,
                                 const std::vector<std::string>& legal) {
  if (legal.empty()) {
    return fmt::format("{} has no attributes", op);
  }
  const auto nearest = word.size() <= 64 ? nearestName(std::string(word), legal) : std::nullopt;
  const std::string list = fmt::format("{} has {}", op, fmt::join(legal, ", "));
  return nearest ? fmt::format("did you mean {}? {}", shown(*nearest), list) : list;
}

} // namespace

bool Parser::readTruth(bool& out) {
  const std::string_view word = tokens_.now().text;
  if (word != "true" && word != "false") {
    return tokens_.unexpected("true or false");
  }
  out = word == "true";
  tokens_.take();
  return true;
}

/// Reads the value of the one attribute that is called `wanted`, in the way of its type.
class AttributeReader : public AttributeVisitor {
 public:
  AttributeReader(Parser& parser, std::string_view wanted) : parser_(parser), wanted_(wanted) {}
  bool sound() const { return sound_; }

  void field(std::string_view name, bool& value, Presence) override {
    sound_ = name == wanted_ ? parser_.readTruth(value) : sound_;
  }
  void field(std::string_view name, int64_t& value, Presence) override {
    sound_ = name == wanted_ ? parser_.readInteger(value) : sound_;
  }
  void field(std::string_view name, double& value, Presence) override {
    sound_ = name == wanted_ ? parser_.readDouble(value) : sound_;
  }
  void field(std::string_view name, std::string& value, Presence) override {
    if (name == wanted_) {
      readText(value);
    }
  }
  void field(std::string_view name, Dims& value, Presence) override {
    if (name == wanted_) {
      value.clear();
      sound_ = parser_.readDims(value, /*isOfAxes=*/name != "sizes"); // of split: one for each result
    }
  }
  void field(std::string_view name, ElementType& value, Presence) override {
    sound_ = name == wanted_ ? parser_.readElementType(value) : sound_;
  }
  void field(std::string_view name, TensorType& value, Presence) override {
    sound_ = name == wanted_ ? parser_.readType(value) : sound_;
  }
  void field(std::string_view name, Literal& value, Presence) override {
    if (name == wanted_) {
      TensorType type;
      sound_ = parser_.readType(type) && parser_.readLiteral(type, value);
    }
  }
  void field(std::string_view name, TextCoded& value, Presence) override {
    if (name == wanted_) {
      readCoded(name, value);
    }
  }
  void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
              Presence) override {
    if (name == wanted_) {
      readChoice(name, value, names);
    }
  }

 private:
  // Strings in a row are one, as in C.
  void readText(std::string& value) {
    sound_ = parser_.readString(value);
    std::string next;
    for (parser_.tokens_.continueLineAt(TokenKind::String); sound_ && parser_.tokens_.at(TokenKind::String);
         parser_.tokens_.continueLineAt(TokenKind::String)) {
      sound_ = parser_.readString(next);
      value += next;
    }
  }

  void readCoded(std::string_view name, TextCoded& value) {
    const Token token = parser_.tokens_.now();
    std::string text;
    sound_ = parser_.readString(text);
    if (sound_ && !value.decode(text)) {
      parser_.complaints_.add(spanOf(token), fmt::format("this text is no {}", name),
                              "it is written by the compiler; copy it whole");
      sound_ = false;
    }
  }

  void readChoice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names) {
    const Token token = parser_.tokens_.now();
    const auto* found = std::find(names.begin(), names.end(), token.text);
    sound_ = token.kind == TokenKind::Name && found != names.end();
    if (sound_) {
      value = static_cast<uint8_t>(found - names.begin());
      parser_.tokens_.take();
    } else {
      parser_.tokens_.unexpected(fmt::format("a value for {}", name),
                                 fmt::format("it is one of {}", fmt::join(names.begin(), names.end(), ", ")));
    }
  }

  Parser& parser_;
  std::string_view wanted_;
  bool sound_ = true;
};

bool Parser::readAttribute(OpAttributes& attributes, uint64_t& given) {
  const OpKind kind = kindOf(attributes);
  const llvm::ArrayRef<FieldInfo> fields = fieldsOf(kind);
  const Token name = tokens_.now();
  const auto* found = std::find_if(fields.begin(), fields.end(),
                                   [&](const FieldInfo& field) { return field.name == name.text; });
  if (found == fields.end()) {
    return refuseAttribute(fmt::format("{} has no attribute {}", nameOf(kind), shown(name.text)),
                           unknownAttributeHint(name.text, nameOf(kind), namesOf(fields)), given);
  }
  const uint64_t bit = uint64_t(1) << (found - fields.begin());
  if ((given & bit) != 0) {
    return refuseAttribute(fmt::format("attribute {} is given twice", shown(name.text)), "keep one of them",
                           given);
  }
  given |= bit;
  tokens_.take();
  tokens_.take(); // the '='
  tokens_.skipNewlines();
  AttributeReader reader(*this, name.text);
  visitFields(attributes, reader);
  return reader.sound();
}

bool Parser::refuseAttribute(std::string problem, std::string hint, uint64_t& given) {
  complaints_.add(spanOf(tokens_.now()), std::move(problem), std::move(hint));
  given |= wrongAttribute;
  return skipAttribute();
}

// Passes over name=value, whatever the value looks like.
bool Parser::skipAttribute() {
  int open = 0;
  while (!tokens_.at(TokenKind::End) && !tokens_.at(TokenKind::Newline)) {
    const TokenKind kind = tokens_.now().kind;
    if (open == 0 && (kind == TokenKind::Comma || kind == TokenKind::CloseParen)) {
      break;
    }
    open += kind == TokenKind::OpenParen || kind == TokenKind::OpenList ? 1 : 0;
    open -= kind == TokenKind::CloseParen || kind == TokenKind::CloseList ? 1 : 0;
    tokens_.take();
  }
  return true;
}

bool Parser::checkRequired(const Token& name, OpKind kind, uint64_t given) {
  const llvm::ArrayRef<FieldInfo> fields = fieldsOf(kind);
  std::vector<std::string> missing;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].presence == Presence::Required && ((given >> i) & 1U) == 0) {
      missing.emplace_back(fields[i].name);
    }
  }
  if (missing.empty() || (given & wrongAttribute) != 0) {
    return (given & wrongAttribute) == 0;
  }
  std::string hint = fmt::format("write {}(…, {}=…)", nameOf(kind), fmt::join(missing, "=…, "));
  if (isCompilerMade(kind)) {
    hint = "dfc's passes make it: write the ops that it stands for, and they are fused where that pays";
  }
  complaints_.add(spanOf(name),
                  fmt::format("{} needs the attribute{} {}", nameOf(kind), missing.size() == 1 ? "" : "s",
                              fmt::join(missing, ", ")),
                  std::move(hint));
  return false;
}

llvm::ArrayRef<FieldInfo> Parser::fieldsOf(OpKind kind) {
  std::optional<std::vector<FieldInfo>>& fields = fields_[static_cast<size_t>(kind)];
  if (!fields) {
    fields.emplace();
    OpAttributes attributes = defaultAttributes(kind);
    FieldLister lister(*fields);
    visitFields(attributes, lister);
    DFC_ASSERT(fields->size() < 64, "more attributes than bits that say which are given");
  }
  return *fields;
}

} // namespace dfc::text
