// Gradients, update rules, loss scaling, and sums over devices.
#include "ir/author/collectives.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/author/schedules.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Values = std::vector<Value>;
using Args = std::vector<Arg>;

Tensor optional(Call& call, const std::optional<Arg>& argument) {
  return argument && !argument->is_none() ? call.tensor(*argument) : Tensor();
}

using Names = std::vector<std::string>;

/// Sets what every update rule has.
template <class Options>
void setCommon(Options& options, Call& call, const Arg& rate, double weightDecay, const Names& noDecay,
               const std::optional<Arg>& onlyIf) {
  options.rate = call.operand(rate);
  options.weightDecay = weightDecay;
  options.noDecay = noDecay;
  options.onlyIf = optional(call, onlyIf);
}

Values momentumOf(const Args& parameters, const Args& gradients, const Arg& rate, double decay,
                  double weightDecay, bool nesterov, const Names& noDecay, const std::optional<Arg>& onlyIf) {
  Call call(writerOf("momentum", parameters));
  MomentumOptions options;
  setCommon(options, call, rate, weightDecay, noDecay, onlyIf);
  options.momentum = decay;
  options.nesterov = nesterov;
  return call.values(momentum(call.tensors(parameters), call.tensors(gradients), options));
}

Values adamOf(const Args& parameters, const Args& gradients, const Arg& rate, double beta1, double beta2,
              double epsilon, double weightDecay, const Names& noDecay, const std::optional<Arg>& onlyIf) {
  Call call(writerOf("adam", parameters));
  AdamOptions options;
  setCommon(options, call, rate, weightDecay, noDecay, onlyIf);
  options.beta1 = beta1;
  options.beta2 = beta2;
  options.epsilon = epsilon;
  return call.values(adam(call.tensors(parameters), call.tensors(gradients), options));
}

Values lionOf(const Args& parameters, const Args& gradients, const Arg& rate, double beta1, double beta2,
              double weightDecay, const Names& noDecay, const std::optional<Arg>& onlyIf) {
  Call call(writerOf("lion", parameters));
  LionOptions options;
  setCommon(options, call, rate, weightDecay, noDecay, onlyIf);
  options.beta1 = beta1;
  options.beta2 = beta2;
  return call.values(lion(call.tensors(parameters), call.tensors(gradients), options));
}

Values adafactorOf(const Args& parameters, const Args& gradients, const Arg& rate, bool scaleByParameter,
                   double decayExponent, double clip, double weightDecay, const Names& noDecay,
                   const std::optional<Arg>& onlyIf) {
  Call call(writerOf("adafactor", parameters));
  AdafactorOptions options;
  setCommon(options, call, rate, weightDecay, noDecay, onlyIf);
  options.scaleByParameter = scaleByParameter;
  options.decayExponent = decayExponent;
  options.clip = clip;
  return call.values(adafactor(call.tensors(parameters), call.tensors(gradients), options));
}

void bindRules(nb::module_& module) {
  module.def(
      "sgd",
      [](const Args& parameters, const Args& gradients, const Arg& rate) {
        Call call(writerOf("sgd", parameters));
        return call.values(sgd(call.tensors(parameters), call.tensors(gradients), call.operand(rate)));
      },
      "parameters"_a, "gradients"_a, "rate"_a,
      "w <- w - rate * g. rate: a number, or a scalar of the graph. Gives the new weights.");
  module.def(
      "momentum", momentumOf, "parameters"_a, "gradients"_a, "rate"_a = 0.1, "momentum"_a = 0.9,
      nb::kw_only(), "weight_decay"_a = 0.0, "nesterov"_a = false, "no_decay"_a = Names(),
      "only_if"_a = nb::none(),
      "v <- momentum * v + g + weight_decay * w;  w <- w - rate * v (Polyak 1964, as PyTorch's SGD without "
      "dampening). no_decay: patterns of names ('*.bias') without weight decay. only_if: bool of no axes; a "
      "step in which it is false changes nothing. Gives the new weights.");
  module.def(
      "adam", adamOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-3, "beta1"_a = 0.9, "beta2"_a = 0.999,
      nb::kw_only(), "epsilon"_a = 1e-8, "weight_decay"_a = 0.0, "no_decay"_a = Names(),
      "only_if"_a = nb::none(),
      "Adam with bias correction (Kingma and Ba 2015) and decoupled weight decay (Loshchilov and Hutter "
      "2019). Keeps m, v and the powers of beta1 and beta2 as state. Otherwise as momentum().");
  module.def(
      "lion", lionOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-4, "beta1"_a = 0.9, "beta2"_a = 0.99,
      nb::kw_only(), "weight_decay"_a = 0.0, "no_decay"_a = Names(), "only_if"_a = nb::none(),
      "Lion (Chen et al. 2023): the sign of a moment. The rate is a third to a tenth of Adam's. Otherwise "
      "as momentum().");
  module.def(
      "adafactor", adafactorOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-2, nb::kw_only(),
      "scale_by_parameter"_a = true, "decay_exponent"_a = 0.8, "clip"_a = 1.0, "weight_decay"_a = 0.0,
      "no_decay"_a = Names(), "only_if"_a = nb::none(),
      "Adafactor (Shazeer and Stern 2018): second moments of rows and columns. The rate is relative to the "
      "root mean square of the weight unless scale_by_parameter is False. Otherwise as momentum().");
}

