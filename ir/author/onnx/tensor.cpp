// A tensor of the file to a literal: its type first, then whether all of its bytes are there, then the copy.
#include "ir/author/onnx/model.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>

namespace dfc::onnx {
namespace {

namespace fs = std::filesystem;

// TensorProto.DataType of the format, in its order.
constexpr std::array<std::string_view, 27> typeNames = {
    "undefined", "float",      "uint8",      "int8",         "uint16",         "int16",      "int32",
    "int64",     "string",     "bool",       "half",         "double",         "uint32",     "uint64",
    "complex64", "complex128", "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
    "uint4",     "int4",       "float4e2m1", "float8e8m0",   "uint2",          "int2"};

/// Bits of one element in raw_data.
int64_t bitsOf(int64_t element) {
  switch (element) {
  case element::u4:
  case element::i4: return 4;
  case element::i8: return 8;
  case element::u16:
  case element::i16: return 16;
  case element::u32: return 32;
  default: return 8 * byteWidth(elementOfOnnx(element));
  }
}

std::string nameFor(const OnnxTensor& tensor) {
  return tensor.name.empty() ? "a tensor" : fmt::format("tensor '{}'", tensor.name);
}

/// Bytes that the elements take in raw_data.
uint64_t rawBytes(const OnnxTensor& tensor, const TensorType& type) {
  return (static_cast<uint64_t>(type.shape.elements()) * static_cast<uint64_t>(bitsOf(tensor.element)) + 7) /
         8;
}

template <class Stored>
int64_t storedAt(Bytes bytes, int64_t index) {
  Stored value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof value, sizeof value);
  if constexpr (sizeof(Stored) == 8 && !std::numeric_limits<Stored>::is_signed) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      throw Unsupported(fmt::format("uint64 of {}, more than an i64 holds", value));
    }
  }
  return static_cast<int64_t>(value);
}

int64_t widenedAt(int64_t element, Bytes bytes, int64_t index) {
  switch (element) {
  case element::i8: return storedAt<int8_t>(bytes, index);
  case element::u16: return storedAt<uint16_t>(bytes, index);
  case element::i16: return storedAt<int16_t>(bytes, index);
  case element::u32: return storedAt<uint32_t>(bytes, index);
  case element::u64: return storedAt<uint64_t>(bytes, index);
  default: break;
  }
  const auto both = std::to_integer<int>(bytes[static_cast<size_t>(index / 2)]); // the first in the low half
  const int one = index % 2 == 0 ? both & 15 : both >> 4;
  return element == element::i4 && one > 7 ? one - 16 : one;
}

Literal ofRaw(const OnnxTensor& tensor, const TensorType& type, Bytes raw) {
  if (raw.size() != rawBytes(tensor, type)) {
    throw BadFile(fmt::format("{}: {} bytes instead of {} for {}", nameFor(tensor), raw.size(),
                              rawBytes(tensor, type), toString(type)));
  }
  Literal literal(type);
  if (!isWidened(tensor.element)) {
    std::copy(raw.begin(), raw.end(), literal.mutableBytes().begin());
    if (type.element == ElementType::Bool) { // any other byte than 0 and 1 would be no bool
      for (std::byte& one : literal.mutableBytes()) {
        one = std::byte(one != std::byte(0));
      }
    }
    return literal;
  }
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const int64_t value = widenedAt(tensor.element, raw, i);
    if (type.element == ElementType::I64) {
      literal.mutableData<int64_t>()[static_cast<size_t>(i)] = value;
    } else {
      literal.set(i, static_cast<double>(value));
    }
  }
  return literal;
}

// Which field of the format holds the numbers of an element type.
uint32_t fieldOf(int64_t element) {
  switch (element) {
  case element::f32: return 4;
  case element::i64: return 7;
  case element::f64: return 10;
  case element::u32:
  case element::u64: return 11;
  default: return 5;
  }
}

/// Appends what one field holds, as doubles or as integers.
class Numbers {
 public:
  explicit Numbers(const OnnxTensor& tensor) : field_(fieldOf(tensor.element)) {
    for (const WireField& field : tensor.numbers) {
      if (field.number != field_) {
        throw BadFile(fmt::format("{} of {} with numbers in field {} instead of {}", nameFor(tensor),
                                  elementName(tensor.element), field.number, field_));
      }
      add(field);
    }
  }
  size_t size() const { return field_ == 4 || field_ == 10 ? reals_.size() : integers_.size(); }
  double real(size_t i) const { return reals_[i]; }
  int64_t integer(size_t i) const { return integers_[i]; }
  bool areReal() const { return field_ == 4 || field_ == 10; }

 private:
  void add(const WireField& field) {
    if (field_ == 4) {
      addReals(field, reals_);
    } else if (field_ != 10) {
      addIntegers(field, integers_);
    } else if (field.type != WireType::Bytes) {
      reals_.push_back(field.real());
    } else {
      for (size_t at = 0; at + sizeof(double) <= field.bytes.size(); at += sizeof(double)) {
        double value = 0;
        std::memcpy(&value, field.bytes.data() + at, sizeof value);
        reals_.push_back(value);
      }
    }
  }
  uint32_t field_;
  std::vector<double> reals_;
  std::vector<int64_t> integers_;
};

