#include "ir/graph/rules/convolution_splits.h"

namespace dfc {
namespace {

class ConvolutionFactors {
 public:
  ConvolutionFactors(const Convolution& conv, const ConvolutionSlots& slots, OperandTypes operands,
                     OperandTypes results)
      : conv_(conv), slots_(slots), operands_(operands), results_(results) {}

  SplitRule rule() {
    batch();
    if (conv_.groups > 1) { // channels and filters are cut by whole groups alone
      groups();
    } else {
      channels();
      filters();
    }
    windows(2);
    windows(3);
    return std::move(rule_);
  }

 private:
  const TensorType& type(size_t slot) const {
    return slot == ConvolutionSlots::made ? results_[0] : operands_[slot];
  }
  SplitAxis& in(SplitFactor& factor, size_t slot) const {
    return slot == ConvolutionSlots::made ? factor.results[0] : factor.operands[slot];
  }
  // Free where the tensor that is made has the axis, else a sum.
  SplitFactor factor(int64_t extent, size_t without) const {
    return {without == ConvolutionSlots::made ? SplitKind::Sum : SplitKind::Free, extent, 2, 1};
  }
  void put(SplitFactor& factor, size_t slot, size_t axis, int64_t size = 1) const {
    in(factor, slot) = groupsAlongAxis(type(slot), axis, size);
  }

  void batch() {
    SplitFactor made = factor(conv_.batch(), slots_.filter);
    put(made, slots_.image, 0);
    put(made, slots_.result, 0);
    rule_.add(std::move(made));
  }
  void channels() {
    SplitFactor made = factor(conv_.image[1], slots_.result);
    put(made, slots_.image, imageAxis(conv_.layout, 1));
    put(made, slots_.filter, filterAxis(conv_.layout, 1));
    rule_.add(std::move(made));
  }
  void filters() {
    SplitFactor made = factor(conv_.filter[0], slots_.image);
    put(made, slots_.filter, 0);
    put(made, slots_.result, imageAxis(conv_.layout, 1));
    rule_.add(std::move(made));
  }
  void groups() {
    SplitFactor made(SplitKind::Free, conv_.groups, 2, 1);
    put(made, slots_.image, imageAxis(conv_.layout, 1), conv_.groupChannels());
    put(made, slots_.filter, 0, conv_.groupFilters());
    put(made, slots_.result, imageAxis(conv_.layout, 1), conv_.groupFilters());
    rule_.add(std::move(made));
  }
  // Of an image that is made the elements are cut, which the windows look at; else the windows.
  void windows(size_t axis) {
    const WindowAxis& window = axis == 2 ? conv_.windows.rows : conv_.windows.columns;
    const bool ofElements = slots_.image == ConvolutionSlots::made;
    if (ofElements && !windowsCover(conv_.windows, axis)) {
      return;
    }
    SplitFactor made(slots_.filter == ConvolutionSlots::made ? SplitKind::Sum : SplitKind::Window,
                     ofElements ? window.length : window.count, 2, 1);
    if (ofElements) {
      put(made, slots_.image, imageAxis(conv_.layout, axis));
      in(made, slots_.result) = windowsOfElements(type(slots_.result), conv_.layout, conv_.windows, axis);
    } else {
      put(made, slots_.result, imageAxis(conv_.layout, axis));
      in(made, slots_.image) = elementsOfWindows(type(slots_.image), conv_.layout, conv_.windows, axis);
    }
    rule_.add(std::move(made));
  }

  const Convolution& conv_;
  const ConvolutionSlots& slots_;
  OperandTypes operands_, results_;
  SplitRule rule_;
};

} // namespace

SplitRule convolutionSplit(const Convolution& conv, const ConvolutionSlots& slots, OperandTypes operands,
                           OperandTypes results) {
  return ConvolutionFactors(conv, slots, operands, results).rule().with({{0}, {1}});
}

} // namespace dfc
