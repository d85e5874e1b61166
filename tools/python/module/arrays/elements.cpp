#include "tools/python/module/arrays/elements.h"

#include <fmt/format.h>

#include <cstring>

namespace nb = nanobind;

namespace dfc::python {
namespace {

bool isDense(const Elements& elements) {
  int64_t expected = byteWidth(elements.type.element);
  for (size_t axis = elements.type.shape.rank(); axis-- > 0;) {
    if (elements.type.shape[axis] != 1 && elements.strides[axis] != expected) {
      return false;
    }
    expected *= elements.type.shape[axis];
  }
  return true;
}

bool isAligned(const std::byte* data) { return reinterpret_cast<uintptr_t>(data) % 64 == 0; }

void copyStrided(const Elements& from, size_t axis, const std::byte* source, std::byte*& to) {
  const size_t width = static_cast<size_t>(byteWidth(from.type.element));
  if (axis == from.type.shape.rank()) {
    std::memcpy(to, source, width);
    to += width;
    return;
  }
  for (int64_t i = 0; i < from.type.shape[axis]; ++i) {
    copyStrided(from, axis + 1, source + i * from.strides[axis], to);
  }
}

Literal copyOf(const Elements& from) {
  Literal copy(from.type);
  std::byte* to = copy.mutableBytes().data();
  if (from.type.shape.elements() == 0) {
    return copy;
  }
  if (isDense(from)) {
    std::memcpy(to, from.data, static_cast<size_t>(from.type.bytes()));
  } else {
    copyStrided(from, 0, from.data, to);
  }
  return copy;
}

void letGo(nb::handle owner) {
  if (Py_IsInitialized() == 0) {
    return; // the interpreter has ended, and with it the owner
  }
  if (PyGILState_Check() != 0) {
    owner.dec_ref();
  } else {
    const nb::gil_scoped_acquire lock;
    owner.dec_ref();
  }
}

} // namespace

Literal literalOver(const Elements& from, Sharing sharing, nb::object owner) {
  if (sharing == Sharing::Copied || !isDense(from) || !isAligned(from.data)) {
    return copyOf(from);
  }
  auto* bytes = const_cast<std::byte*>(from.data); // a literal that is written detaches first
  if (sharing == Sharing::Lent) {
    return Literal(from.type, std::shared_ptr<std::byte>(std::shared_ptr<std::byte>(), bytes));
  }
  return Literal(from.type,
                 std::shared_ptr<std::byte>(bytes, [kept = owner.release()](std::byte*) { letGo(kept); }));
}

void refuse(const char* what, const std::string& why) {
  throw nb::type_error(fmt::format("{}: {}", what, why).c_str());
}

Shape checkedShape(std::span<const int64_t> dims, const char* what) {
  if (!Shape::valid(dims)) {
    refuse(what,
           fmt::format("an array of {} axes: dfc has tensors of at most {}", dims.size(), Shape::maxRank));
  }
  return Shape(dims);
}

} // namespace dfc::python
