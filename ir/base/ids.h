// Dense typed ids: what every table row is named by. Two ids of different kinds do not compare or convert, so
// an op can never be mistaken for a value. An id made by default names nothing (`valid()` is false). Model:
// Cranelift's entity references.
#pragma once

#include "ir/base/visibility.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace DFC_PUBLIC dfc {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}
  constexpr uint32_t index() const { return index_; }
  constexpr bool valid() const { return index_ != none; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  uint32_t index_ = none;
};

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;
using StringId = Id<struct StringTag>;
using DeviceId = Id<struct DeviceTag>;
using LinkId = Id<struct LinkTag>;
using QueueId = Id<struct QueueTag>;
using StepId = Id<struct StepTag>;

} // namespace dfc

template <class Tag>
struct std::hash<dfc::Id<Tag>> {
  size_t operator()(dfc::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index()); }
};
