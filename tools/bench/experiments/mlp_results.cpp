// The MLP's parameters after some steps against the same steps in f64 on the CPU, from the same initial
// values. The change of each parameter is compared, not its value, which would hide a wrong gradient.
//
// Tolerances: a wrong gradient has an error of its own length. Rounding causes less, but in few places more
// than the last digits: where a ReLU's argument is within rounding of 0, one side passes the sample and the
// other does not, and all weights of that unit change differently. So the error that 99 % of the elements
// stay below has a tight limit, and the error of all elements together a loose one. Both are larger in tf32,
// which has 11 bits of precision in place of 24.
#include "tools/bench/experiments/mlp_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::bench {
namespace {

constexpr int steps = 4;

Literal inDouble(const Literal& value) {
  Literal result({ElementType::F64, value.type().shape});
  const auto elements = result.mutableData<double>();
  for (size_t i = 0; i < elements.size(); ++i) {
    elements[i] = value.at(static_cast<int64_t>(i));
  }
  return result;
}

/// Errors of a parameter's change, relative to the root mean square of the change of an element.
struct Errors {
  double most99 = 0; ///< 99 % of the elements have at most this
  double all = 0;    ///< root mean square
};

Errors errorsOf(const Literal& actual, const Literal& expected, const Literal& start) {
  const auto count = static_cast<size_t>(expected.type().shape.elements());
  std::vector<double> errors(count);
  double squares = 0, moved = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    errors[i] = std::abs(actual.at(at) - expected.at(at));
    squares += errors[i] * errors[i];
    moved += std::pow(expected.at(at) - start.at(at), 2);
  }
  if (moved == 0 || std::isnan(squares)) { // the batch, a parameter too, must not change
    return {squares, squares};
  }
  const auto last = errors.begin() + static_cast<std::ptrdiff_t>((count * 99 + 99) / 100 - 1);
  std::nth_element(errors.begin(), last, errors.end());
  return {*last / std::sqrt(moved / static_cast<double>(count)), std::sqrt(squares / moved)};
}

/// The larger error; NaN counts as the largest.
double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

struct Trajectory {
  NamedLiterals start, end;
};

Trajectory runSteps(const Prepared& prepared) {
  Trajectory course;
  course.start = prepared.session->state();
  for (int i = 0; i < steps; ++i) {
    prepared.step();
  }
  course.end = prepared.session->state();
  return course;
}

/// The name of the parameter in a graph where it has one owner: "w1" for "w1@gpu1".
std::string plainName(const std::string& name) { return name.substr(0, name.find('@')); }

Result<NamedLiterals> reference(Harness& harness, MlpSpec spec, const NamedLiterals& start) {
  const std::string& host = harness.machine().devices[harness.machine().host()].name;
  spec.element = ElementType::F64;
  std::fill(spec.workers.begin(), spec.workers.end(), host);
  spec.owner = host;
  const auto prepared = harness.prepare(trainingStep(spec));
  if (!prepared) {
    return prepared.errors();
  }
  NamedLiterals plain;
  for (const auto& [name, value] : start) {
    plain[plainName(name)] = inDouble(value);
  }
  if (const Status set = prepared->session->setState(plain); !set) {
    return set.errors();
  }
  return runSteps(*prepared).end;
}

void check(Harness& harness, const std::string& key, const std::string& description, MlpSpec spec,
           bool tf32) {
  if (!harness.wants(key)) {
    return;
  }
  harness.attempt(key, description, [&](Row& row) -> Status {
    spec.batch = 32;
    spec.rate = 0.01; // so that the weights move by more than the last digits
    Variation variation;
    variation.precision = tf32 ? Precision::Tf32 : Precision::Ieee;
    const auto prepared = harness.prepare(trainingStep(spec), variation);
    if (!prepared) {
      return prepared.errors();
    }
    const Trajectory actual = runSteps(*prepared);
    const auto expected = reference(harness, spec, actual.start);
    if (!expected) {
      return expected.errors();
    }
    Errors worst;
    for (const auto& [name, value] : actual.end) {
      const Errors errors = errorsOf(value, expected->at(plainName(name)), actual.start.at(name));
      worst = {worse(worst.most99, errors.most99), worse(worst.all, errors.all)};
    }
    row.checks.push_back(
        {"f64 on the CPU, 99 % of elements", worst.most99, tf32 ? 0.1 : 1e-3, std::nullopt, true});
    row.checks.push_back({"f64 on the CPU, all elements", worst.all, tf32 ? 0.5 : 0.1, std::nullopt, true});
    row.notes.push_back(
        fmt::format("error of the worst parameter's change over {} steps, relative to that change", steps));
    return success();
  });
}

} // namespace

void mlpResults(Harness& harness) {
  if (harness.gpus().empty()) {
    return harness.lacking("mlp_results", "the MLP's parameters", "the machine has no GPU");
  }
  for (const std::string& precision : harness.precisions()) {
    const bool tf32 = precision == "tf32";
    MlpSpec spec;
    spec.workers = {harness.gpus()[0]};
    spec.owner = harness.gpus()[0];
    check(harness, "mlp_results/1gpu/" + precision, "the MLP's parameters, one GPU, " + precision, spec,
          tf32);
    if (harness.gpus().size() < 2) {
      continue;
    }
    spec.workers = {harness.gpus()[0], harness.gpus()[1]};
    check(harness, "mlp_results/2gpu/" + precision, "the MLP's parameters, two GPUs, " + precision, spec,
          tf32);
    spec.owner = "";
    check(harness, "mlp_results/2gpu-exchange/" + precision,
          "the MLP's parameters, two GPUs that exchange gradients, " + precision, spec, tf32);
    for (const auto& [form, name] :
         {std::pair(AllReduce::Scatter, "scatter"), std::pair(AllReduce::Ring, "ring")}) {
      MlpSpec all = spec;
      all.workers = harness.gpus();
      all.reduction = form;
      check(harness, fmt::format("mlp_results/all-{}/{}", name, precision),
            fmt::format("the MLP's parameters, all GPUs, gradients by {}, {}", name, precision), all, tf32);
    }
    spec.owner = harness.machine().devices[harness.machine().host()].name;
    check(harness, "mlp_results/update_on_cpu/" + precision,
          "the MLP's parameters, updated on the CPU, " + precision, spec, tf32);
  }
}

} // namespace dfc::bench
