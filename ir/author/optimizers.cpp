// Update rules written with the DSL. The ops are said to be written where the optimiser is called; scope and
// pin are the builder's at that place.
#include "ir/author/optimizers.h"

#include "ir/author/optimizer_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dfc {
namespace {

// 1 - beta^t for the present step t, kept as one scalar for each element type.
class BiasCorrections {
 public:
  BiasCorrections(std::string name, double beta, Tensor onlyIf)
      : name_(std::move(name)), beta_(beta), onlyIf_(onlyIf) {}
  Tensor of(Builder& builder, ElementType element) {
    Tensor& correction = corrections_[static_cast<size_t>(element)];
    if (!correction.valid()) {
      const Tensor power = builder.derivedParameter(name_, {element, {}}, constantInit(1));
      correction = 1 - assignedState(power, power * beta_, onlyIf_);
    }
    return correction;
  }

 private:
  std::string name_;
  double beta_;
  Tensor onlyIf_;
  std::array<Tensor, allElementTypes.size()> corrections_;
};

// One for each parameter, after a mistake.
std::vector<Tensor> poisoned(const std::vector<Tensor>& parameters) {
  return std::vector<Tensor>(parameters.size(), Tensor(builderOf(parameters), {}));
}

// The weight less rate * decay of it.
Tensor decayed(Tensor weight, const Operand& rate, double decay) {
  if (decay == 0) {
    return weight;
  }
  return rate.number() != nullptr ? weight * (1 - *rate.number() * decay)
                                  : weight * (1 - *rate.tensor() * decay);
}

bool checkMomentum(const MomentumOptions& options, const std::vector<Tensor>& parameters,
                   std::source_location where) {
  if (options.weightDecay >= 0) {
    return isRate(builderOf(parameters), "momentum", options.rate, where);
  }
  if (Builder* builder = builderOf(parameters)) {
    builder->report(where, fmt::format("momentum with a weight decay of {}", options.weightDecay),
                    "give a weight decay of 0 or more");
  }
  return false;
}

bool checkAdam(const AdamOptions& options, const std::vector<Tensor>& parameters,
               std::source_location where) {
  const auto isDecay = [](double beta) { return beta >= 0 && beta < 1; };
  if (isDecay(options.beta1) && isDecay(options.beta2) && options.epsilon > 0 && options.weightDecay >= 0) {
    return isRate(builderOf(parameters), "adam", options.rate, where);
  }
  if (Builder* builder = builderOf(parameters)) {
    builder->report(
        where,
        fmt::format("adam with beta1 {}, beta2 {}, epsilon {}, weight decay {}", options.beta1, options.beta2,
                    options.epsilon, options.weightDecay),
        "give 0 <= beta1 < 1, 0 <= beta2 < 1, an epsilon above 0 and a weight decay of 0 or more");
  }
  return false;
}

bool checkLion(const LionOptions& options, const std::vector<Tensor>& parameters,
               std::source_location where) {
  const auto isDecay = [](double beta) { return beta >= 0 && beta < 1; };
  if (isDecay(options.beta1) && isDecay(options.beta2) && options.weightDecay >= 0) {
    return isRate(builderOf(parameters), "lion", options.rate, where);
  }
  if (Builder* builder = builderOf(parameters)) {
    builder->report(where,
                    fmt::format("lion with beta1 {}, beta2 {}, weight decay {}", options.beta1, options.beta2,
                                options.weightDecay),
                    "give 0 <= beta1 < 1, 0 <= beta2 < 1 and a weight decay of 0 or more");
  }
  return false;
}

} // namespace

std::vector<Tensor> sgd(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                        Operand rate, std::source_location where) {
  if (!isRate(builderOf(parameters), "sgd", rate, where)) {
    return poisoned(parameters);
  }
  return updateAll("sgd", parameters, gradients, where, {}, [&](Tensor weight, Tensor gradient) {
    return weight - gradient * scalarIn(rate, weight.type().element);
  });
}

std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             Operand rate, double momentum, std::source_location where) {
  return dfc::momentum(parameters, gradients, MomentumOptions{.rate = rate, .momentum = momentum}, where);
}

