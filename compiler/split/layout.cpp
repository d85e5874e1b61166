#include "compiler/split/layout.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <array>

namespace dfc {

std::string toString(const Layout& layout) {
  static constexpr std::array<std::string_view, 7> kinds = {"",        "sum",  "max",   "min",
                                                            "product", "scan", "window"};
  switch (layout.form) {
  case Layout::Form::OnOne: return "one";
  case Layout::Form::OnAll: return "all";
  case Layout::Form::Cut: return fmt::format("cut {}", layout.axis);
  case Layout::Form::Partial: return fmt::format("partial {}", kinds[static_cast<size_t>(layout.combine)]);
  }
  DFC_UNREACHABLE("a layout of another form");
}

} // namespace dfc
