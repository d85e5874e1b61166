// Members of JSON objects; see json_fields.h.
#include "ir/base/json/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dfc {
namespace {

/// Among more names than this no one looks for a slip, and looking would take long.
constexpr size_t mostNamesInHint = 128;

/// Whether a number of JSON is an Integer; whole numbers may be written as 1e9.
template <class Integer>
bool fitsIn(const nlohmann::json& value, double number) {
  if (value.is_number_unsigned()) {
    return std::in_range<Integer>(value.get<uint64_t>());
  }
  if (value.is_number_integer()) {
    return std::in_range<Integer>(value.get<int64_t>());
  }
  using Limits = std::numeric_limits<Integer>;
  return number == std::floor(number) && number >= static_cast<double>(Limits::min()) &&
         number < static_cast<double>(Limits::max());
}

} // namespace

std::string JsonFields::join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string JsonFields::hintFor(const std::string& word, const Names& known) {
  if (known.empty() || known.size() > mostNamesInHint) {
    return "";
  }
  const auto near = nearestName(word, known);
  return near ? fmt::format("did you mean \"{}\"?", *near)
              : fmt::format("there are: {}", fmt::join(known, ", "));
}

void JsonFields::knownKeys(const Json& object, const std::string& path, const Names& known) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      document_.errorAtKey(join(path, key), "no such key", hintFor(key, known));
    }
  }
}

void JsonFields::eachRow(const Json& object, const std::string& path, const std::string& key,
                         llvm::function_ref<void(const Json&, const std::string&)> read) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return;
  }
  if (!found->is_array()) {
    wrongType(join(path, key), *found, "an array");
    return;
  }
  for (size_t i = 0; i < found->size(); ++i) {
    const std::string row = fmt::format("{}[{}]", join(path, key), i);
    if (!(*found)[i].is_object()) {
      wrongType(row, (*found)[i], "an object");
    }
    quiet_ = !(*found)[i].is_object();
    read(quiet_ ? Json::object() : (*found)[i], row);
    quiet_ = false;
  }
}

void JsonFields::wrongType(const std::string& path, const Json& value, const char* wanted) {
  document_.errorAt(path, fmt::format("{} where {} belongs", value.type_name(), wanted));
}

const JsonFields::Json* JsonFields::member(const Json& object, const std::string& path, const char* key,
                                           bool required) {
  const auto found = object.find(key);
  if (found != object.end()) {
    return &*found;
  }
  if (required && !quiet_) {
    document_.errorMissing(path, key);
  }
  return nullptr;
}

void JsonFields::text(const Json& object, const std::string& path, const char* key, std::string& out,
                      bool required) {
  const Json* value = member(object, path, key, required);
  if (value == nullptr) {
    return;
  }
  if (value->is_string()) {
    out = value->get<std::string>();
  } else {
    wrongType(join(path, key), *value, "a text");
  }
}

void JsonFields::number(const Json& object, const std::string& path, const char* key, double& out,
                        bool required) {
  if (const Json* value = member(object, path, key, required)) {
    numberOf(*value, join(path, key), out);
  }
}

bool JsonFields::numberOf(const Json& value, const std::string& path, double& out) {
  if (!value.is_number()) {
    wrongType(path, value, "a number");
    return false;
  }
  out = value.get<double>();
  return true;
}

void JsonFields::rate(const Json& object, const std::string& path, const char* key, double& out,
                      bool required) {
  if (const Json* value = member(object, path, key, required)) {
    rateOf(*value, join(path, key), out);
  }
}

void JsonFields::rateOf(const Json& value, const std::string& path, double& out) {
  if (numberOf(value, path, out) && out == 0) {
    document_.errorAt(path, "0 is no rate", "leave it out for no limit");
  }
}

template <class Integer>
void JsonFields::integer(const Json& object, const std::string& path, const char* key, Integer& out) {
  const Json* value = member(object, path, key, false);
  double number = 0;
  if (value == nullptr || !numberOf(*value, join(path, key), number)) {
    return;
  }
  if (!fitsIn<Integer>(*value, number)) {
    document_.errorAt(join(path, key), fmt::format("{} is no whole number in range", value->dump()));
    return;
  }
  out = value->is_number_integer() ? value->get<Integer>() : static_cast<Integer>(number);
}

void JsonFields::whole(const Json& object, const std::string& path, const char* key, int64_t& out) {
  integer(object, path, key, out);
}

void JsonFields::whole(const Json& object, const std::string& path, const char* key, uint32_t& out) {
  integer(object, path, key, out);
}

} // namespace dfc
