// B3's results: the parameters after some steps against the same steps in f64 on the CPU, from the same first
// values. What is compared is the way that each parameter has gone: its value would hide a wrong gradient.
//
// A wrong gradient is wrong by its own length. Rounding does less, but more than the last digits, and in few
// places: where a ReLU's argument is within rounding of 0, one side lets the sample through and the other
// does not, and all weights of that unit go another way. (Seen with seed 100: one unit of 2048 in the first
// step, by a fifth of its way.) So the error that 99 % of the elements keep below has a tight limit, and the
// error of all together a loose one. In tf32, with 11 bits for 24, both are larger.
#include "tools/bench/experiments/training.h"

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

/// Errors of a parameter's way, relative to its length for each element (root mean square).
struct Errors {
  double most99 = 0; ///< 99 % of the elements have at most this
  double all = 0;    ///< root mean square
};

Errors errorsOf(const Literal& ours, const Literal& theirs, const Literal& start) {
  const auto count = static_cast<size_t>(theirs.type().shape.elements());
  std::vector<double> errors(count);
  double squares = 0, moved = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    errors[i] = std::abs(ours.at(at) - theirs.at(at));
    squares += errors[i] * errors[i];
    moved += std::pow(theirs.at(at) - start.at(at), 2);
  }
  if (moved == 0 || std::isnan(squares)) { // the batch must not move
    return {squares, squares};
  }
  const auto last = errors.begin() + static_cast<std::ptrdiff_t>((count * 99 + 99) / 100 - 1);
  std::nth_element(errors.begin(), last, errors.end());
  return {*last / std::sqrt(moved / static_cast<double>(count)), std::sqrt(squares / moved)};
}

/// NaN counts as the worst.
double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

struct Course {
  NamedLiterals start, end;
};

Course runSteps(const Prepared& act) {
  Course course;
  course.start = act.session->state();
  for (int i = 0; i < steps; ++i) {
    act.step();
  }
  course.end = act.session->state();
  return course;
}

/// The name in a net whose weights have one owner: "w1@gpu1" is "w1".
std::string plainName(const std::string& name) { return name.substr(0, name.find('@')); }

Result<NamedLiterals> reference(Stage& stage, NetSpec spec, const NamedLiterals& start) {
  const std::string& host = stage.machine().devices[stage.machine().host()].name;
  spec.element = ElementType::F64;
  std::fill(spec.workers.begin(), spec.workers.end(), host);
  spec.owner = host;
  const auto act = stage.prepare(trainingStep(spec));
  if (!act) {
    return act.errors();
  }
  NamedLiterals plain;
  for (const auto& [name, value] : start) {
    plain[plainName(name)] = inDouble(value);
  }
  if (const Status set = act->session->setState(plain); !set) {
    return set.errors();
  }
  return runSteps(*act).end;
}

void check(Stage& stage, const std::string& key, const std::string& what, NetSpec spec, bool tf32) {
  if (!stage.wants(key)) {
    return;
  }
  stage.attempt(key, what, [&](Row& row) -> Status {
    spec.batch = 32;
    spec.rate = 0.01; // so that the weights move by more than the last digits
    Variation variation;
    variation.tf32 = tf32;
    const auto act = stage.prepare(trainingStep(spec), variation);
    if (!act) {
      return act.errors();
    }
    const Course ours = runSteps(*act);
    const auto theirs = reference(stage, spec, ours.start);
    if (!theirs) {
      return theirs.errors();
    }
    Errors worst;
    for (const auto& [name, value] : ours.end) {
      const Errors errors = errorsOf(value, theirs->at(plainName(name)), ours.start.at(name));
      worst = {worse(worst.most99, errors.most99), worse(worst.all, errors.all)};
    }
    row.checks.push_back(
        {"f64 on the CPU, 99 % of elements", worst.most99, tf32 ? 0.1 : 1e-3, std::nullopt, true});
    row.checks.push_back({"f64 on the CPU, all elements", worst.all, tf32 ? 0.5 : 0.1, std::nullopt, true});
    row.notes.push_back(
        fmt::format("error of the worst parameter's way over {} steps, relative to its length", steps));
    return success();
  });
}

} // namespace

void trainingResults(Stage& stage) {
  if (stage.gpus().empty()) {
    return stage.lacking("B3/results", "B3's results", "the machine has no GPU");
  }
  for (const std::string& precision : stage.precisions()) {
    const bool tf32 = precision == "tf32";
    NetSpec spec;
    spec.workers = {stage.gpus()[0]};
    spec.owner = stage.gpus()[0];
    check(stage, "B3/results/1gpu/" + precision, "B3's parameters, one GPU, " + precision, spec, tf32);
    if (stage.gpus().size() < 2) {
      continue;
    }
    spec.workers = {stage.gpus()[0], stage.gpus()[1]};
    check(stage, "B3/results/2gpu/" + precision, "B3's parameters, two GPUs, " + precision, spec, tf32);
    spec.owner = "";
    check(stage, "B3/results/2gpu-exchange/" + precision,
          "B3's parameters, two GPUs that exchange gradients, " + precision, spec, tf32);
    for (const auto& [form, name] :
         {std::pair(AllReduce::Scatter, "scatter"), std::pair(AllReduce::Ring, "ring")}) {
      NetSpec all = spec;
      all.workers = stage.gpus();
      all.reduction = form;
      check(stage, fmt::format("B3/results/all-{}/{}", name, precision),
            fmt::format("B3's parameters, all GPUs, gradients by {}, {}", name, precision), all, tf32);
    }
    spec.owner = stage.machine().devices[stage.machine().host()].name;
    check(stage, "B3/results/figure/" + precision, "B3's parameters, updated on the CPU, " + precision, spec,
          tf32);
  }
}

} // namespace dfc::bench
