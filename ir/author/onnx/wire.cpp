#include "ir/author/onnx/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace dfc::onnx {
namespace {

[[noreturn]] void failType(const WireField& field, std::string_view wanted) {
  throw BadFile(fmt::format("byte {}: field {} is no {}", field.offset, field.number, wanted));
}

} // namespace

int64_t WireField::integer() const {
  if (type != WireType::Varint) {
    failType(*this, "integer");
  }
  return static_cast<int64_t>(value);
}

double WireField::real() const {
  if (type == WireType::Fixed32) {
    return std::bit_cast<float>(static_cast<uint32_t>(value));
  }
  if (type == WireType::Fixed64) {
    return std::bit_cast<double>(value);
  }
  failType(*this, "float");
}

std::string WireField::text() const {
  const Bytes letters = message();
  return {reinterpret_cast<const char*>(letters.data()), letters.size()};
}

Bytes WireField::message() const {
  if (type != WireType::Bytes) {
    failType(*this, "text or message");
  }
  return bytes;
}

WireReader::WireReader(const WireField& field) : bytes_(field.message()), begin_(field.offset) {}

void WireReader::fail(const std::string& what, uint64_t offset) const {
  throw BadFile(fmt::format("byte {}: {}", offset, what));
}

Bytes WireReader::take(uint64_t count) {
  if (count > bytes_.size() - at_) {
    fail(fmt::format("{} more bytes are announced than the file has here", count - (bytes_.size() - at_)),
         offset());
  }
  const Bytes taken = bytes_.subspan(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return taken;
}

uint64_t WireReader::varint() {
  const uint64_t begin = offset();
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const auto byte = std::to_integer<uint64_t>(take(1)[0]);
    number |= shift < 64 ? (byte & 0x7F) << shift : 0;
    if ((byte & 0x80) == 0) {
      return number;
    }
  }
  fail("a number of more than ten bytes", begin);
}

uint64_t WireReader::fixed(size_t width) {
  const Bytes taken = take(width);
  uint64_t number = 0;
  std::memcpy(&number, taken.data(), width); // little-endian, as the host
  return number;
}

std::optional<WireField> WireReader::next() {
  if (atEnd()) {
    return std::nullopt;
  }
  WireField field;
  field.offset = offset();
  const uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) {
    fail(fmt::format("{} is no field's number", tag >> 3), field.offset);
  }
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
  case WireType::Varint: field.value = varint(); return field;
  case WireType::Fixed64: field.value = fixed(8); return field;
  case WireType::Fixed32: field.value = fixed(4); return field;
  case WireType::Bytes:
    field.bytes = take(varint());
    field.offset = offset() - field.bytes.size();
    return field;
  }
  fail(fmt::format("{} is no field's type", tag & 7), field.offset);
}

void addIntegers(const WireField& field, std::vector<int64_t>& to) {
  if (field.type != WireType::Bytes) {
    to.push_back(field.integer());
    return;
  }
  for (WireReader reader(field); !reader.atEnd();) {
    to.push_back(static_cast<int64_t>(reader.varint()));
  }
}

void addReals(const WireField& field, std::vector<double>& to) {
  if (field.type != WireType::Bytes) {
    to.push_back(field.real());
    return;
  }
  if (field.bytes.size() % sizeof(float) != 0) {
    failType(field, "list of floats");
  }
  for (size_t at = 0; at < field.bytes.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, field.bytes.data() + at, sizeof value);
    to.push_back(value);
  }
}

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes_ += static_cast<char>(value | 0x80);
  }
  bytes_ += static_cast<char>(value);
}

void WireWriter::tag(uint32_t number, WireType type) {
  varint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
}

void WireWriter::fixed32(float value) {
  char four[sizeof value];
  std::memcpy(four, &value, sizeof value);
  bytes_.append(four, sizeof value);
}

void WireWriter::integer(uint32_t number, int64_t value) {
  tag(number, WireType::Varint);
  varint(static_cast<uint64_t>(value));
}

void WireWriter::real(uint32_t number, float value) {
  tag(number, WireType::Fixed32);
  fixed32(value);
}

void WireWriter::text(uint32_t number, std::string_view value) {
  tag(number, WireType::Bytes);
  varint(value.size());
  bytes_ += value;
}

void WireWriter::bytes(uint32_t number, Bytes value) {
  text(number, {reinterpret_cast<const char*>(value.data()), value.size()});
}

void WireWriter::integers(uint32_t number, std::span<const int64_t> values) {
  WireWriter packed;
  for (const int64_t value : values) {
    packed.varint(static_cast<uint64_t>(value));
  }
  text(number, packed.bytes_);
}

void WireWriter::reals(uint32_t number, std::span<const float> values) {
  WireWriter packed;
  for (const float value : values) {
    packed.fixed32(value);
  }
  text(number, packed.bytes_);
}

} // namespace dfc::onnx
