#include "tools/bench/micro/cases.h"

#include <iterator>

namespace dfc::bench {

std::vector<MicroCase> microCases(bool quick) {
  std::vector<MicroCase> all;
  for (const auto part : {kernelCases, compilerCases, runtimeCases}) {
    std::vector<MicroCase> more = part(quick);
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

} // namespace dfc::bench
