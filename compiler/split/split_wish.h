// SplitWish: a cut that a caller of compile() asks for by name.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>
#include <string>

namespace DFC_PUBLIC dfc {

/// The values that `pattern` names are cut along `axis`, a part on each device that `devices` names; all
/// other ops follow as costs have it. Wishes of one plan name the same devices.
struct SplitWish {
  std::string pattern; ///< a glob over names of values: "images", "h.*.mlp.c_fc.weight"
  int64_t axis = 0;    ///< counted from the end where negative
  std::string devices; ///< a glob over the machine's devices: "gpu*"
};

} // namespace dfc
