// Layers that own their parameters.
#include "ir/author/layers.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Name = std::string;
using Net = nb::class_<Written<Layers>>;
using Start = std::optional<Initialiser>;

void construct(Written<Layers>* self, std::shared_ptr<Writer> writer, bool training, int64_t seed,
               const DTypeLike& dtype) {
  writer->builder.graph(); // throws once it has finished
  auto layers = std::make_unique<Layers>(writer->builder, training ? Phase::Training : Phase::Evaluation,
                                         seed, elementTypeOf(dtype));
  new (self) Written<Layers>{std::move(writer), std::move(layers)};
}

std::pair<Tensor, Tensor> pairOf(const Recurrent& made) { return {made.all, made.last}; }

void bindParameters(Net& net) {
  net.def(
      "__init__", construct, "builder"_a, nb::kw_only(), "training"_a = true, "seed"_a = 0,
      "dtype"_a = ElementType::F32,
      "training: batch norms take the batch's statistics, and dropout drops; else the running statistics, "
      "and all passes. seed: of the first weights; those of each parameter differ. dtype: of all parameters; "
      "what goes into a layer has the same.");
  net.def_prop_ro(
      "trained",
      [](Written<Layers>& self) {
        Call call(self.writer);
        return call.values(self.object->trained());
      },
      "All parameters that are trained, in the order in which they were made: what gradients and optimisers "
      "take.");
  net.def_prop_ro(
      "training", [](const Written<Layers>& self) { return self.object->phase() == Phase::Training; },
      "What the layers are for.");
  net.def(
      "next_seed", [](const Written<Layers>& self) { return self.object->nextSeed(); },
      "A seed that no other parameter of these layers has, for an initialiser of one's own.");
  bindMethod(
      net, "parameter",
      [](Layers& self, const Name& name, const Dims& shape, const InitLike& init) {
        return self.parameter(name, Shape(std::span<const int64_t>(shape)), initialiserOf(init));
      },
      "name"_a, "shape"_a, "init"_a,
      "A parameter of one's own that is trained with the others, of the layers' dtype.");
}

void bindProducts(Net& net) {
  bindMethod(
      net, "linear",
      [](Layers& self, const Name& name, Tensor x, int64_t to, bool bias, bool outFirst, const Start& init) {
        return self.linear(name, x, to, {.bias = bias, .outFirst = outFirst, .start = init});
      },
      "name"_a, "x"_a, "to"_a, nb::kw_only(), "bias"_a = true, "out_first"_a = false, "init"_a = nb::none(),
      "x: [..., in]. Result: [..., to], x times '<name>.weight' plus '<name>.bias'. out_first: the weight is "
      "[out, in], as PyTorch's, else [in, out]. init: of the weight; None: Glorot's.");
  bindMethod(
      net, "embedding",
      [](Layers& self, const Name& name, Tensor ids, int64_t entries, int64_t width) {
        return self.embedding(name, ids, entries, width);
      },
      "name"_a, "ids"_a, "entries"_a, "width"_a,
      "The rows of the table '<name>.weight' [entries, width] that `ids` name: [ids..., width].");
  bindMethod(
      net, "attention",
      [](Layers& self, const Name& name, Tensor x, int64_t heads, bool causal,
         std::optional<int64_t> keyHeads, bool bias, const Start& init, MaybeTensor memory,
         MaybeTensor mask) {
        return self.attention(name, x, heads,
                              {.causal = causal,
                               .keyHeads = keyHeads,
                               .bias = bias,
                               .start = init,
                               .memory = memory,
                               .mask = mask});
      },
      "name"_a, "x"_a, "heads"_a, nb::kw_only(), "causal"_a = false, "key_heads"_a = nb::none(),
      "bias"_a = true, "init"_a = nb::none(), "memory"_a = nb::none(), "mask"_a = nb::none(),
      "Self-attention with linear layers '<name>.q', '.k', '.v' and '.out'. x: [batch, length, width], "
      "`heads` divide the width. key_heads: heads of keys and values; None: as many. memory: [batch, "
      "positions, "
      "any width], what keys and values are made of (cross-attention); None: x. mask: of attention. Result: "
      "of "
      "the shape of x.");
}

