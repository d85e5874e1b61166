// space_to_depth: convolutions of few channels with strides become convolutions of blocks of pixels.
//
// A first layer with stride s reads images of few channels in pieces too short for a GPU's memory. Where
// pixel_blocks.h says that it pays off, the image is rearranged so that the channels of each block of s x s
// pixels are those of one pixel, and so is the filter, with zero taps up to whole blocks: a convolution with
// stride 1 and fewer taps, or, of patches (windows as long as the stride), a product of matrices. Both
// gradients likewise: the image is rearranged once for the convolution and its filter's gradient, whose zero
// taps are cropped. Parameters keep their form; a filter is rearranged in each step.
//
// Where elementwise ops with scalars make the image from narrower elements (bytes), and nothing else reads
// what they make, the narrower elements are rearranged, and the ops are done behind that, in the reader's
// scope.
//
// Sums are taken in another order. Zero taps may meet an infinite pixel, as padding may
// (ir/graph/rules/convolution.h). The transposes to channels first are choose_layout's to cancel. (The
// space-to-depth transform of ResNet-50's first layer in MLPerf's submissions for TPUs.)
#include "compiler/passes/layout/block_movement.h"
#include "compiler/passes/passes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

std::optional<PixelBlocks> blocksFor(const Graph& graph, OpId op, const PassOptions& options) {
  const auto call = convolutionCall(graph[op].attributes, graph.operandTypesOf(op));
  return call && options.channelsLast(graph.pinOf(op))
             ? pixelBlocks(*call, graph.typeOf(graph[op].firstResult).element)
             : std::nullopt;
}

template <class Op>
Op blockConvolution(const PixelBlocks& blocks, const ConvolutionCall& call) {
  const int64_t above = blocks.rows.ownPadding(), left = blocks.columns.ownPadding();
  Op op;
  op.precision = call.precision;
  if (above + left > 0) {
    op.low = op.high = {above, left};
  }
  return op;
}

class SpaceToDepth {
 public:
  using Found = SideTable<OpId, std::optional<PixelBlocks>>;
  SpaceToDepth(const Graph& graph, const Found& found)
      : graph_(graph), found_(found), rewriter_(graph), readAsItIs_(graph.valueCount(), false) {}

  Graph run() && {
    findOtherReaders();
    for (const OpId op : graph_.ops()) {
      if (found_[op]) {
        const ValueId old = graph_[op].firstResult, now = convolve(op, *found_[op]);
        rewriter_.builder().rename(now, graph_.nameOf(old));
        rewriter_.replace(old, now);
      } else {
        rewriter_.copy(op);
      }
    }
    return std::move(rewriter_).finish();
  }

 private:
  // From readers to producers.
  void findOtherReaders() {
    for (const Fetch& fetch : graph_.fetches()) {
      readAsItIs_[fetch.value] = true;
    }
    for (auto index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
      const OpRow& row = graph_[OpId(index)];
      const bool rearranges = found_[OpId(index)] && row.kind() != OpKind::Conv2dInputGradient;
      const ValueId passedOn = readAsItIs_[row.firstResult] ? ValueId() : imageOperand(OpId(index));
      for (size_t i = 0; i < row.operands.size(); ++i) {
        const bool inBlocks = (rearranges && i == 0) || row.operands[i] == passedOn;
        readAsItIs_[row.operands[i]] = readAsItIs_[row.operands[i]] || !inBlocks;
      }
    }
  }

  ValueId convolve(OpId op, const PixelBlocks& blocks) {
    const OpRow& row = graph_[op];
    const auto call = convolutionCall(row.attributes, graph_.operandTypesOf(op));
    const Shape &image = call->conv.image, &filter = call->conv.filter;
    BlockMovement movement(rewriter_, op, blocks);
    switch (call->pass) {
    case ConvolutionPass::Forward: {
      const ValueId operand = imageInBlocks(op, blocks);
      return movement.append(blockConvolution<ops::Conv2d>(blocks, *call),
                             {operand, movement.filterInBlocks(rewriter_.mapped(row.operands[1]))});
    }
    case ConvolutionPass::FilterGradient: {
      auto made = blockConvolution<ops::Conv2dFilterGradient>(blocks, *call);
      made.shape = {filter[0], blocks.paddedChannels, blocks.rows.windowBlocks, blocks.columns.windowBlocks};
      const ValueId operand = imageInBlocks(op, blocks);
      return movement.filterOf(movement.append(made, {operand, rewriter_.mapped(row.operands[1])}), filter);
    }
    case ConvolutionPass::InputGradient: break;
    }
    auto made = blockConvolution<ops::Conv2dInputGradient>(blocks, *call);
    made.shape = {image[0], blocks.paddedChannels, blocks.rows.paddedBlocks(), blocks.columns.paddedBlocks()};
    const ValueId operand = movement.filterInBlocks(rewriter_.mapped(row.operands[0]));
    return movement.imageOf(movement.append(made, {operand, rewriter_.mapped(row.operands[1])}), image);
  }

