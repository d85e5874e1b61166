// Elements that another library holds on the host, and the literal of them: over their bytes, or a copy.
#pragma once

#include "ir/graph/literal.h"
#include "tools/python/module/arrays/arrays.h"

#include <nanobind/nanobind.h>

#include <array>
#include <span>
#include <string>

namespace dfc::python {

/// Elements somewhere on the host; strides in bytes.
struct Elements {
  TensorType type;
  const std::byte* data = nullptr;
  std::array<int64_t, Shape::maxRank> strides{};
};

/// A literal over the elements' bytes where `sharing`, layout and alignment allow it, else a copy. `owner`
/// keeps the bytes; it goes with the last literal, on whatever thread.
Literal literalOver(const Elements& from, Sharing sharing, nanobind::object owner);

/// Raises TypeError of `what` where dfc has no tensors of so many axes.
Shape checkedShape(std::span<const int64_t> dims, const char* what);

/// Raises TypeError: "what: why".
[[noreturn]] void refuse(const char* what, const std::string& why);

} // namespace dfc::python
