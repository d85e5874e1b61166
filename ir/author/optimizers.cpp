// Update rules written with the DSL. The ops are said to be written where the optimiser is called; scope and
// pin are the builder's at that place.
#include "ir/author/optimizers.h"
#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace dfc {
namespace {

Builder* builderOf(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.builder() != nullptr) {
      return tensor.builder();
    }
  }
  return nullptr;
}

// Whether a gradient has its parameter's type; broadcasting it silently would train something else.
bool matches(Builder& builder, std::string_view rule, Tensor parameter, Tensor gradient,
             std::source_location where) {
  if (!parameter.valid() || !gradient.valid() || parameter.type() == gradient.type()) {
    return parameter.valid() && gradient.valid();
  }
  builder.report(where,
                 fmt::format("{} of '{}', which is {}, with a gradient of {}", rule,
                             builder.graph().soFar().nameOf(parameter.value()), toString(parameter.type()),
                             toString(gradient.type())),
                 "give the gradients in the order of the parameters");
  return false;
}

bool sameCount(Builder& builder, std::string_view rule, size_t parameters, size_t gradients,
               std::source_location where) {
  if (parameters == gradients) {
    return true;
  }
  builder.report(where, fmt::format("{} of {} parameters with {} gradients", rule, parameters, gradients),
                 "give one gradient for each parameter");
  return false;
}

// What an update rule gives for one parameter: its next value.
using NextValue = std::function<Tensor(Tensor parameter, Tensor gradient)>;

// The next value, or the one before where a condition is there and does not hold.
Tensor kept(Tensor onlyIf, Tensor next, Tensor before) {
  return onlyIf.valid() ? select(onlyIf, next, before) : next;
}

// Runs the rule over all pairs and assigns; a pair that does not match is reported and left out.
std::vector<Tensor> update(std::string_view rule, const std::vector<Tensor>& parameters,
                           const std::vector<Tensor>& gradients, std::source_location where, Tensor onlyIf,
                           const NextValue& nextValue) {
  Builder* builder = builderOf(parameters);
  std::vector<Tensor> results(parameters.size(), Tensor(builder, {}));
  if (builder == nullptr || !sameCount(*builder, rule, parameters.size(), gradients.size(), where)) {
    return results;
  }
  const auto place = builder->at(builder->locate(where));
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (matches(*builder, rule, parameters[i], gradients[i], where)) {
      const std::string name(builder->graph().soFar().nameOf(parameters[i].value()));
      const Tensor next = kept(onlyIf, nextValue(parameters[i], gradients[i]), parameters[i]);
      results[i] = builder->assign(parameters[i], next, where).named(name + ".next");
    }
  }
  return results;
}

// Optimiser state beside a parameter, of its shape.
Tensor stateOf(Tensor parameter, std::string_view what, ElementType element) {
  Builder& builder = *parameter.builder();
  const std::string name = fmt::format("{}.{}", builder.graph().soFar().nameOf(parameter.value()), what);
  return builder.derivedParameter(name, {element, parameter.shape()});
}

Tensor assigned(Tensor state, Tensor next, Tensor onlyIf) {
  state.builder()->assign(state, kept(onlyIf, next, state));
  return next;
}

Tensor castTo(Tensor tensor, ElementType element) {
  return tensor.type().element == element ? tensor : cast(tensor, element);
}

// The element type of Adam's state: a 16-bit float would lose the small second moments.
ElementType stateElement(ElementType element) {
  return element == ElementType::F64 ? element : ElementType::F32;
}

// 1 - beta^t for the present step t, kept as one scalar for each element type.
class BiasCorrections {
 public:
  BiasCorrections(std::string name, double beta, Tensor onlyIf)
      : name_(std::move(name)), beta_(beta), onlyIf_(onlyIf) {}
  Tensor of(Builder& builder, ElementType element) {
    Tensor& correction = corrections_[static_cast<size_t>(element)];
    if (!correction.valid()) {
      const Tensor power = builder.derivedParameter(name_, {element, {}}, constantInit(1));
      correction = 1 - assigned(power, power * beta_, onlyIf_);
    }
    return correction;
  }

 private:
  std::string name_;
  double beta_;
  Tensor onlyIf_;
  std::array<Tensor, allElementTypes.size()> corrections_;
};

bool checkMomentum(const MomentumOptions& options, const std::vector<Tensor>& parameters,
                   std::source_location where) {
  if (options.weightDecay >= 0) {
    return true;
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
    return true;
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

} // namespace

std::vector<Tensor> sgd(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                        double rate, std::source_location where) {
  return update("sgd", parameters, gradients, where, {},
                [&](Tensor weight, Tensor gradient) { return weight - gradient * rate; });
}

std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             double rate, double momentum, std::source_location where) {
  return dfc::momentum(parameters, gradients, MomentumOptions{.rate = rate, .momentum = momentum}, where);
}

std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             const MomentumOptions& options, std::source_location where) {
  if (!checkMomentum(options, parameters, where)) {
    return std::vector<Tensor>(parameters.size(), Tensor(builderOf(parameters), {}));
  }
  return update("momentum", parameters, gradients, where, options.onlyIf, [&](Tensor weight, Tensor given) {
    const Tensor gradient = options.weightDecay == 0 ? given : given + weight * options.weightDecay;
    const Tensor velocity = stateOf(weight, "momentum", weight.type().element);
    return weight - assigned(velocity, velocity * options.momentum + gradient, options.onlyIf) * options.rate;
  });
}

std::vector<Tensor> adam(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const AdamOptions& options, std::source_location where) {
  if (!checkAdam(options, parameters, where)) {
    return std::vector<Tensor>(parameters.size(), Tensor(builderOf(parameters), {}));
  }
  BiasCorrections first("adam.beta1Power", options.beta1, options.onlyIf),
      second("adam.beta2Power", options.beta2, options.onlyIf);
  return update("adam", parameters, gradients, where, options.onlyIf, [&](Tensor weight, Tensor given) {
    const ElementType element = stateElement(weight.type().element);
    const Tensor gradient = castTo(given, element);
    const Tensor m = stateOf(weight, "adamM", element), v = stateOf(weight, "adamV", element);
    const Tensor nextM = assigned(m, m * options.beta1 + gradient * (1 - options.beta1), options.onlyIf);
    const Tensor nextV =
        assigned(v, v * options.beta2 + gradient * gradient * (1 - options.beta2), options.onlyIf);
    const Tensor meanM = nextM / first.of(*weight.builder(), element);
    const Tensor meanV = nextV / second.of(*weight.builder(), element);
    const Tensor step = meanM * options.rate / (sqrt(meanV) + options.epsilon);
    const Tensor from = castTo(weight, element);
    const Tensor kept = options.weightDecay == 0 ? from : from * (1 - options.rate * options.weightDecay);
    return castTo(kept - step, weight.type().element);
  });
}

std::vector<Tensor> clipByGlobalNorm(const std::vector<Tensor>& gradients, double most,
                                     std::source_location where) {
  Builder* builder = builderOf(gradients);
  if (builder == nullptr) {
    return gradients;
  }
  if (!(most > 0)) {
    builder->report(where, fmt::format("gradients clipped to a norm of {}", most), "give a norm above 0");
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
  const Tensor factor = min(most / sqrt(sum), 1); // infinite, so 1, where all are 0
  std::vector<Tensor> clipped;
  for (const Tensor& gradient : gradients) {
    clipped.push_back(gradient.valid() ? gradient * castTo(factor, gradient.type().element) : gradient);
  }
  return clipped;
}

} // namespace dfc
