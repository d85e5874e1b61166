// Gradients, update rules, loss scaling, and sums over devices.
#include "ir/author/collectives.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
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
      [](const Args& gradients, double most) {
        Call call(writerOf("clip_by_global_norm", gradients));
        return call.values(clipByGlobalNorm(call.tensors(gradients), most));
      },
      "gradients"_a, "most"_a,
      "The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all "
      "their "
      "elements (Pascanu et al. 2013). `most` is above 0.");
  module.def(
      "sgd",
      [](const Args& parameters, const Args& gradients, double rate) {
        Call call(writerOf("sgd", parameters));
        return call.values(sgd(call.tensors(parameters), call.tensors(gradients), rate));
      },
      "parameters"_a, "gradients"_a, "rate"_a, "w <- w - rate * g. Gives the new weights.");
  module.def(
      "momentum",
      [](const Args& parameters, const Args& gradients, double rate, double momentum, double weightDecay,
         const std::optional<Arg>& onlyIf) {
        Call call(writerOf("momentum", parameters));
        const MomentumOptions options{rate, momentum, weightDecay, optional(call, onlyIf)};
        return call.values(dfc::momentum(call.tensors(parameters), call.tensors(gradients), options));
      },
      "parameters"_a, "gradients"_a, "rate"_a = 0.1, "momentum"_a = 0.9, nb::kw_only(),
      "weight_decay"_a = 0.0, "only_if"_a = nb::none(),
      "v <- momentum * v + g + weight_decay * w;  w <- w - rate * v (Polyak 1964, as PyTorch's SGD without "
      "dampening). only_if: bool of no axes; a step in which it is false changes nothing. Gives the new "
      "weights.");
  module.def(
      "adam",
      [](const Args& parameters, const Args& gradients, double rate, double beta1, double beta2,
         double epsilon, double weightDecay, const std::optional<Arg>& onlyIf) {
        Call call(writerOf("adam", parameters));
        AdamOptions options;
        options.rate = rate;
        options.beta1 = beta1;
        options.beta2 = beta2;
        options.epsilon = epsilon;
        options.weightDecay = weightDecay;
        options.onlyIf = optional(call, onlyIf);
        return call.values(adam(call.tensors(parameters), call.tensors(gradients), options));
      },
      "parameters"_a, "gradients"_a, "rate"_a = 1e-3, "beta1"_a = 0.9, "beta2"_a = 0.999, nb::kw_only(),
      "epsilon"_a = 1e-8, "weight_decay"_a = 0.0, "only_if"_a = nb::none(),
      "Adam with bias correction (Kingma and Ba 2015) and decoupled weight decay (Loshchilov and Hutter "
      "2019). "
      "Keeps m, v and the powers of beta1 and beta2 as state. Gives the new weights.");
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
  using Names = std::vector<std::string>;
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
