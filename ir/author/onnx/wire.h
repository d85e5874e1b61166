// The wire format of protobuf messages (protobuf.dev, "Encoding"): fields of a number, a type and a value,
// one behind the other. A reader over bytes that stay where they are, so that a file is mapped and its
// tensors are never copied to be looked at; and a writer. Written here because models pass the 2 GiB that
// protobuf's own classes hold, and because a fault then has its place in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::onnx {

/// Bytes that are no message of the format.
class BadFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Bytes = std::span<const std::byte>;

/// How a field's value is encoded; the numbers are the format's.
enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// A field as it stands in the file.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;  ///< of the types that are numbers: the bits
  Bytes bytes = {};    ///< of WireType::Bytes
  uint64_t offset = 0; ///< where it begins in the file

  /// Each throws BadFile where the field has another type.
  int64_t integer() const;
  double real() const; ///< of 32 or 64 bits, as its type says
  std::string text() const;
  Bytes message() const;
};

/// Walks over the fields of one message.
class WireReader {
 public:
  /// `offset`: where `bytes` begin in the file, for messages.
  explicit WireReader(Bytes bytes, uint64_t offset = 0) : bytes_(bytes), begin_(offset) {}
  /// The message that a field holds.
  explicit WireReader(const WireField& field);
  /// The next field; none at the end. Throws BadFile for bytes that are none.
  std::optional<WireField> next();
  /// A number of up to ten bytes, at the present place. Throws BadFile.
  uint64_t varint();
  bool atEnd() const { return at_ == bytes_.size(); }
  uint64_t offset() const { return begin_ + at_; }

 private:
  uint64_t fixed(size_t width);
  Bytes take(uint64_t count);
  [[noreturn]] void fail(const std::string& what, uint64_t offset) const;
  Bytes bytes_;
  uint64_t begin_ = 0;
  size_t at_ = 0;
};

/// Appends the numbers of a repeated field, packed or one by one. Throws BadFile.
void addIntegers(const WireField& field, std::vector<int64_t>& to);
void addReals(const WireField& field, std::vector<double>& to); ///< of 32 bits each

/// A message under construction.
class WireWriter {
 public:
  void integer(uint32_t number, int64_t value);
  void real(uint32_t number, float value);
  void text(uint32_t number, std::string_view value);
  void bytes(uint32_t number, Bytes value);
  void message(uint32_t number, const WireWriter& value) { text(number, value.bytes_); }
  void integers(uint32_t number, std::span<const int64_t> values); ///< packed
  void reals(uint32_t number, std::span<const float> values);      ///< packed
  const std::string& str() const { return bytes_; }

 private:
  void tag(uint32_t number, WireType type);
  void varint(uint64_t value);
  void fixed32(float value);
  std::string bytes_;
};

} // namespace dfc::onnx
