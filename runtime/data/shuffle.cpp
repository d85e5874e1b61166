#include "runtime/data/shuffle.h"

#include <fmt/format.h>

#include <numeric>
#include <random>
#include <stdexcept>

namespace dfc {

std::vector<int64_t> shuffledRows(int64_t rows, uint64_t seed, int64_t epoch) {
  if (rows < 0) {
    throw std::invalid_argument(fmt::format("shuffledRows of {} rows: give their number, 0 or more", rows));
  }
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t(0));
  std::mt19937_64 random(seed * 1000003U + static_cast<uint64_t>(epoch));
  for (size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]); // uniform_int_distribution differs between libraries
  }
  return order;
}

} // namespace dfc
