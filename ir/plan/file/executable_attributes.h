// Attributes of ops in a plan file, by name and kind, so that ops come and go without a change of the format.
// For ir/executable_*.cpp only.
#pragma once

#include "ir/graph/op.h"
#include "ir/plan/file/executable_schema.h"

#include <span>
#include <unordered_map>

namespace dfc {

/// The strings of a plan, each once, numbered in the order of their first use.
class FileStrings {
 public:
  uint32_t indexOf(std::string_view text);
  const std::vector<std::string>& all() const { return strings_; }

 private:
  std::vector<std::string> strings_;
  std::unordered_map<std::string, uint32_t> index_;
};

/// Writes attributes to `builder`; contents of literals go to the end of `constants`.
std::vector<flatbuffers::Offset<file::Attribute>> writeAttributes(const OpAttributes& attributes,
                                                                  flatbuffers::FlatBufferBuilder& builder,
                                                                  FileStrings& strings,
                                                                  std::vector<std::byte>& constants);

using FileAttributes = flatbuffers::Vector<flatbuffers::Offset<file::Attribute>>;
using FileTexts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

/// String `index` of a file, or none.
std::optional<std::string_view> textAt(const FileTexts& strings, uint32_t index);
/// The type that an element's name and dimensions give, or none.
std::optional<TensorType> typeFrom(std::optional<std::string_view> element,
                                   const flatbuffers::Vector<int64_t>* dims);

/// Fills `attributes` (of a default op) from a verified buffer; literals take their bytes from the front of
/// `constants`. Returns the fault, or "". Every attribute must be known, every required one there.
std::string readAttributes(OpAttributes& attributes, const FileAttributes* from, const FileTexts& strings,
                           std::span<const std::byte>& constants);

} // namespace dfc
