// Layout: how a value of the unsplit graph is spread over the devices of a mesh.
#pragma once

#include "ir/graph/rules/split_rule.h"

#include <string>

namespace dfc {

struct Layout {
  enum class Form : uint8_t {
    OnOne,   ///< whole, on one device; others are sent what they read
    OnAll,   ///< whole, computed on every device
    Cut,     ///< pieces along `axis`, one a device
    Partial, ///< tensors of the whole's type, one a device, which `combine` makes one
  };
  Form form = Form::OnAll;
  uint8_t axis = 0;                   ///< Cut
  SplitKind combine = SplitKind::Sum; ///< Partial: Sum, Max, Min or Product

  static Layout onOne() { return {Form::OnOne}; }
  static Layout onAll() { return {Form::OnAll}; }
  static Layout cut(size_t axis) { return {Form::Cut, static_cast<uint8_t>(axis)}; }
  static Layout partial(SplitKind combine) { return {Form::Partial, 0, combine}; }
  bool isCut() const { return form == Form::Cut; }
  bool isPartial() const { return form == Form::Partial; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// "one", "all", "cut 0", "partial sum".
std::string toString(const Layout& layout);

} // namespace dfc
