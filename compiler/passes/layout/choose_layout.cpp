// choose_layout: images get their channels last where that makes convolutions quick.
//
// On GPUs a convolution of floats of at most 32 bits becomes nhwc, the layout that tensor cores read. A 1x1
// convolution becomes a matmul over pixels; with a stride, over a slice of the pixels. On CPUs it becomes
// nhwc_oihw: images are channels-last, for the kernels of oneDNN that multiply small matrices (brgemm), and
// filters stay in oihw, as kernels pack them once. On CPUs graphs with filter gradients stay in nchw, the
// layout of the gradient kernels. The layout then propagates forwards: pools, batch normalisations,
// elementwise ops, reductions, gathers, concats and the like are rewritten with renumbered axes. A transpose
// is inserted where an image is first needed in the other layout: at the network's input, at filters on GPUs,
// and before ops that read elements in row-major order, such as reshape. An elementwise op with operands in
// both layouts takes the layout of the larger operand.
//
// Tensor cores take channels in groups of 16 bytes: an image of fewer channels is padded with zeros to one
// group.
//
// No bit of a result changes in the evaluator; a backend may sum in another order. (TensorFlow's grappler and
// PyTorch's channels_last do the same.)
#include "compiler/passes/layout/channels_last_form.h"
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"
#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/layout.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

/// Which convolutions change their layout, and to which.
class Wishes {
 public:
  Wishes(const Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), trains_(!graph.opsOf(OpKind::Conv2dFilterGradient).empty()) {}

  /// The layout of convolutions with this pin.
  ImageLayout layoutFor(std::string_view pin) const {
    if (options_.channelsLast && options_.channelsLast(pin)) {
      return ImageLayout::Nhwc;
    }
    const bool onCpus = options_.onCpus && options_.onCpus(pin);
    return onCpus && !trains_ ? ImageLayout::NhwcOihw : ImageLayout::Nchw;
  }
  /// Whether `op` is a convolution that gets its channels last. f64 has no kernels that prefer an order.
  bool isChosen(OpId op) const {
    const auto call = convolutionCall(graph_[op].attributes, graph_.operandTypesOf(op));
    return call && call->conv.layout == ImageLayout::Nchw &&
           byteWidth(graph_.typeOf(graph_[op].firstResult).element) <= 4 &&
           layoutFor(graph_.pinOf(op)) != ImageLayout::Nchw;
  }

 private:
  const Graph& graph_;
  const PassOptions& options_;
  bool trains_;
};

class Layouts {
 public:
  Layouts(const Graph& graph, const Wishes& wishes)
      : graph_(graph), wishes_(wishes), rewriter_(graph), last_(graph.valueCount()) {}