void bindSchedules(nb::module_& module) {
  module.def(
      "warm_up",
      [](const Value& step, int64_t steps) {
        Call call(step.writer);
        return call.value(warmUp(step.tensor, steps));
      },
      "step"_a, "steps"_a, "A factor of a rate: (step + 1) / steps, and 1 from step `steps` - 1 on.");
  const auto decay = [&](const char* name, auto function, const char* last, double usual, const char* doc) {
    module.def(
        name,
        [function](const Value& step, int64_t steps, double end) {
          Call call(step.writer);
          return call.value(function(step.tensor, steps, end));
        },
        "step"_a, "steps"_a, nb::arg(last) = usual, doc);
  };
  decay(
      "linear_decay", [](Tensor step, int64_t steps, double end) { return linearDecay(step, steps, end); },
      "end", 0.0, "A factor of a rate: from 1 at step 0 evenly to `end` at step `steps`, where it stays.");
  decay(
      "cosine_decay", [](Tensor step, int64_t steps, double end) { return cosineDecay(step, steps, end); },
      "end", 0.0,
      "A factor of a rate: from 1 at step 0 along half a cosine to `end` at step `steps`, where it stays "
      "(Loshchilov and Hutter 2017).");
  decay(
      "step_decay", [](Tensor step, int64_t steps, double factor) { return stepDecay(step, steps, factor); },
      "factor", 0.1, "A factor of a rate: factor ^ floor(step / steps).");
}

void bindOptimisers(nb::module_& module) {
  module.def(
      "gradients",
      [](const Value& loss, const Args& wrt) {
        Call call(loss.writer);
        return call.values(gradients(loss.tensor, call.tensors(wrt)));
      },
      "loss"_a, "wrt"_a,
      "d loss / d x for each x of `wrt`, as ops of the same graph. loss: a float scalar; x: a float tensor. "
      "Each result is named '<x>.gradient'. An x that loss does not depend on gets zeros, with a warning "
      "where "
      "x is a parameter.");
  module.def(
      "clip_by_global_norm",
      [](const Args& gradients, const Arg& most) {
        Call call(writerOf("clip_by_global_norm", gradients));
        return call.values(clipByGlobalNorm(call.tensors(gradients), call.operand(most)));
      },
      "gradients"_a, "most"_a,
      "The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all "
      "their "
      "elements (Pascanu et al. 2013). `most` is above 0.");
  module.def(
      "accumulate_gradients",
      [](const Args& parameters, const Args& gradients, int64_t steps) {
        Call call(writerOf("accumulate_gradients", parameters));
        const Accumulated made =
            accumulateGradients(call.tensors(parameters), call.tensors(gradients), steps);
        return std::pair(call.values(made.gradients), call.value(made.ready));
      },
      "parameters"_a, "gradients"_a, "steps"_a,
      "The means of the gradients over the steps so far since the last update, and whether this step is the "
      "last "
      "of `steps`: bool of no axes, for the optimisers' only_if.");
  module.def(
      "moving_averages",
      [](const Args& parameters, const Args& next, double decay) {
        Call call(writerOf("moving_averages", parameters));
        return call.values(movingAverages(call.tensors(parameters), call.tensors(next), decay));
      },
      "parameters"_a, "next"_a, "decay"_a = 0.999,
      "Exponential moving averages of the parameters' next values, kept as state beside them.");
  bindRules(module);
  bindSchedules(module);
}

