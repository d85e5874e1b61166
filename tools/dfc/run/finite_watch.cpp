#include "tools/dfc/run/finite_watch.h"

#include "runtime/finite/finite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace dfc::tool {
namespace {

bool isFinite(const Literal& value) { return dfc::isFinite(value.type(), value.bytes()); }

} // namespace

bool FiniteWatch::add(const NamedLiterals& results, int64_t step) {
  if (!warning_.empty()) {
    return true;
  }
  for (const auto& [name, value] : results) {
    if (!isFinite(value)) {
      fetch_ = name;
      warning_ = fmt::format("warning: fetch '{}' is not finite since step {}, counted from 1: {}; "
                             "--check-finite names the op where it began",
                             name, step, textOf(rangeOf(value.type(), value.bytes())));
      return false;
    }
  }
  return true;
}

std::string stateWarning(const NamedLiterals& state, const std::string& file) {
  constexpr size_t shown = 5;
  std::vector<std::string> names;
  size_t count = 0;
  for (const auto& [name, value] : state) {
    if (!isFinite(value) && ++count <= shown) {
      names.push_back(fmt::format("'{}'", name));
    }
  }
  return count == 0 ? ""
                    : fmt::format("warning: {} of {} parameters saved in {} {} not finite: {}{}", count,
                                  state.size(), file, count == 1 ? "is" : "are", fmt::join(names, ", "),
                                  count > shown ? ", …" : "");
}

bool holdsNan(const NamedLiterals& state) {
  return std::any_of(state.begin(), state.end(), [](const auto& row) {
    return !isFinite(row.second) && rangeOf(row.second.type(), row.second.bytes()).nans > 0;
  });
}

} // namespace dfc::tool