  Graph run() && {
    for (const OpId op : graph_.ops()) {
      if (wishes_.layoutFor(graph_.pinOf(op)) == ImageLayout::Nchw) {
        copy(op);
      } else if (wishes_.isChosen(op)) {
        convolve(op);
      } else if (auto form = spreadsTo(op)) {
        makeLast(op, *std::move(form));
      } else {
        copy(op);
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      makeFirst(fetch.value, graph_[fetch.value].producer);
    }
    return std::move(rewriter_).finish();
  }

 private:
  bool isImage(ValueId old) const { return graph_.typeOf(old).shape.rank() == 4; }
  bool isLast(ValueId old) const { return last_[old].valid(); }
  int64_t bytesOf(ValueId old) const { return graph_.typeOf(old).bytes(); }

  void convolve(OpId op) {
    const auto call = convolutionCall(graph_[op].attributes, graph_.operandTypesOf(op));
    const bool keepFilter = wishes_.layoutFor(graph_.pinOf(op)) == ImageLayout::NhwcOihw;
    if (isPointwise(call->conv) && !keepFilter) {
      multiply(op, *call);
      return;
    }
    const ValueId result = graph_[op].firstResult;
    const int64_t channels = keepFilter ? 0 : paddedChannels(*call, graph_.typeOf(result).element);
    if (channels > 0) {
      convolvePadded(op, call->pass, channels - call->conv.image[1]);
    } else {
      makeLast(op, *channelsLastForm(graph_[op].attributes, keepFilter));
    }
    if (call->pass ==
        ConvolutionPass::FilterGradient) { // filters and their updates keep the parameter's order
      makeFirst(result, op);
      last_[result] = ValueId();
    }
  }

  // The channels of one group of 16 bytes where an image on tensor cores has fewer; else 0. The gradient to
  // such an image is seldom asked for, and stays as it is.
  static int64_t paddedChannels(const ConvolutionCall& call, ElementType element) {
    const bool tensorCores = byteWidth(element) == 2 || call.precision == Precision::Tf32;
    const int64_t group = 16 / byteWidth(element);
    return tensorCores && call.conv.groups == 1 && call.conv.image[1] < group && call.conv.image[1] > 0 &&
                   call.pass != ConvolutionPass::InputGradient
               ? group
               : 0;
  }

  void convolvePadded(OpId op, ConvolutionPass pass, int64_t more) {
    const OpRow& row = graph_[op];
    const ValueId image = padded(last(row.operands[0], op), more, op), other = last(row.operands[1], op);
    if (pass == ConvolutionPass::Forward) {
      const auto form = channelsLastForm(row.attributes);
      finish(op, resultOf(rewriter_.append(*form, {image, padded(other, more, op)}, op)), true);
      return;
    }
    auto form = channelsLastForm(row.attributes)->as<ops::Conv2dFilterGradient>();
    form.shape[3] += more;
    const ValueId made = resultOf(rewriter_.append(form, {image, other}, op, nameFor(op, "nhwc")));
    ops::Slice slice;
    slice.starts.assign(4, 0);
    slice.ends = form.shape;
    slice.ends[3] -= more;
    finish(op, resultOf(rewriter_.append(slice, {made}, op, nameFor(op, "nhwc"))), true);
  }

  ValueId padded(ValueId now, int64_t channels, OpId reader) {
    ops::Pad pad;
    pad.low.assign(4, 0);
    pad.high = {0, 0, 0, channels};
    return resultOf(rewriter_.append(pad, {now}, reader, nameFor(reader, "nhwc")));
  }

  // Each pixel by itself: with the channels last a product of matrices.
  static bool isPointwise(const Convolution& conv) {
    const auto takesPixels = [](const WindowAxis& axis) {
      return axis.low == 0 && (axis.count - 1) * axis.stride < axis.length;
    };
    return conv.windows.size() == 1 && conv.groups == 1 && takesPixels(conv.windows.rows) &&
           takesPixels(conv.windows.columns);
  }

  void multiply(OpId op, const ConvolutionCall& call) {
    const Convolution& conv = call.conv;
    const int64_t pixels = conv.batch() * conv.pixels(), channels = conv.image[1], filters = conv.filter[0];
    const OpRow& row = graph_[op];
    const auto image = [&](size_t operand) {
      return reshaped(strided(last(row.operands[operand], op), conv, op), {pixels, channels}, op);
    };
    const auto cotangent = [&](size_t operand) {
      return reshaped(last(row.operands[operand], op), {pixels, filters}, op);
    };
    const auto filter = [&](size_t operand) {
      return reshaped(first(row.operands[operand], op), {filters, channels}, op);
    };
    ops::Matmul product;
    product.precision = call.precision;
    switch (call.pass) {
    case ConvolutionPass::Forward:
      product.transposeB = true;
      keepLast(op, appended(product, image(0), filter(1), op), conv.result);
      break;
    case ConvolutionPass::InputGradient:
      spread(op, appended(product, cotangent(1), filter(0), op), conv);
      break;
    case ConvolutionPass::FilterGradient:
      product.transposeA = true;
      const ValueId made = appended(product, cotangent(1), image(0), op);
      finish(op, reshaped(made, {filters, channels, 1, 1}, op), false);
      break;
    }
  }

  /// The pixels of [N, H, W, C] that windows of one pixel take.
  ValueId strided(ValueId image, const Convolution& conv, OpId op) {
    const WindowAxis &rows = conv.windows.rows, &columns = conv.windows.columns;
    if (rows.count == rows.length && columns.count == columns.length) {
      return image;
    }
    ops::Slice slice;
    slice.starts.assign(4, 0);
    slice.ends = {conv.image[0], (rows.count - 1) * rows.stride + 1, (columns.count - 1) * columns.stride + 1,
                  conv.image[1]};
    slice.strides = {1, rows.stride, columns.stride, 1};
    return resultOf(rewriter_.append(slice, {image}, op, nameFor(op, "nhwc")));
  }
  /// The gradient of that: zeros at the other pixels.
  void spread(OpId op, ValueId product, const Convolution& conv) {
    const WindowAxis &rows = conv.windows.rows, &columns = conv.windows.columns;
    if (rows.count == rows.length && columns.count == columns.length) {
      keepLast(op, product, conv.image);
      return;
    }
    const auto behind = [](const WindowAxis& axis) {
      return axis.length - 1 - (axis.count - 1) * axis.stride;
    };
    ops::Pad pad;
    pad.low.assign(4, 0);
    pad.high = {0, behind(rows), behind(columns), 0};
    pad.interior = {0, rows.stride - 1, columns.stride - 1, 0};
    const ValueId taken = reshaped(product, {conv.batch(), rows.count, columns.count, conv.image[1]}, op);
    finish(op, resultOf(rewriter_.append(pad, {taken}, op, nameFor(op, "nhwc"))), true);
  }

  void keepLast(OpId op, ValueId product, const Shape& channelsFirst) {
    const Shape shape = channelsLast(channelsFirst);
    finish(op, reshaped(product, {shape.dims().begin(), shape.dims().end()}, op), true);
  }
  void finish(OpId op, ValueId now, bool isLast) {
    const ValueId old = graph_[op].firstResult;
    rewriter_.builder().rename(now, graph_.nameOf(old));
    if (isLast) {
      last_[old] = now;
    } else {
      rewriter_.replace(old, now);
    }
  }
  ValueId appended(const ops::Matmul& product, ValueId a, ValueId b, OpId op) {
    return resultOf(rewriter_.append(product, {a, b}, op, nameFor(op, "product")));
  }
  ValueId reshaped(ValueId now, Dims shape, OpId reader) {
    ops::Reshape op;
    op.shape = std::move(shape);
    return resultOf(rewriter_.append(op, {now}, reader, nameFor(reader, "nhwc")));
  }

  // None where the op stays as it is.
  std::optional<OpAttributes> spreadsTo(OpId op) const {
    const OpRow& row = graph_[op];
    if (row.operands.empty() || llvm::none_of(row.operands, [&](ValueId o) { return isLast(o); })) {
      return std::nullopt;
    }
    const bool elementwise = classOf(row.kind()) == OpClass::Elementwise;
    if (!isImage(elementwise ? row.firstResult : row.operands[0]) ||
        (row.kind() == OpKind::Gather && graph_.typeOf(row.operands[1]).shape.rank() != 1)) {
      return std::nullopt;
    }
    int64_t forLast = 0, forFirst = 0;
    for (const ValueId operand : row.operands) {
      (isLast(operand) || isBroadcast(operand) ? forLast : forFirst) += bytesOf(operand);
    }
    return forLast > forFirst ? formWithChannelsLast(row) : std::nullopt;
  }

  /// Made from fewer elements, in either order alike.
  bool isBroadcast(ValueId old) const { return graph_[graph_[old].producer].kind() == OpKind::Broadcast; }

  static bool hasLayout(const OpAttributes& attributes) { return channelsFirstForm(attributes).has_value(); }

  void makeLast(OpId op, OpAttributes attributes) {
    const OpRow& row = graph_[op];
    const bool elementwise = classOf(row.kind()) == OpClass::Elementwise;
    llvm::SmallVector<ValueId, 6> operands;
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const ValueId operand = row.operands[i];
      const bool isFilter = hasLayout(attributes) && !isOperandLast(attributes, i);
      operands.push_back((isImage(operand) && !isFilter) || elementwise ? last(operand, op)
                                                                        : first(operand, op));
    }
    const OpId made = rewriter_.append(std::move(attributes), operands, op);
    for (const ValueId old : row.results()) {
      const ValueId now = rewriter_.builder().result(made, old.index() - row.firstResult.index());
      rewriter_.builder().rename(now, graph_.nameOf(old));
      if (isImage(old)) {
        last_[old] = now;
      } else {
        rewriter_.replace(old, now);
      }
    }
  }

