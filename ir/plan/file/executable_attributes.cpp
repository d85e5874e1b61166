// Two visitors of attributes: one writes them, the other reads and checks each of them.
#include "ir/plan/file/executable_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace dfc {
namespace {

using Kind = file::AttributeKind;

class Writer : public AttributeVisitor {
 public:
  Writer(flatbuffers::FlatBufferBuilder& builder, FileStrings& strings, std::vector<std::byte>& constants)
      : builder_(builder), strings_(strings), constants_(constants) {}

  void field(std::string_view name, bool& value, Presence) override {
    add(name, Kind::Bool, {value ? 1 : 0});
  }
  void field(std::string_view name, int64_t& value, Presence) override { add(name, Kind::Int, {value}); }
  void field(std::string_view name, double& value, Presence) override {
    add(name, Kind::Real, {}, std::bit_cast<uint64_t>(value));
  }
  void field(std::string_view name, std::string& value, Presence) override {
    add(name, Kind::Text, {}, 0, value);
  }
  void field(std::string_view name, Dims& value, Presence) override { add(name, Kind::Dims, value); }
  void field(std::string_view name, ElementType& value, Presence) override {
    add(name, Kind::Element, {}, 0, dfc::name(value));
  }
  void field(std::string_view name, TensorType& value, Presence) override {
    add(name, Kind::Type, dimRange(value.shape), 0, dfc::name(value.element));
  }
  void field(std::string_view name, Literal& value, Presence) override {
    add(name, Kind::Literal, dimRange(value.type().shape), 0, dfc::name(value.type().element));
    const auto bytes = value.bytes();
    constants_.insert(constants_.end(), bytes.begin(), bytes.end());
  }
  void field(std::string_view name, TextCoded& value, Presence) override {
    add(name, Kind::Coded, {}, 0, value.encode());
  }
  void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
              Presence) override {
    add(name, Kind::Choice, {}, 0, names[value]);
  }

  std::vector<flatbuffers::Offset<file::Attribute>> written;

 private:
  void add(std::string_view name, Kind kind, llvm::ArrayRef<int64_t> ints, uint64_t bits = 0,
           std::string_view text = {}) {
    const auto stored = ints.empty() ? 0 : builder_.CreateVector(ints.data(), ints.size());
    written.push_back(
        file::CreateAttribute(builder_, strings_.indexOf(name), kind, stored, bits, strings_.indexOf(text)));
  }

  flatbuffers::FlatBufferBuilder& builder_;
  FileStrings& strings_;
  std::vector<std::byte>& constants_;
};

class Reader : public AttributeVisitor {
 public:
  Reader(const FileAttributes* from, const FileTexts& strings, std::span<const std::byte>& constants)
      : from_(from), strings_(strings), constants_(constants), used_(from == nullptr ? 0 : from->size()) {}

