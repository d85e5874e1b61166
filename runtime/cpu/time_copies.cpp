#include "runtime/cpu/time_copies.h"

#include "runtime/errors.h"
#include "runtime/steady_seconds.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace dfc {
namespace {

double secondsOf(std::vector<char>& to, const std::vector<char>& from, int64_t bytes) {
  constexpr double tick = 1e-9; // the clock's; a time is never 0
  std::array<double, 7> seconds{};
  for (double& one : seconds) {
    const double begin = steadySeconds();
    std::memcpy(to.data(), from.data(), static_cast<size_t>(bytes));
    one = std::max(steadySeconds() - begin, tick);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 3, seconds.end());
  return seconds[3];
}

} // namespace

std::vector<double> timeHostCopies(llvm::ArrayRef<int64_t> bytes) {
  const auto most = static_cast<size_t>(*std::max_element(bytes.begin(), bytes.end()));
  try {
    const std::vector<char> from(most, 1);
    std::vector<char> to(most, 2);
    std::vector<double> seconds;
    for (const int64_t size : bytes) {
      seconds.push_back(secondsOf(to, from, size));
    }
    return seconds;
  } catch (const std::bad_alloc&) {
    throw MachineError("not enough memory to time copies");
  }
}

} // namespace dfc