  void copy(OpId op) {
    for (const ValueId operand : graph_[op].operands) {
      makeFirst(operand, op);
    }
    rewriter_.copy(op);
  }

  ValueId first(ValueId old, OpId reader) {
    makeFirst(old, reader);
    return rewriter_.mapped(old);
  }
  void makeFirst(ValueId old, OpId reader) {
    if (!rewriter_.isMapped(old)) {
      rewriter_.replace(old, permuted(last_[old], toChannelsFirst, reader, nameFor(reader, "nchw")));
    }
  }

  ValueId last(ValueId old, OpId reader) {
    if (last_[old].valid()) {
      return last_[old];
    }
    const Shape& shape = graph_.typeOf(old).shape;
    if (shape.elements() == 1 && shape.rank() == 0) {
      return first(old, reader);
    }
    const std::pair<ValueId, StringId> key{old, graph_[reader].pin};
    const auto known = transposed_.find(key);
    if (known != transposed_.end()) {
      return known->second;
    }
    const ValueId made = madeLast(old, reader);
    return transposed_[key] = made;
  }

  ValueId madeLast(ValueId old, OpId reader) {
    const OpRow& maker = graph_[graph_[old].producer];
    if (maker.kind() == OpKind::Broadcast && isImage(old)) {
      ops::Broadcast wide = maker.as<ops::Broadcast>();
      const Shape to = channelsLast(graph_.typeOf(old).shape);
      wide.shape.assign(to.dims().begin(), to.dims().end());
      const ValueId narrow = last(maker.operands[0], reader);
      return resultOf(rewriter_.append(wide, {narrow}, reader, nameFor(reader, "nhwc")));
    }
    return permuted(asImage(old, reader), toChannelsLast, reader, nameFor(reader, "nhwc"));
  }