/// LossScaling with the builder that it writes to.
struct Scaling {
  std::shared_ptr<Writer> writer;
  std::unique_ptr<LossScaling> scaling;
};

void construct(Scaling* self, std::shared_ptr<Writer> writer, double initial, double growth, double backoff,
               int64_t interval, double least, double most) {
  Call call(writer);
  auto scaling = std::make_unique<LossScaling>(
      call.builder(), LossScalingOptions{initial, growth, backoff, interval, least, most});
  call.raiseMistakes();
  new (self) Scaling{std::move(writer), std::move(scaling)};
}

void bindScaling(nb::module_& module) {
  nb::class_<Scaling> scaling(
      module, "LossScaling",
      "Dynamic loss scaling, for training in float16 (Micikevicius et al. 2018): the loss is multiplied by a "
      "scale that is as large as the gradients bear, and a step whose gradients are not finite changes "
      "nothing "
      "but the scale. A plan compiled with precision='f16' does it by itself.");
  scaling.def(
      "__init__", construct, "builder"_a, nb::kw_only(), "initial"_a = 65536.0, "growth"_a = 2.0,
      "backoff"_a = 0.5, "interval"_a = 2000, "least"_a = 1.0, "most"_a = 16777216.0,
      "Scale of the first step; factors after `interval` steps with finite gradients and after a step "
      "without; bounds of the scale.");
  scaling.def(
      "scaled",
      [](Scaling& self, const Value& loss) {
        Call call(self.writer);
        return call.value(self.scaling->scaled(loss.tensor));
      },
      "loss"_a, "The loss times the scale, to take gradients of.");
  scaling.def(
      "unscaled",
      [](Scaling& self, const Args& gradients) {
        Call call(self.writer);
        return call.values(self.scaling->unscaled(call.tensors(gradients)));
      },
      "gradients"_a,
      "Gradients of the scaled loss as those of the loss, in float32 or wider; of all gradients of a step at "
      "once.");
  scaling.def(
      "finite",
      [](Scaling& self) {
        Call call(self.writer);
        return call.value(self.scaling->finite());
      },
      "Whether all gradients of this step are finite: bool of no axes, for the optimisers' only_if.");
}

AllReduceOptions formOf(const std::string& form, int64_t chunks) {
  if (form == "exchange") return {AllReduce::Exchange, chunks};
  if (form == "scatter") return {AllReduce::Scatter, chunks};
  if (form == "ring") return {AllReduce::Ring, chunks};
  throw nb::value_error(fmt::format("form '{}' is none of 'exchange', 'scatter' and 'ring'", form).c_str());
}

void bindCollectives(nb::module_& module) {
  module.def(
      "all_reduce",
      [](const Args& values, const Names& devices, const std::string& form, int64_t chunks) {
        Call call(writerOf("all_reduce", values));
        return call.values(allReduce(call.tensors(values), devices, formOf(form, chunks)));
      },
      "values"_a, "devices"_a, "form"_a = "scatter", "chunks"_a = 4,
      "The sum of `values`, value i on devices[i], once on each device. form: 'exchange' (every device is "
      "sent "
      "all values), 'scatter' (every device sums its part), 'ring' (parts go round in `chunks` pieces).");
  module.def(
      "reduce_scatter",
      [](const Args& values, const Names& devices, const std::string& form, int64_t chunks) {
        Call call(writerOf("reduce_scatter", values));
        return call.values(reduceScatter(call.tensors(values), devices, formOf(form, chunks)));
      },
      "values"_a, "devices"_a, "form"_a = "scatter", "chunks"_a = 4,
      "Part j of the sum, along axis 0, on devices[j].");
  module.def(
      "all_gather",
      [](const Args& parts, const Names& devices) {
        Call call(writerOf("all_gather", parts));
        return call.values(allGather(call.tensors(parts), devices));
      },
      "parts"_a, "devices"_a,
      "Parts that lie on their devices, one behind the other along axis 0, on each device.");
}

} // namespace

void bindTraining(nb::module_& module) {
  bindOptimisers(module);
  bindScaling(module);
  bindCollectives(module);
}

} // namespace dfc::python
