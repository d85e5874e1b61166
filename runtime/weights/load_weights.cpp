// Few names in common are a mistake in the rules more often than a wish.
#include "runtime/weights/load_weights.h"

#include "runtime/checkpoint.h"
#include "runtime/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t shownNames = 3;

/// The file's name for a parameter: one that ends alike, or the nearest.
std::optional<std::string> likelyName(const std::string& parameter, const std::vector<std::string>& names) {
  const auto endsAlike = [&](const std::string& name) {
    return name.ends_with("." + parameter) || parameter.ends_with("." + name);
  };
  const auto found = std::find_if(names.begin(), names.end(), endsAlike);
  return found != names.end() ? std::optional(*found) : nearestName(parameter, names);
}

class Matching {
 public:
  Matching(const Session& session, const NamedLiterals& values, std::string file)
      : values_(values), file_(std::move(file)) {
    for (const Session::Parameter& parameter : session.parameters()) {
      ++loaded_.parameters;
      const auto value = values.find(parameter.name);
      if (value == values.end()) {
        missing_.push_back(parameter.name);
      } else if (value->second.type() != parameter.type) {
        unfit_.push_back(fmt::format("'{}' ({}, not {})", parameter.name, toString(value->second.type()),
                                     toString(parameter.type)));
      } else {
        fitting_.insert_or_assign(parameter.name, value->second);
      }
    }
    loaded_.set = fitting_.size();
    loaded_.unused = values.size() - fitting_.size() - unfit_.size();
  }

  Result<LoadedWeights> result() const {
    const bool few = 2 * loaded_.set < loaded_.parameters && 2 * loaded_.set < values_.size();
    if (unfit_.empty() && !few && loaded_.set > 0) {
      return loaded_;
    }
    return Diagnostic{Severity::Error,
                      {file_},
                      fmt::format("fits {} of the plan's {} parameters with its {} tensors{}{}", loaded_.set,
                                  loaded_.parameters, values_.size(), listed("missing", missing_, "'{}'"),
                                  listed("of another type", unfit_, "{}")),
                      hint()};
  }
  const NamedLiterals& fitting() const { return fitting_; }
  /// Of a file that has more than the graph needs, such as a checkpoint that is read by an evaluation.
  Diagnostics withPartialHint(Diagnostics errors) const {
    if (loaded_.set == loaded_.parameters && loaded_.set > 0) {
      errors.front().hint = "take those that the graph has: --partial (WeightOptions::partial)";
    }
    return errors;
  }

 private:
  static std::string listed(std::string_view what, const std::vector<std::string>& names, const char* form) {
    std::vector<std::string> shown;
    for (size_t i = 0; i < std::min(names.size(), shownNames); ++i) {
      shown.push_back(fmt::format(fmt::runtime(form), names[i]));
    }
    return names.empty() ? ""
                         : fmt::format("; {} {}: {}{}", names.size(), what, fmt::join(shown, ", "),
                                       names.size() > shownNames ? ", …" : "");
  }

  std::string hint() const {
    std::vector<std::string> names, pairs;
    for (const auto& [name, value] : values_) {
      names.push_back(name);
    }
    for (const std::string& parameter : missing_) {
      if (const auto near = likelyName(parameter, names); near && pairs.size() < shownNames) {
        pairs.push_back(fmt::format("'{}' may be its '{}'", parameter, *near));
      }
    }
    const std::string way = unfit_.empty()
                                ? "give rules (--rename): PATTERN -> NAME"
                                : "give rules (--rename) that transpose, cast or drop what is of another "
                                  "type";
    return pairs.empty() ? way : fmt::format("{}; {}", fmt::join(pairs, ", "), way);
  }

  const NamedLiterals& values_;
  std::string file_;
  NamedLiterals fitting_;
  std::vector<std::string> missing_, unfit_;
  LoadedWeights loaded_;
};

} // namespace

Result<LoadedWeights> loadWeights(Session& session, const std::string& path, const WeightOptions& options) {
  const auto file = readSafetensors(path);
  if (!file) {
    return file.errors();
  }
  const auto values = options.rules.apply(*file, path);
  if (!values) {
    return values.errors();
  }
  const Matching matching(session, *values, path);
  if (!options.partial) {
    const Status set = setWholeState(session, *values, path);
    return set ? Result(LoadedWeights{matching.fitting().size(), session.parameters().size(), 0})
               : matching.withPartialHint(set.errors());
  }
  auto result = matching.result();
  if (result) {
    if (const Status set = session.setState(matching.fitting()); !set) {
      return set.errors();
    }
  }
  return result;
}

} // namespace dfc
