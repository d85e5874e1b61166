#include "tools/dfc/io/fetches.h"

#include "ir/base/atomic_file.h"
#include "ir/graph/graph.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/console.h"
#include "tools/dfc/io/numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace dfc::tool {
namespace {

constexpr int64_t shownValues = 12, jsonValues = 4096;

std::string numberText(const Literal& value, int64_t index) {
  if (value.type().element == ElementType::I64) {
    return fmt::format("{}", value.data<int64_t>()[static_cast<size_t>(index)]);
  }
  if (value.type().element == ElementType::Bool) {
    return value.at(index) != 0 ? "true" : "false";
  }
  return isInteger(value.type().element) ? fmt::format("{}", static_cast<int64_t>(value.at(index)))
                                         : realText(value.at(index));
}

void writeBytes(const std::string& path, const Result<std::vector<std::byte>>& bytes, WrittenFiles& files) {
  if (bytes) {
    return files.add(path, writeFileAtomically(path, *bytes));
  }
  add(files.refused, bytes.errors());
  files.lost.push_back(path);
}

} // namespace

std::vector<std::string> fetchNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Fetch& fetch : graph.fetches()) {
    names.emplace_back(graph.text(fetch.name));
  }
  return names;
}

void WrittenFiles::add(const std::string& path, const Status& written) {
  tool::add(failed, written.errors());
  (written ? paths : lost).push_back(path);
}

void FetchFiles::addOutputs(const std::string& option, const std::vector<std::string>& arguments,
                            OutputFiles& files) {
  for (const std::string& argument : arguments) {
    if (const size_t at = argument.find('='); at != std::string::npos) {
      const std::string path = argument.substr(at + 1);
      files.writes(option, path.empty() ? argument : path, {".npy", ".npz"}, path.ends_with(".npz"));
    }
  }
}

Result<FetchFiles> FetchFiles::parse(const std::vector<std::string>& arguments, const Graph& graph) {
  FetchFiles files;
  Diagnostics errors;
  const auto known = fetchNames(graph);
  for (const std::string& argument : arguments) {
    const size_t at = argument.find('=');
    const Wish wish{argument.substr(0, at), at == std::string::npos ? "" : argument.substr(at + 1)};
    if (std::find(known.begin(), known.end(), wish.name) == known.end()) {
      errors.push_back(unknownName("fetch", wish.name, known));
    }
    files.wishes_.push_back(wish);
  }
  if (!errors.empty()) {
    return errors;
  }
  return files;
}

WrittenFiles FetchFiles::write(const NamedLiterals& results) const {
  std::map<std::string, NamedLiterals> archives;
  WrittenFiles files;
  for (const Wish& wish : wishes_) {
    if (wish.path.ends_with(".npz")) {
      archives[wish.path].emplace(wish.name, results.at(wish.name));
    } else if (!wish.path.empty()) {
      writeBytes(wish.path, printNpy(results.at(wish.name), wish.path), files);
    }
  }
  for (const auto& [path, arrays] : archives) {
    writeBytes(path, printNpz(arrays, path), files);
  }
  return files;
}

std::vector<std::string> FetchFiles::names() const {
  std::set<std::string> names;
  for (const Wish& wish : wishes_) {
    names.insert(wish.name);
  }
  return {names.begin(), names.end()};
}

bool FetchFiles::prints(const std::string& name) const {
  return std::any_of(wishes_.begin(), wishes_.end(),
                     [&](const Wish& wish) { return wish.name == name && wish.path.empty(); });
}

bool FetchFiles::names(const std::string& name) const {
  return std::any_of(wishes_.begin(), wishes_.end(), [&](const Wish& wish) { return wish.name == name; });
}

void ScalarWatch::add(const NamedLiterals& results) {
  if (atEndOfEpoch()) {
    rows_.clear();
  }
  ++steps_;
  for (const auto& [name, value] : results) {
    if (value.type().shape.elements() == 1) {
      Row& row = rows_[name];
      row.last = value.at(0);
      row.sum += row.last;
      ++row.count;
    }
  }
}

std::string ScalarWatch::text(bool means) const {
  std::string text;
  for (const auto& [name, row] : rows_) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, realText(means ? row.mean() : row.last));
  }
  return text;
}

std::string shortText(const Literal& value) {
  const int64_t count = value.type().shape.elements();
  std::string text = toString(value.type()) + " =";
  for (int64_t i = 0; i < count; ++i) {
    if (count > shownValues && i == shownValues / 2) {
      text += " …";
      i = count - shownValues / 2;
    }
    text += " " + numberText(value, i);
  }
  return text;
}

namespace {

nlohmann::ordered_json numberJson(const Literal& value, int64_t index) {
  const ElementType element = value.type().element;
  if (element == ElementType::I64) {
    return value.data<int64_t>()[static_cast<size_t>(index)];
  }
  if (element == ElementType::Bool) {
    return value.at(index) != 0;
  }
  return isInteger(element) ? nlohmann::ordered_json(static_cast<int64_t>(value.at(index)))
                            : nlohmann::ordered_json::parse(realJson(value.at(index)));
}

} // namespace

std::string realJson(double value) {
  if (std::isfinite(value)) {
    return nlohmann::ordered_json(value).dump();
  }
  return std::isnan(value) ? R"("nan")" : value > 0 ? R"("inf")" : R"("-inf")";
}

std::string literalJson(const Literal& value) {
  nlohmann::ordered_json object{
      {"type", name(value.type().element)},
      {"shape", std::vector<int64_t>(value.type().shape.dims().begin(), value.type().shape.dims().end())}};
  if (value.type().shape.elements() <= jsonValues) {
    auto values = nlohmann::ordered_json::array();
    for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
      values.push_back(numberJson(value, i));
    }
    object["values"] = values;
  }
  return object.dump();
}

} // namespace dfc::tool
