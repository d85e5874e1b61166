// Weights of a file, of another session or in memory, by one rule. Few names in common are a mistake in the
// rules more often than a wish.
#include "runtime/weights/load_weights.h"

#include "runtime/files/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t shownNames = 3;

/// Where values come from, and the words of errors about them.
struct Source {
  std::string file;                  ///< where errors are; empty for values in memory
  std::string subject;               ///< before an error's message; empty for a file, which its place names
  std::string rules, partial, whole; ///< how options are given, and the way to values of all parameters
};

Source fileSource(const std::string& path) {
  return {path, "", "rules (--rename)", "--partial (WeightOptions::partial)",
          "use a file that was saved from this graph"};
}

Source memorySource(const std::string& subject) {
  return {"", subject + " ", "rules (WeightOptions::rules)", "partial (WeightOptions::partial)",
          "give all parameters' values, or take those that there are: partial (WeightOptions::partial)"};
}

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
  Matching(const Session& session, const NamedLiterals& values, Source source)
      : values_(values), source_(std::move(source)) {
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
                      {source_.file},
                      fmt::format("{}fits {} of the plan's {} parameters with its {} tensors{}{}",
                                  source_.subject, loaded_.set, loaded_.parameters, values_.size(),
                                  listed("missing", missing_, "'{}'"),
                                  listed("of another type", unfit_, "{}")),
                      hint()};
  }
  const NamedLiterals& fitting() const { return fitting_; }
  /// Of a file that has more than the graph needs, such as a checkpoint that is read by an evaluation.
  Diagnostics withPartialHint(Diagnostics errors) const {
    if (loaded_.set == loaded_.parameters && loaded_.set > 0) {
      errors.front().hint = "take those that the graph has: " + source_.partial;
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
    const std::string way = fmt::format(
        "give {}{}", source_.rules,
        unfit_.empty() ? ": PATTERN -> NAME" : " that transpose, cast or drop what is of another type");
    return pairs.empty() ? way : fmt::format("{}; {}", fmt::join(pairs, ", "), way);
  }

  const NamedLiterals& values_;
  Source source_;
  NamedLiterals fitting_;
  std::vector<std::string> missing_, unfit_;
  LoadedWeights loaded_;
};

/// Errors of values that fit and that the session refuses all the same are of their source, too.
Status setFitting(Session& session, const NamedLiterals& values, const Source& source) {
  Diagnostics errors = session.setState(values).errors();
  for (Diagnostic& error : errors) {
    error.where.file = source.file;
  }
  return errors.empty() ? success() : Status(std::move(errors));
}

/// Sets a value for each parameter, and no other.
Result<LoadedWeights> setWhole(Session& session, const NamedLiterals& values, const Matching& matching,
                               const Source& source) {
  Diagnostics errors = session.checkWholeState(values);
  if (errors.empty()) {
    const Status set = setFitting(session, values, source);
    return set ? Result(LoadedWeights{matching.fitting().size(), session.parameters().size(), 0})
               : set.errors();
  }
  for (Diagnostic& error : errors) {
    error.where.file = source.file;
    error.message = source.subject + error.message;
    error.hint = source.whole;
  }
  return matching.withPartialHint(std::move(errors));
}

Result<LoadedWeights> setValues(Session& session, const NamedLiterals& given, const WeightOptions& options,
                                const Source& source) {
  const auto values = options.rules.apply(given, source.file);
  if (!values) {
    return values.errors();
  }
  const Matching matching(session, *values, source);
  if (!options.partial) {
    return setWhole(session, *values, matching, source);
  }
  auto result = matching.result();
  if (result) {
    if (const Status set = setFitting(session, matching.fitting(), source); !set) {
      return set.errors();
    }
  }
  return result;
}

} // namespace

Result<LoadedWeights> loadWeights(Session& session, const std::string& path, const WeightOptions& options) {
  const auto file = readSafetensors(path);
  return file ? setValues(session, *file, options, fileSource(path)) : file.errors();
}

Result<LoadedWeights> setWeights(Session& session, const NamedLiterals& values,
                                 const WeightOptions& options) {
  return setValues(session, values, options, memorySource("the state given"));
}

Result<LoadedWeights> copyState(Session& from, Session& to, const WeightOptions& options) {
  return setValues(to, from.state(), options, memorySource("the other session's state"));
}

} // namespace dfc
