// Gradients, update rules, loss scaling, and sums over devices.
#include "ir/author/collectives.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/author/schedules.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Names = std::vector<std::string>;

/// Sets what every update rule has.
template <class Options>
Options withCommon(Options options, Operand rate, double weightDecay, const Names& noDecay,
                   MaybeTensor onlyIf) {
  options.rate = rate;
  options.weightDecay = weightDecay;
  options.noDecay = noDecay;
  options.onlyIf = onlyIf;
  return options;
}

Tensors momentumOf(const Tensors& parameters, const Tensors& gradients, Operand rate, double decay,
                   double weightDecay, bool nesterov, const Names& noDecay, MaybeTensor onlyIf) {
  return momentum(parameters, gradients,
                  withCommon(MomentumOptions{.momentum = decay, .nesterov = nesterov}, rate, weightDecay,
                             noDecay, onlyIf));
}

Tensors adamOf(const Tensors& parameters, const Tensors& gradients, Operand rate, double beta1, double beta2,
               double epsilon, double weightDecay, const Names& noDecay, MaybeTensor onlyIf) {
  return adam(parameters, gradients,
              withCommon(AdamOptions{.beta1 = beta1, .beta2 = beta2, .epsilon = epsilon}, rate, weightDecay,
                         noDecay, onlyIf));
}

Tensors lionOf(const Tensors& parameters, const Tensors& gradients, Operand rate, double beta1, double beta2,
               double weightDecay, const Names& noDecay, MaybeTensor onlyIf) {
  return lion(parameters, gradients,
              withCommon(LionOptions{.beta1 = beta1, .beta2 = beta2}, rate, weightDecay, noDecay, onlyIf));
}

Tensors adafactorOf(const Tensors& parameters, const Tensors& gradients, Operand rate, bool scaleByParameter,
                    double decayExponent, double epsilon1, double epsilon2, double clip, double weightDecay,
                    const Names& noDecay, MaybeTensor onlyIf) {
  return adafactor(parameters, gradients,
                   withCommon(AdafactorOptions{.decayExponent = decayExponent,
                                               .epsilon1 = epsilon1,
                                               .epsilon2 = epsilon2,
                                               .clip = clip,
                                               .scaleByParameter = scaleByParameter},
                              rate, weightDecay, noDecay, onlyIf));
}

void bindRules(nb::module_& module) {
  bindOp(
      module, "sgd",
      [](const Tensors& parameters, const Tensors& gradients, Operand rate) {
        return sgd(parameters, gradients, rate);
      },
      "parameters"_a, "gradients"_a, "rate"_a,
      "w <- w - rate * g. rate: a number, or a scalar of the graph. Gives the new weights.");
  bindOp(
      module, "momentum", momentumOf, "parameters"_a, "gradients"_a, "rate"_a = 0.1, "momentum"_a = 0.9,
      nb::kw_only(), "weight_decay"_a = 0.0, "nesterov"_a = false, "no_decay"_a = Names(),
      "only_if"_a = nb::none(),
      "v <- momentum * v + g + weight_decay * w;  w <- w - rate * v (Polyak 1964, as PyTorch's SGD without "
      "dampening). no_decay: patterns of names ('*.bias') without weight decay. only_if: bool of no axes; a "
      "step in which it is false changes nothing. Gives the new weights.");
  bindOp(module, "adam", adamOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-3, "beta1"_a = 0.9,
         "beta2"_a = 0.999, nb::kw_only(), "epsilon"_a = 1e-8, "weight_decay"_a = 0.0, "no_decay"_a = Names(),
         "only_if"_a = nb::none(),
         "Adam with bias correction (Kingma and Ba 2015) and decoupled weight decay (Loshchilov and Hutter "
         "2019). Keeps m, v and the powers of beta1 and beta2 as state. Otherwise as momentum().");
  bindOp(module, "lion", lionOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-4, "beta1"_a = 0.9,
         "beta2"_a = 0.99, nb::kw_only(), "weight_decay"_a = 0.0, "no_decay"_a = Names(),
         "only_if"_a = nb::none(),
         "Lion (Chen et al. 2023): the sign of a moment. The rate is a third to a tenth of Adam's. Otherwise "
         "as momentum().");
  bindOp(
      module, "adafactor", adafactorOf, "parameters"_a, "gradients"_a, "rate"_a = 1e-2, nb::kw_only(),
      "scale_by_parameter"_a = true, "decay_exponent"_a = 0.8, "epsilon1"_a = 1e-30, "epsilon2"_a = 1e-3,
      "clip"_a = 1.0, "weight_decay"_a = 0.0, "no_decay"_a = Names(), "only_if"_a = nb::none(),
      "Adafactor (Shazeer and Stern 2018): second moments of rows and columns. The rate is relative to the "
      "root mean square of the weight, which counts as epsilon2 at least, unless scale_by_parameter is "
      "False. "
      "epsilon1: added to the square of a gradient. clip: the largest root mean square of an update, before "
      "the "
      "rate. Otherwise as momentum().");
}

