// See casts.h.
#include "compiler/passes/casts.h"

#include <fmt/format.h>

namespace dfc {

std::string narrowName(std::string_view name, ElementType element) {
  return fmt::format("{}.{}", name, dfc::name(element));
}

ValueId appendCast(Rewriter& rewriter, ElementType to, ValueId value, OpId like, std::string_view name) {
  ops::Cast cast;
  cast.to = to;
  return rewriter.builder().result(rewriter.append(cast, {value}, like, name));
}

} // namespace dfc
