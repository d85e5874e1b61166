// See training_faults.h.
#include "runtime/training/training_faults.h"

#include "runtime/finite/finite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace dfc {
namespace {

void addErrors(Diagnostics& errors, const Diagnostics& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

/// Names that people can read: the first few.
std::string someOf(const std::vector<std::string>& names) {
  constexpr size_t shown = 5;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + std::ptrdiff_t(std::min(shown, names.size())));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > shown ? ", …" : "");
}

/// An evaluation that changes weights would train on the data that it is to judge them by.
Diagnostics changedByEvaluation(const Session& evaluation) {
  std::vector<std::string> changed;
  for (const Session::Parameter& parameter : evaluation.parameters()) {
    if (parameter.assigned && isFloat(parameter.type.element)) {
      changed.push_back(fmt::format("'{}'", parameter.name));
    }
  }
  if (changed.empty()) {
    return {};
  }
  return {errorWithoutPlace(
      fmt::format("the graph of the evaluation changes {} of its parameters: {}: it would train on the data "
                  "that is to judge the training",
                  changed.size(), someOf(changed)),
      "give a graph without updates, whose batch norms take the running statistics")};
}

/// Every parameter of the evaluation must be one of the training, of the same type.
Diagnostics evaluationFaults(const Session& training, const Session& evaluation) {
  std::map<std::string, TensorType> known;
  for (const Session::Parameter& parameter : training.parameters()) {
    known.emplace(parameter.name, parameter.type);
  }
  std::vector<std::string> missing;
  for (const Session::Parameter& parameter : evaluation.parameters()) {
    const auto found = known.find(parameter.name);
    if (found == known.end()) {
      missing.push_back(fmt::format("'{}'", parameter.name));
    } else if (found->second != parameter.type) {
      missing.push_back(fmt::format("'{}' ({}, not {})", parameter.name, toString(found->second),
                                    toString(parameter.type)));
    }
  }
  if (missing.empty()) {
    return {};
  }
  return {errorWithoutPlace(
      fmt::format("the graph that is trained lacks {} of the evaluation's {} parameters: {}", missing.size(),
                  evaluation.parameters().size(), someOf(missing)),
      "give the parameters of both graphs the same names and types")};
}

Diagnostics bestFaults(const TrainingOptions& options) {
  if (options.best.empty()) {
    return {};
  }
  if (options.evaluation.session == nullptr) {
    return {errorWithoutPlace("the best checkpoint is asked for, but there is no evaluation",
                              "give a graph to evaluate by: the loss of a single batch says little")};
  }
  const auto names = scalarFetches(*options.evaluation.session);
  if (std::find(names.begin(), names.end(), options.bestBy) != names.end()) {
    return {};
  }
  const auto near = nearestName(options.bestBy, names);
  return {errorWithoutPlace(
      fmt::format("the best checkpoint is to go by '{}', which is no scalar fetch of the evaluation",
                  options.bestBy),
      near ? fmt::format("did you mean '{}'?", *near)
           : fmt::format("its scalar fetches: {}", fmt::join(names, ", ")))};
}

Diagnostics numberFaults(const TrainingOptions& options) {
  if (options.steps >= 0 && options.stepsPerEpoch > 0 && options.checkpointEvery >= 0 &&
      options.evaluation.every >= 0 && options.evaluation.batches > 0) {
    return {};
  }
  return {errorWithoutPlace("a training with a number of steps or batches out of range",
                            "give 0 or more steps, and at least 1 step an epoch and 1 batch an evaluation")};
}

Diagnostics refusedRows(const Session& session, const Batches* data) {
  return data == nullptr
             ? Diagnostics()
             : session.refusedRows(data->columns(), data->batch(), /*anyOrder=*/data->seed().has_value());
}

std::string orderText(int64_t stepsPerEpoch, const std::optional<uint64_t>& seed) {
  return fmt::format("{} steps an epoch, {}", stepsPerEpoch,
                     seed ? fmt::format("shuffled by seed {}", *seed) : std::string("not shuffled"));
}

constexpr const char* nanHint =
    "a check of finite values (--check-finite, SessionOptions::checkFinite) names the op "
    "where NaN begins; a smaller rate or clipped gradients may avoid it";

const NamedLiterals::value_type* scalarNotFinite(const NamedLiterals& results) {
  const auto found = std::find_if(results.begin(), results.end(), [](const auto& result) {
    return result.second.type().shape.elements() == 1 &&
           !isFinite(result.second.type(), result.second.bytes());
  });
  return found == results.end() ? nullptr : &*found;
}

} // namespace

std::vector<std::string> scalarFetches(const Session& session) {
  std::vector<std::string> names;
  for (const auto& [name, type] : session.fetches()) {
    if (type.shape.elements() == 1) {
      names.push_back(name);
    }
  }
  return names;
}

Diagnostics optionFaults(const Session& training, const TrainingOptions& options) {
  Diagnostics errors = numberFaults(options);
  addErrors(errors, refusedRows(training, options.data));
  if (options.evaluation.session != nullptr) {
    addErrors(errors, evaluationFaults(training, *options.evaluation.session));
    addErrors(errors, changedByEvaluation(*options.evaluation.session));
    addErrors(errors, refusedRows(*options.evaluation.session, options.evaluation.data));
  }
  addErrors(errors, bestFaults(options));
  return errors;
}

Diagnostics orderFaults(const TrainingState& saved, const TrainingOptions& options) {
  if (saved.stepsPerEpoch == options.stepsPerEpoch && saved.shuffleSeed == options.shuffleSeed) {
    return {};
  }
  return {{Severity::Error,
           {options.resume},
           fmt::format("was trained with another order of the rows: {}; now: {}",
                       orderText(saved.stepsPerEpoch, saved.shuffleSeed),
                       orderText(options.stepsPerEpoch, options.shuffleSeed)),
           "resume with the data, the batches and the seed of before, or start from its parameters alone"}};
}

Diagnostics nanFaults(const NamedLiterals& parameters, const std::string& checkpoint, int64_t step) {
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) {
    if (!isFinite(value.type(), value.bytes()) && rangeOf(value.type(), value.bytes()).nans > 0) {
      names.push_back(fmt::format("'{}'", name));
    }
  }
  if (names.empty()) {
    return {};
  }
  return {{Severity::Error,
           {checkpoint},
           fmt::format("{}: {} of {} parameters hold NaN behind step {}: {}",
                       checkpoint.empty() ? "the training has failed" : "is left as it was", names.size(),
                       parameters.size(), step, someOf(names)),
           nanHint}};
}

std::optional<Diagnostic> scalarFault(const NamedLiterals& results, int64_t step) {
  const auto* result = scalarNotFinite(results);
  if (result == nullptr) {
    return std::nullopt;
  }
  return errorWithoutPlace(fmt::format("fetch '{}' is {} in the last step, {}", result->first,
                                       std::isnan(result->second.at(0)) ? "NaN" : "infinite", step),
                           nanHint);
}

bool changesFloats(const Session& session) {
  const auto parameters = session.parameters();
  return std::any_of(parameters.begin(), parameters.end(), [](const Session::Parameter& parameter) {
    return parameter.assigned && isFloat(parameter.type.element);
  });
}

} // namespace dfc