void bindSchedules(nb::module_& module) {
  bindMethod(
      module, "warm_up", [](Tensor step, int64_t steps) { return warmUp(step, steps); }, "step"_a, "steps"_a,
      "A factor of a rate: (step + 1) / steps, and 1 from step `steps` - 1 on.");
  const auto decay = [&](const char* name, auto function, const char* last, double usual, const char* doc) {
    bindMethod(module, name, function, "step"_a, "steps"_a, nb::arg(last) = usual, doc);
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
  bindMethod(
      module, "gradients", [](Tensor loss, const Tensors& wrt) { return gradients(loss, wrt); }, "loss"_a,
      "wrt"_a,
      "d loss / d x for each x of `wrt`, as ops of the same graph. loss: a float scalar; x: a float tensor. "
      "Each result is named '<x>.gradient'. An x that loss does not depend on gets zeros, with a warning "
      "where "
      "x is a parameter.");
  bindOp(
      module, "clip_by_global_norm",
      [](const Tensors& gradients, Operand most) { return clipByGlobalNorm(gradients, most); }, "gradients"_a,
      "most"_a,
      "The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all "
      "their "
      "elements (Pascanu et al. 2013). `most` is above 0.");
  bindOp(
      module, "accumulate_gradients",
      [](const Tensors& parameters, const Tensors& gradients, int64_t steps) {
        const Accumulated made = accumulateGradients(parameters, gradients, steps);
        return std::pair(made.gradients, made.ready);
      },
      "parameters"_a, "gradients"_a, "steps"_a,
      "The means of the gradients over the steps so far since the last update, and whether this step is the "
      "last "
      "of `steps`: bool of no axes, for the optimisers' only_if.");
  bindOp(
      module, "moving_averages",
      [](const Tensors& parameters, const Tensors& next, double decay) {
        return movingAverages(parameters, next, decay);
      },
      "parameters"_a, "next"_a, "decay"_a = 0.999,
      "Exponential moving averages of the parameters' next values, kept as state beside them.");
  bindRules(module);
  bindSchedules(module);
}

using Scaling = Written<LossScaling>;

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
  bindMethod(
      scaling, "scaled", [](LossScaling& self, Tensor loss) { return self.scaled(loss); }, "loss"_a,
      "The loss times the scale, to take gradients of.");
  bindMethod(
      scaling, "unscaled",
      [](LossScaling& self, const Tensors& gradients) { return self.unscaled(gradients); }, "gradients"_a,
      "Gradients of the scaled loss as those of the loss, in float32 or wider; of all gradients of a step at "
      "once.");
  bindMethod(
      scaling, "finite", [](LossScaling& self) { return self.finite(); },
      "Whether all gradients of this step are finite: bool of no axes, for the optimisers' only_if.");
}

AllReduceOptions formOf(const std::string& form, int64_t chunks) {
  if (form == "exchange") return {AllReduce::Exchange, chunks};
  if (form == "scatter") return {AllReduce::Scatter, chunks};
  if (form == "ring") return {AllReduce::Ring, chunks};
  throw nb::value_error(fmt::format("form '{}' is none of 'exchange', 'scatter' and 'ring'", form).c_str());
}

void bindCollectives(nb::module_& module) {
  bindOp(
      module, "all_reduce",
      [](const Tensors& values, const Names& devices, const std::string& form, int64_t chunks) {
        return allReduce(values, devices, formOf(form, chunks));
      },
      "values"_a, "devices"_a, "form"_a = "scatter", "chunks"_a = 4,
      "The sum of `values`, value i on devices[i], once on each device. form: 'exchange' (every device is "
      "sent "
      "all values), 'scatter' (every device sums its part), 'ring' (parts go round in `chunks` pieces).");
  bindOp(
      module, "reduce_scatter",
      [](const Tensors& values, const Names& devices, const std::string& form, int64_t chunks) {
        return reduceScatter(values, devices, formOf(form, chunks));
      },
      "values"_a, "devices"_a, "form"_a = "scatter", "chunks"_a = 4,
      "Part j of the sum, along axis 0, on devices[j].");
  bindOp(
      module, "all_gather",
      [](const Tensors& parts, const Names& devices) { return allGather(parts, devices); }, "parts"_a,
      "devices"_a, "Parts that lie on their devices, one behind the other along axis 0, on each device.");
}

} // namespace

void bindTraining(nb::module_& module) {
  bindOptimisers(module);
  bindScaling(module);
  bindCollectives(module);
}

} // namespace dfc::python