  void field(std::string_view name, bool& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Bool, presence)) {
      expect(count(found) == 1 && (found->ints()->Get(0) == 0 || found->ints()->Get(0) == 1), name);
      value = error.empty() && found->ints()->Get(0) == 1;
    }
  }
  void field(std::string_view name, int64_t& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Int, presence);
        found != nullptr && expect(count(found) == 1, name)) {
      value = found->ints()->Get(0);
    }
  }
  void field(std::string_view name, double& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Real, presence)) {
      value = std::bit_cast<double>(found->bits());
    }
  }
  void field(std::string_view name, std::string& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Text, presence)) {
      value = text(found, name);
    }
  }
  void field(std::string_view name, Dims& value, Presence presence) override {
    const auto* found = find(name, Kind::Dims, presence);
    if (found != nullptr && expect(count(found) <= Shape::maxRank, name)) {
      value.clear();
      for (uint32_t i = 0; i < count(found); ++i) {
        value.push_back(found->ints()->Get(i));
      }
    }
  }
  void field(std::string_view name, ElementType& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Element, presence)) {
      const auto element = elementTypeNamed(text(found, name));
      value = expect(element.has_value(), name) ? *element : value;
    }
  }
  void field(std::string_view name, TensorType& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Type, presence)) {
      const auto type = typeFrom(textAt(strings_, found->text()), found->ints());
      value = expect(type.has_value(), name) ? *type : value;
    }
  }
  void field(std::string_view name, Literal& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Literal, presence)) {
      const auto type = typeFrom(textAt(strings_, found->text()), found->ints());
      if (expect(type && static_cast<uint64_t>(type->bytes()) <= constants_.size(), name)) {
        value = takeLiteral(*type, name);
      }
    }
  }
  void field(std::string_view name, TextCoded& value, Presence presence) override {
    if (const auto* found = find(name, Kind::Coded, presence)) {
      expect(value.decode(text(found, name)), name);
    }
  }
  void choice(std::string_view name, uint8_t& value, llvm::ArrayRef<std::string_view> names,
              Presence presence) override {
    if (const auto* found = find(name, Kind::Choice, presence)) {
      const auto* chosen = std::find(names.begin(), names.end(), text(found, name));
      value = expect(chosen != names.end(), name) ? static_cast<uint8_t>(chosen - names.begin()) : value;
    }
  }

  void refuseUnknown() {
    for (uint32_t i = 0; i < used_.size() && error.empty(); ++i) {
      if (!used_[i]) {
        const auto name = textAt(strings_, from_->Get(i)->name());
        error = fmt::format("there is no attribute '{}', or it is given twice", name.value_or("?"));
      }
    }
  }

  std::string error; ///< the first

 private:
  bool expect(bool holds, std::string_view name) {
    if (!holds && error.empty()) {
      error = fmt::format("attribute '{}' has no value of its kind", name);
    }
    return holds && error.empty();
  }

  static uint32_t count(const file::Attribute* attribute) {
    return attribute->ints() == nullptr ? 0 : attribute->ints()->size();
  }

  std::string_view text(const file::Attribute* attribute, std::string_view name) {
    const auto found = textAt(strings_, attribute->text());
    expect(found.has_value(), name);
    return found.value_or("");
  }

  const file::Attribute* find(std::string_view name, Kind kind, Presence presence) {
    for (uint32_t i = 0; i < used_.size() && error.empty(); ++i) {
      const file::Attribute* attribute = from_->Get(i);
      if (!used_[i] && textAt(strings_, attribute->name()) == name) {
        used_[i] = true;
        return expect(attribute->kind() == kind, name) ? attribute : nullptr;
      }
    }
    if (presence == Presence::Required && error.empty()) {
      error = fmt::format("attribute '{}' is missing", name);
    }
    return nullptr;
  }

  Literal takeLiteral(const TensorType& type, std::string_view name) {
    const auto contents = constants_.first(static_cast<size_t>(type.bytes()));
    constants_ = constants_.subspan(contents.size());
    const bool sound =
        type.element != ElementType::Bool ||
        std::all_of(contents.begin(), contents.end(), [](std::byte b) { return b <= std::byte{1}; });
    if (!expect(sound, name)) {
      return {};
    }
    Literal literal(type);
    std::copy(contents.begin(), contents.end(), literal.mutableBytes().begin());
    return literal;
  }

  const FileAttributes* from_;
  const FileTexts& strings_;
  std::span<const std::byte>& constants_;
  std::vector<bool> used_;
};

} // namespace

uint32_t FileStrings::indexOf(std::string_view text) {
  const auto [found, isNew] = index_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
  if (isNew) {
    strings_.emplace_back(text);
  }
  return found->second;
}

std::vector<flatbuffers::Offset<file::Attribute>> writeAttributes(const OpAttributes& attributes,
                                                                  flatbuffers::FlatBufferBuilder& builder,
                                                                  FileStrings& strings,
                                                                  std::vector<std::byte>& constants) {
  Writer writer(builder, strings, constants);
  visitFields(attributes, writer);
  return std::move(writer.written);
}

std::optional<std::string_view> textAt(const FileTexts& strings, uint32_t index) {
  if (index >= strings.size()) {
    return std::nullopt;
  }
  const flatbuffers::String* text = strings.Get(index);
  return std::string_view(text->c_str(), text->size());
}

std::optional<TensorType> typeFrom(std::optional<std::string_view> element,
                                   const flatbuffers::Vector<int64_t>* dims) {
  llvm::SmallVector<int64_t, 8> sizes;
  const uint32_t rank = dims == nullptr ? 0 : dims->size();
  const auto type = elementTypeNamed(element.value_or(""));
  if (!type || rank > Shape::maxRank) {
    return std::nullopt;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    sizes.push_back(dims->Get(i));
  }
  return Shape::valid(sizes) ? std::optional(TensorType{*type, Shape(sizes)}) : std::nullopt;
}

std::string readAttributes(OpAttributes& attributes, const FileAttributes* from, const FileTexts& strings,
                           std::span<const std::byte>& constants) {
  Reader reader(from, strings, constants);
  visitFields(attributes, reader);
  reader.refuseUnknown();
  return reader.error;
}

} // namespace dfc