std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             const MomentumOptions& options, std::source_location where) {
  if (!checkMomentum(options, parameters, where)) {
    return poisoned(parameters);
  }
  return updateAll(
      "momentum", parameters, gradients, where, options.onlyIf, [&](Tensor weight, Tensor given) {
        const double decay = decayOf(weight, options.weightDecay, options.noDecay);
        const Tensor gradient = decay == 0 ? given : given + weight * decay;
        const Tensor velocity = stateBeside(weight, "momentum", weight.type());
        const Tensor next = assignedState(velocity, velocity * options.momentum + gradient, options.onlyIf);
        const Tensor direction = options.nesterov ? gradient + next * options.momentum : next;
        return weight - direction * scalarIn(options.rate, weight.type().element);
      });
}

std::vector<Tensor> adam(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const AdamOptions& options, std::source_location where) {
  if (!checkAdam(options, parameters, where)) {
    return poisoned(parameters);
  }
  BiasCorrections first("adam.beta1Power", options.beta1, options.onlyIf),
      second("adam.beta2Power", options.beta2, options.onlyIf);
  return updateAll("adam", parameters, gradients, where, options.onlyIf, [&](Tensor weight, Tensor given) {
    const ElementType element = stateElement(weight.type().element);
    const TensorType type{element, weight.shape()};
    const Tensor gradient = castTo(given, element);
    const Tensor m = stateBeside(weight, "adamM", type), v = stateBeside(weight, "adamV", type);
    const Tensor nextM = assignedState(m, m * options.beta1 + gradient * (1 - options.beta1), options.onlyIf);
    const Tensor nextV =
        assignedState(v, v * options.beta2 + gradient * gradient * (1 - options.beta2), options.onlyIf);
    const Tensor meanM = nextM / first.of(*weight.builder(), element);
    const Tensor meanV = nextV / second.of(*weight.builder(), element);
    const Operand rate = scalarIn(options.rate, element);
    const Tensor step = meanM * rate / (sqrt(meanV) + options.epsilon);
    const Tensor from = castTo(weight, element);
    const double decay = decayOf(weight, options.weightDecay, options.noDecay);
    return castTo(decayed(from, rate, decay) - step, weight.type().element);
  });
}

std::vector<Tensor> lion(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const LionOptions& options, std::source_location where) {
  if (!checkLion(options, parameters, where)) {
    return poisoned(parameters);
  }
  return updateAll("lion", parameters, gradients, where, options.onlyIf, [&](Tensor weight, Tensor given) {
    const ElementType element = stateElement(weight.type().element);
    const Tensor gradient = castTo(given, element), from = castTo(weight, element);
    const Tensor m = stateBeside(weight, "lionM", {element, weight.shape()});
    const Tensor direction = sign(m * options.beta1 + gradient * (1 - options.beta1));
    assignedState(m, m * options.beta2 + gradient * (1 - options.beta2), options.onlyIf);
    const Operand rate = scalarIn(options.rate, element);
    const double decay = decayOf(weight, options.weightDecay, options.noDecay);
    return castTo(decayed(from, rate, decay) - direction * rate, weight.type().element);
  });
}

std::vector<Tensor> clipByGlobalNorm(const std::vector<Tensor>& gradients, Operand most,
                                     std::source_location where) {
  Builder* builder = builderOf(gradients);
  if (builder == nullptr) {
    return gradients;
  }
  if (most.number() != nullptr && !(*most.number() > 0)) {
    builder->report(where, fmt::format("gradients clipped to a norm of {}", *most.number()),
                    "give a norm above 0");
    return gradients;
  }
  if (most.number() == nullptr && !isRate(builder, "clipByGlobalNorm", most, where)) {
    return gradients;
  }
  const auto place = builder->at(builder->locate(where));
  const bool wide = std::any_of(gradients.begin(), gradients.end(), [](const Tensor& gradient) {
    return gradient.valid() && gradient.type().element == ElementType::F64;
  });
  const ElementType element = wide ? ElementType::F64 : ElementType::F32;
  Tensor sum;
  for (const Tensor& gradient : gradients) {
    if (gradient.valid()) {
      const Tensor own = castTo(gradient, element);
      const Tensor squares = reduceSum(own * own);
      sum = sum.valid() ? sum + squares : squares;
    }
  }
  if (!sum.valid()) {
    return gradients;
  }
  const Tensor factor = min(scalarIn(most, element) / sqrt(sum), 1); // infinite, so 1, where all are 0
  std::vector<Tensor> clipped;
  for (const Tensor& gradient : gradients) {
    clipped.push_back(gradient.valid() ? gradient * castTo(factor, gradient.type().element) : gradient);
  }
  return clipped;
}

} // namespace dfc
