// Adafactor: the second moment of a matrix from the means of its rows and of its columns.
#include "ir/author/optimizer_parts.h"

#include <fmt/format.h>

namespace dfc {
namespace {

class Adafactor {
 public:
  Adafactor(const AdafactorOptions& options, Builder& g) : options_(options) {
    const Tensor steps = g.derivedParameter("adafactor.steps", i64({}));
    const Tensor now = assignedState(steps, steps + 1, options.onlyIf);
    decay_ = 1 - pow(cast(now, ElementType::F64), -options.decayExponent);
  }

  Tensor next(Tensor weight, Tensor given) {
    const ElementType element = stateElement(weight.type().element);
    const Tensor from = castTo(weight, element), gradient = castTo(given, element);
    const Tensor direction = clipped(gradient / rootOfMoment(weight, gradient));
    const Operand rate = scalarIn(options_.rate, element);
    Tensor step = direction * rate;
    if (options_.scaleByParameter) {
      step = step * max(rootMeanSquare(from), options_.epsilon2);
    }
    const double decay = decayOf(weight, options_.weightDecay, options_.noDecay);
    const Tensor kept = decay == 0 ? from : from - from * rate * decay;
    return castTo(kept - step, weight.type().element);
  }

 private:
  Tensor rootOfMoment(Tensor weight, Tensor gradient) {
    const Tensor squares = gradient * gradient + options_.epsilon1;
    if (weight.shape().rank() < 2) {
      return sqrt(moment(weight, "adafactorV", squares));
    }
    const Tensor rows = moment(weight, "adafactorRows", reduceMean(squares, {-1}, true));
    const Tensor columns = moment(weight, "adafactorColumns", reduceMean(squares, {-2}, true));
    return sqrt(rows / reduceMean(rows, {-2}, true)) * sqrt(columns); // in this order none leaves f32
  }

  Tensor moment(Tensor weight, std::string_view what, Tensor now) {
    const Tensor state = stateBeside(weight, what, now.type());
    const Tensor decay = castTo(decay_, now.type().element);
    return assignedState(state, state * decay + now * (1 - decay), options_.onlyIf);
  }

  Tensor clipped(Tensor update) const { return update / max(rootMeanSquare(update) / options_.clip, 1); }
  static Tensor rootMeanSquare(Tensor a) { return sqrt(reduceMean(a * a)); }

  const AdafactorOptions& options_;
  Tensor decay_; // of the second moment at this step
};

bool areFine(const AdafactorOptions& options, Builder& g, std::source_location where) {
  if (options.decayExponent > 0 && options.epsilon1 > 0 && options.epsilon2 >= 0 && options.clip > 0 &&
      options.weightDecay >= 0) {
    return isRate(&g, "adafactor", options.rate, where);
  }
  g.report(where,
           fmt::format(
               "adafactor with a decay exponent of {}, epsilons of {} and {}, clip {}, weight decay {}",
               options.decayExponent, options.epsilon1, options.epsilon2, options.clip, options.weightDecay),
           "give a decay exponent, a first epsilon and a clip above 0, the others 0 or more");
  return false;
}

} // namespace

std::vector<Tensor> adafactor(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                              const AdafactorOptions& options, std::source_location where) {
  Builder* builder = builderOf(parameters);
  if (builder == nullptr || !areFine(options, *builder, where)) {
    return std::vector<Tensor>(parameters.size(), Tensor(builder, {}));
  }
  const auto place = builder->at(builder->locate(where));
  Adafactor rule(options, *builder);
  return updateAll("adafactor", parameters, gradients, where, options.onlyIf,
                   [&](Tensor weight, Tensor gradient) { return rule.next(weight, gradient); });
}

} // namespace dfc