void bindConvolutions(Net& net) {
  bindMethod(
      net, "convolution",
      [](Layers& self, const Name& name, Tensor x, int64_t to, int64_t size, int64_t stride,
         std::optional<int64_t> padding, int64_t groups, bool bias, const Start& init, int64_t dilation,
         bool causal) {
        return self.convolution(name, x, to, size,
                                {.stride = stride,
                                 .padding = padding,
                                 .groups = groups,
                                 .bias = bias,
                                 .start = init,
                                 .dilation = dilation,
                                 .causal = causal});
      },
      "name"_a, "x"_a, "to"_a, "size"_a, nb::kw_only(), "stride"_a = 1, "padding"_a = nb::none(),
      "groups"_a = 1, "bias"_a = false, "init"_a = nb::none(), "dilation"_a = 1, "causal"_a = false,
      "x: [batch, channels, h, w]; a filter of size x size. Result: [batch, to, ...]. Or x: [batch, "
      "channels, "
      "length] and a filter of size. padding: on all sides; None: as many as keep the length at stride 1. "
      "init: of the filter; None: He's, normal. causal: of one axis, all padding before, so that no position "
      "sees a later one.");
  bindMethod(
      net, "transposed_convolution",
      [](Layers& self, const Name& name, Tensor x, int64_t to, int64_t size, int64_t stride, int64_t padding,
         int64_t outputPadding, int64_t groups, bool bias, const Start& init) {
        return self.transposedConvolution(name, x, to, size,
                                          {.stride = stride,
                                           .padding = padding,
                                           .outputPadding = outputPadding,
                                           .groups = groups,
                                           .bias = bias,
                                           .start = init});
      },
      "name"_a, "x"_a, "to"_a, "size"_a, nb::kw_only(), "stride"_a = 1, "padding"_a = 0,
      "output_padding"_a = 0, "groups"_a = 1, "bias"_a = false, "init"_a = nb::none(),
      "x: [batch, channels, h, w]; conv_transpose2d with a filter '<name>.weight' of [channels, to / groups, "
      "size, size]. Result: [batch, to, ...]. padding: taken off on all sides; output_padding: added behind. "
      "init: of the filter; None: He's, normal.");
}

void bindNorms(Net& net) {
  bindMethod(
      net, "batch_norm",
      [](Layers& self, const Name& name, Tensor x, double kept, double epsilon) {
        return self.batchNorm(name, x, kept, epsilon);
      },
      "name"_a, "x"_a, "kept"_a = 0.9, "epsilon"_a = 1e-5,
      "x: [batch, channels, ...], normalised for each channel. The running statistics '<name>.running_mean' "
      "and '<name>.running_var' keep `kept` of what they were at each step.");
  bindMethod(
      net, "layer_norm",
      [](Layers& self, const Name& name, Tensor x, double epsilon) {
        return self.layerNorm(name, x, epsilon);
      },
      "name"_a, "x"_a, "epsilon"_a = 1e-5,
      "x normalised along its last axis, scaled by '<name>.weight', shifted by '<name>.bias'.");
  bindMethod(
      net, "group_norm",
      [](Layers& self, const Name& name, Tensor x, int64_t groups, double epsilon) {
        return self.groupNorm(name, x, groups, epsilon);
      },
      "name"_a, "x"_a, "groups"_a, "epsilon"_a = 1e-5,
      "x: [batch, channels, ...], each of `groups` groups of channels normalised by itself, scaled by "
      "'<name>.weight', shifted by '<name>.bias', one of each for a channel.");
  bindMethod(
      net, "rms_norm",
      [](Layers& self, const Name& name, Tensor x, double epsilon) { return self.rmsNorm(name, x, epsilon); },
      "name"_a, "x"_a, "epsilon"_a = 1e-5,
      "x over its root mean square along the last axis, scaled by '<name>.weight'.");
  bindMethod(
      net, "dropout", [](Layers& self, Tensor x, double rate) { return self.dropout(x, rate); }, "x"_a,
      "rate"_a = 0.5,
      "In training each element is 0 with probability `rate`, else x / (1 - rate). No two calls, and no two "
      "steps, drop alike.");
}

void bindRecurrent(Net& net) {
  bindMethod(
      net, "lstm",
      [](Layers& self, const Name& name, Tensor x, int64_t width) {
        return pairOf(self.lstm(name, x, width));
      },
      "name"_a, "x"_a, "width"_a,
      "LSTM (Hochreiter and Schmidhuber 1997, with a forget gate). x: [batch, length, in]. Gives the hidden "
      "state behind every position, [batch, length, width], and behind the last one, [batch, width]. "
      "Parameters as PyTorch's: '<name>.weight_ih', '.weight_hh', '.bias_ih' and '.bias_hh'.");
  bindMethod(
      net, "gru",
      [](Layers& self, const Name& name, Tensor x, int64_t width) {
        return pairOf(self.gru(name, x, width));
      },
      "name"_a, "x"_a, "width"_a, "GRU (Cho et al. 2014) likewise.");
}

} // namespace

void bindParameterLayers(nb::module_& module) {
  Net net(
      module, "Layers",
      "Layers that own their parameters: each call makes them, by name, with the initialiser of its kind, "
      "and writes the formula. The same calls in a second graph (an evaluation) make parameters of the "
      "same names. Names and shapes are those that PyTorch publishes weights with, but for linear layers, "
      "whose weight is [in, out] unless out_first.");
  bindParameters(net);
  bindProducts(net);
  bindConvolutions(net);
  bindNorms(net);
  bindRecurrent(net);
}

} // namespace dfc::python