  // Operand 0 of `op`. Convolutions of one image share it, if they have the same blocks.
  ValueId imageInBlocks(OpId op, const PixelBlocks& blocks) {
    const ValueId old = graph_[op].operands[0];
    auto& known = rearranged_[{old, graph_[op].pin}];
    const auto* const same =
        llvm::find_if(known, [&](const Rearranged& one) { return one.blocks == blocks; });
    if (same != known.end()) {
      return same->now;
    }
    BlockMovement movement(rewriter_, op, blocks);
    const llvm::SmallVector<OpId, 4> chain = elementwiseFromNarrow(op, blocks);
    ValueId now = movement.inBlocks(rewriter_.mapped(chain.empty() ? old : imageOperand(chain.back())));
    for (const OpId member : llvm::reverse(chain)) {
      llvm::SmallVector<ValueId, 3> operands;
      for (const ValueId operand : graph_[member].operands) {
        operands.push_back(isScalar(operand) ? rewriter_.mapped(operand) : now);
      }
      now = movement.append(graph_[member].attributes, operands);
    }
    known.push_back({blocks, movement.asOperand(now)});
    return known.back().now;
  }

  // The elementwise ops that make the image of narrower elements, readers first; none where there are no such
  // elements, or zeros would go through the ops.
  llvm::SmallVector<OpId, 4> elementwiseFromNarrow(OpId convolution, const PixelBlocks& blocks) const {
    llvm::SmallVector<OpId, 4> chain;
    size_t best = 0;
    const auto widthOf = [&](ValueId value) { return byteWidth(graph_.typeOf(value).element); };
    ValueId at = graph_[convolution].operands[0];
    int64_t narrowest = widthOf(at);
    while (!blocks.padsPixels() && !readAsItIs_[at]) {
      const OpId maker = graph_[at].producer;
      at = imageOperand(maker);
      if (!at.valid() || graph_[maker].pin != graph_[convolution].pin) {
        break;
      }
      chain.push_back(maker);
      best = widthOf(at) < narrowest ? chain.size() : best;
      narrowest = std::min(narrowest, widthOf(at));
    }
    chain.truncate(best);
    return chain;
  }

  // The one operand of an elementwise op that is no scalar, if it has the result's shape.
  ValueId imageOperand(OpId op) const {
    const OpRow& row = graph_[op];
    ValueId found;
    for (const ValueId operand : row.operands) {
      if (isScalar(operand)) {
        continue;
      }
      if (found.valid() || !(graph_.typeOf(operand).shape == graph_.typeOf(row.firstResult).shape)) {
        return ValueId();
      }
      found = operand;
    }
    return classOf(row.kind()) == OpClass::Elementwise && row.resultCount == 1 ? found : ValueId();
  }
  bool isScalar(ValueId old) const { return graph_.typeOf(old).shape.rank() == 0; }

  struct Rearranged {
    PixelBlocks blocks;
    ValueId now;
  };

  const Graph& graph_;
  const Found& found_;
  Rewriter rewriter_;
  SideTable<ValueId, bool> readAsItIs_; // by something else than rewritten convolutions, even through ops
  llvm::DenseMap<std::pair<ValueId, StringId>, llvm::SmallVector<Rearranged, 1>>
      rearranged_; // by image and pin
};

} // namespace

Result<Graph> spaceToDepth(const Graph& graph, const PassOptions& options) {
  SpaceToDepth::Found found(graph.opCount());
  bool any = false;
  for (const OpId op : graph.ops()) {
    found[op] = options.channelsLast ? blocksFor(graph, op, options) : std::nullopt;
    any = any || found[op];
  }
  return any ? SpaceToDepth(graph, found).run() : graph;
}

} // namespace dfc
