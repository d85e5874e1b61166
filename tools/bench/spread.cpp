#include "tools/bench/spread.h"

#include "ir/base/assert.h"

#include <algorithm>

namespace dfc::bench {

Spread spreadOf(std::vector<double> seconds) {
  DFC_ASSERT(!seconds.empty(), "a spread needs a sample");
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back(),
          static_cast<uint32_t>(seconds.size())};
}

} // namespace dfc::bench
