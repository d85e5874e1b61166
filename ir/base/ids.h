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

/// An index of a table whose rows are of one kind, `Tag`.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  /// The id of row `index`.
  constexpr explicit Id(uint32_t index) : index_(index) {}
  /// The index of the row.
  constexpr uint32_t index() const { return index_; }
  /// False for an id that names nothing.
  constexpr bool valid() const { return index_ != none; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  uint32_t index_ = none;
};

/// An op of a graph.
using OpId = Id<struct OpTag>;
/// A value of a graph.
using ValueId = Id<struct ValueTag>;
/// A string of a graph.
using StringId = Id<struct StringTag>;
/// A device of a machine.
using DeviceId = Id<struct DeviceTag>;
/// A link of a machine.
using LinkId = Id<struct LinkTag>;
/// A queue of a schedule.
using QueueId = Id<struct QueueTag>;
/// A step of a schedule.
using StepId = Id<struct StepTag>;

} // namespace dfc

/// @cond INTERNAL
template <class Tag>
struct std::hash<dfc::Id<Tag>> {
  size_t operator()(dfc::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index()); }
};
/// @endcond
