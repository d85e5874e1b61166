#include "ir/graph/literal.h"

#include "ir/base/assert.h"
#include "ir/base/diagnostic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace dfc {
namespace {

constexpr std::align_val_t alignment{64};

std::shared_ptr<std::byte> allocate(int64_t bytes) {
  auto* storage =
      static_cast<std::byte*>(::operator new(static_cast<size_t>(std::max<int64_t>(bytes, 1)), alignment));
  return {storage, [](std::byte* pointer) { ::operator delete(pointer, alignment); }};
}

template <class T>
T element(const std::byte* base, int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* base, int64_t index, T value) {
  std::memcpy(base + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

// Towards zero, to the nearest end of the range when outside it, NaN to 0: what `cast` promises.
template <class T>
T toInteger(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  // The largest int64 rounds up to 2^63 as a double, which is why this compares with >=.
  return value >= static_cast<double>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
                                                                     : static_cast<T>(value);
}

// The C++ type that stores an element, as an author writes it.
std::string_view cppName(ElementType type) {
  switch (type) {
  case ElementType::F32: return "float";
  case ElementType::F64: return "double";
  case ElementType::F16: return "Half";
  case ElementType::BF16: return "BFloat16";
  case ElementType::I32: return "int32_t";
  case ElementType::I64: return "int64_t";
  case ElementType::U8: return "uint8_t";
  case ElementType::Bool: return "bool";
  }
  DFC_UNREACHABLE("element type");
}

// Why there is no literal of that name, and the nearest name, or all where none is near and they are few.
std::string missing(std::string_view name, const NamedLiterals& all) {
  constexpr size_t few = 20;
  std::vector<std::string> names;
  for (const auto& [other, literal] : all) {
    names.push_back(other);
  }
  std::string message = fmt::format("there is no tensor named '{}'", name);
  if (const auto nearest = nearestName(std::string(name), names)) {
    return message + fmt::format("; did you mean '{}'?", *nearest);
  }
  if (names.empty()) {
    return message + ": there is none at all";
  }
  return message + (names.size() <= few ? fmt::format("; there are '{}'", fmt::join(names, "', '"))
                                        : fmt::format(" among {}", names.size()));
}

} // namespace

Literal::Literal(const TensorType& type) : type_(type), storage_(allocate(type.bytes())) {
  std::memset(storage_.get(), 0, static_cast<size_t>(type.bytes()));
}

std::span<std::byte> Literal::mutableBytes() {
  // Reading the count orders nothing; giving up a copy does: what other threads read in copies of theirs
  // that are gone comes before what is written now.
  if (const std::shared_ptr<std::byte> held = storage_; held.use_count() > 2) {
    auto own = allocate(type_.bytes());
    std::memcpy(own.get(), storage_.get(), static_cast<size_t>(type_.bytes()));
    storage_ = std::move(own);
  }
  return {storage_.get(), static_cast<size_t>(type_.bytes())};
}

double Literal::at(int64_t index) const {
  checkIndex(index);
  const std::byte* base = storage_.get();
  switch (type_.element) {
  case ElementType::F32: return element<float>(base, index);
  case ElementType::F64: return element<double>(base, index);
  case ElementType::F16: return static_cast<float>(element<Half>(base, index));
  case ElementType::BF16: return static_cast<float>(element<BFloat16>(base, index));
  case ElementType::I32: return element<int32_t>(base, index);
  case ElementType::I64: return static_cast<double>(element<int64_t>(base, index));
  case ElementType::U8:
  case ElementType::Bool: return element<uint8_t>(base, index);
  }
  DFC_UNREACHABLE("element type");
}

void Literal::set(int64_t index, double value) {
  checkIndex(index);
  std::byte* base = mutableBytes().data();
  switch (type_.element) {
  case ElementType::F32: return store(base, index, static_cast<float>(value));
  case ElementType::F64: return store(base, index, value);
  case ElementType::F16: return store(base, index, Half(static_cast<float>(value)));
  case ElementType::BF16: return store(base, index, BFloat16(static_cast<float>(value)));
  case ElementType::I32: return store(base, index, toInteger<int32_t>(value));
  case ElementType::I64: return store(base, index, toInteger<int64_t>(value));
  case ElementType::U8: return store(base, index, toInteger<uint8_t>(value));
  case ElementType::Bool: return store(base, index, static_cast<uint8_t>(value != 0));
  }
  DFC_UNREACHABLE("element type");
}

bool operator==(const Literal& a, const Literal& b) {
  return a.type_ == b.type_ &&
         std::memcmp(a.storage_.get(), b.storage_.get(), static_cast<size_t>(a.type_.bytes())) == 0;
}

void Literal::checkElement(ElementType wanted) const {
  if (type_.element != wanted) {
    throw LiteralError(
        fmt::format("elements of {} read or written as {}: call data<{}>() or mutableData<{}>(), "
                    "or convert element by element with at() and set()",
                    toString(type_), name(wanted), cppName(type_.element), cppName(type_.element)));
  }
}

void Literal::checkCount(size_t count) const {
  if (static_cast<size_t>(type_.shape.elements()) != count) {
    throw LiteralError(fmt::format("{} made from {} values: it has {} elements, give as many values",
                                   toString(type_), count, type_.shape.elements()));
  }
}

void Literal::checkIndex(int64_t index) const {
  if (index < 0 || index >= type_.shape.elements()) {
    throw LiteralError(fmt::format("element {} of {}: it has {} elements, counted from 0", index,
                                   toString(type_), type_.shape.elements()));
  }
}

const Literal& NamedLiterals::at(std::string_view name) const {
  const auto found = find(name);
  return found != end() ? found->second : throw std::out_of_range(missing(name, *this));
}

Literal& NamedLiterals::at(std::string_view name) {
  return const_cast<Literal&>(std::as_const(*this).at(name));
}

Literal filledLiteral(const TensorType& type, double value) {
  Literal literal(type);
  if (type.shape.elements() == 0) {
    return literal;
  }
  literal.set(0, value);
  const auto bytes = literal.mutableBytes();
  const auto width = static_cast<size_t>(byteWidth(type.element));
  for (size_t at = width; at < bytes.size(); at += width) {
    std::memcpy(bytes.data() + at, bytes.data(), width);
  }
  return literal;
}

} // namespace dfc
