// B3's results: the parameters after some steps against the same steps in f64 on the CPU, from the same first
// values. What is compared is the way that each parameter has gone: its value would hide a wrong gradient.
//
// A wrong gradient is wrong by its own length. Rounding alone does less, but more than the last digits: where
// a ReLU's argument is within rounding of 0, one side lets the sample through and the other does not. In f32
// that is one activation in a million, in tf32 one in a thousand, and the error of a sum of n gradients of
// which a share s is missing is about sqrt(s): hence the limits of 0.01 and 0.1.
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

/// |ours - theirs| over |theirs - start|, by the Euclidean norm.
double relativeError(const Literal& ours, const Literal& theirs, const Literal& start) {
  double error = 0, moved = 0;
  for (int64_t i = 0; i < theirs.type().shape.elements(); ++i) {
    error += std::pow(ours.at(i) - theirs.at(i), 2);
    moved += std::pow(theirs.at(i) - start.at(i), 2);
  }
  return moved > 0 ? std::sqrt(error / moved) : std::sqrt(error);
}

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
    spec.rate = 0.1; // large steps, so that the weights move by more than the last digits
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
    double worst = 0;
    for (const auto& [name, value] : ours.end) {
      worst = std::max(worst, relativeError(value, theirs->at(plainName(name)), ours.start.at(name)));
    }
    row.checks.push_back({"f64 on the CPU", worst, tf32 ? 0.1 : 0.01, std::nullopt, true});
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
    spec.owner = stage.machine().devices[stage.machine().host()].name;
    check(stage, "B3/results/figure/" + precision, "B3's parameters, updated on the CPU, " + precision, spec,
          tf32);
  }
}

} // namespace dfc::bench
