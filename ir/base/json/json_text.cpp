// Escaping is nlohmann's, digits are {fmt}'s.
#include "ir/base/json/json_text.h"

#include "ir/base/assert.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace dfc {

std::string jsonQuoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string jsonNumber(double number) {
  DFC_ASSERT(std::isfinite(number), "a number of JSON is finite");
  return number == 0 && std::signbit(number) ? "-0.0" : fmt::format("{}", number);
}

} // namespace dfc