  /// With 1 for the axes in front that it lacks.
  ValueId asImage(ValueId old, OpId reader) {
    const Shape& shape = graph_.typeOf(old).shape;
    const ValueId now = first(old, reader);
    if (shape.rank() == 4) {
      return now;
    }
    Dims dims(4 - shape.rank(), 1);
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    return reshaped(now, std::move(dims), reader);
  }

  ValueId permuted(ValueId now, const std::array<int64_t, 4>& axes, OpId reader, const std::string& name) {
    ops::Transpose op;
    op.permutation.assign(axes.begin(), axes.end());
    return resultOf(rewriter_.append(op, {now}, reader, name));
  }
  ValueId resultOf(OpId made) { return rewriter_.builder().result(made); }
  std::string nameFor(OpId reader, std::string_view layout) const {
    return std::string(graph_.nameOf(reader)) + "." + std::string(layout);
  }

  const Graph& graph_;
  const Wishes& wishes_;
  Rewriter rewriter_;
  SideTable<ValueId, ValueId> last_; // values that were made with their channels last
  llvm::DenseMap<std::pair<ValueId, StringId>, ValueId> transposed_; // by the pin of the first reader
};

} // namespace

Result<Graph> chooseLayout(const Graph& graph, const PassOptions& options) {
  const Wishes wishes(graph, options);
  const bool any = llvm::any_of(graph.ops(), [&](OpId op) { return wishes.isChosen(op); });
  return any ? Layouts(graph, wishes).run() : graph;
}

} // namespace dfc