Literal ofNumbers(const OnnxTensor& tensor, const TensorType& type) {
  const Numbers numbers(tensor);
  if (numbers.size() != static_cast<size_t>(type.shape.elements())) {
    throw BadFile(fmt::format("{}: {} elements instead of those of {}", nameFor(tensor), numbers.size(),
                              toString(type)));
  }
  Literal literal(type);
  const bool bits = type.element == ElementType::F16 || type.element == ElementType::BF16;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (bits) {
      const auto half = static_cast<uint16_t>(numbers.integer(i));
      std::memcpy(literal.mutableBytes().data() + 2 * i, &half, sizeof half);
    } else if (type.element == ElementType::I64) {
      literal.mutableData<int64_t>()[i] = numbers.integer(i);
    } else {
      literal.set(static_cast<int64_t>(i),
                  numbers.areReal() ? numbers.real(i) : static_cast<double>(numbers.integer(i)));
    }
  }
  return literal;
}

} // namespace

std::string elementName(int64_t number) {
  const bool known = number >= 0 && number < static_cast<int64_t>(typeNames.size());
  return known ? std::string(typeNames[static_cast<size_t>(number)]) : fmt::format("of number {}", number);
}

ElementType elementOfOnnx(int64_t number) {
  switch (number) {
  case element::f32: return ElementType::F32;
  case element::u8: return ElementType::U8;
  case element::i8:
  case element::u16:
  case element::i16:
  case element::u4:
  case element::i4:
  case element::i32: return ElementType::I32;
  case element::u32:
  case element::u64:
  case element::i64: return ElementType::I64;
  case element::boolean: return ElementType::Bool;
  case element::f16: return ElementType::F16;
  case element::f64: return ElementType::F64;
  case element::bf16: return ElementType::BF16;
  default: throw Unsupported("the element type " + elementName(number));
  }
}

bool isWidened(int64_t number) {
  switch (number) {
  case element::i8:
  case element::u16:
  case element::i16:
  case element::u4:
  case element::i4:
  case element::u32:
  case element::u64: return true;
  default: return false;
  }
}

TensorType typeOf(const OnnxTensor& tensor) {
  const ElementType element = elementOfOnnx(tensor.element);
  if (tensor.dims.size() > Shape::maxRank) {
    throw Unsupported(fmt::format("rank {}", tensor.dims.size()));
  }
  if (!Shape::valid(tensor.dims)) {
    throw BadFile(
        fmt::format("{}: no tensor has the shape [{}]", nameFor(tensor), fmt::join(tensor.dims, ", ")));
  }
  return {element, Shape(std::span<const int64_t>(tensor.dims))};
}

Literal literalOf(const OnnxTensor& tensor, ExternalFiles& files) {
  const TensorType type = typeOf(tensor);
  if (tensor.external) {
    OnnxTensor::External place = *tensor.external;
    place.length = place.length < 0 ? static_cast<int64_t>(rawBytes(tensor, type)) : place.length;
    return ofRaw(tensor, type, files.bytesOf(place));
  }
  const bool raw = tensor.raw && (tensor.numbers.empty() || !tensor.raw->empty());
  return raw ? ofRaw(tensor, type, *tensor.raw) : ofNumbers(tensor, type);
}

Bytes ExternalFiles::bytesOf(const OnnxTensor::External& place) {
  const fs::path relative = fs::path(place.location).lexically_normal();
  if (model_.empty() || place.location.empty() || place.location.find('\0') != std::string::npos ||
      relative.is_absolute() || *relative.begin() == "..") {
    throw Unsupported(fmt::format("external data in '{}', which is not a file in the model's folder",
                                  place.location.substr(0, 200)));
  }
  const fs::path folder = fs::path(model_).parent_path(), path = folder / relative;
  std::error_code failure; // links may lead out of the folder as well
  const fs::path real = fs::weakly_canonical(path, failure);
  const fs::path home = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, failure);
  if (failure || *real.lexically_relative(home).begin() == "..") {
    throw Unsupported(
        fmt::format("external data in '{}', which leads out of the model's folder", place.location));
  }
  auto found = files_.find(path.string());
  if (found == files_.end()) {
    auto opened = MappedFile::open(path.string());
    if (!opened) {
      throw Unsupported(
          fmt::format("external data in '{}': {}", path.string(), opened.errors().front().message));
    }
    found = files_.emplace(path.string(), *std::move(opened)).first;
  }
  const Bytes bytes = found->second->bytes();
  const auto offset = static_cast<uint64_t>(place.offset), length = static_cast<uint64_t>(place.length);
  if (offset > bytes.size() || length > bytes.size() - offset) {
    throw BadFile(fmt::format("bytes {} to {} of '{}', which has {}", offset, offset + length, path.string(),
                              bytes.size()));
  }
  return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length));
}

} // namespace dfc::onnx
