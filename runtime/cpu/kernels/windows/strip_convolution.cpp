#include "runtime/cpu/kernels/windows/strip_convolution.h"

#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/matmul/copy_rows.h"
#include "runtime/cpu/kernels/packed_operand.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/kernels/windows/onednn_windows.h"
#include "runtime/cpu/kernels/windows/strip_plan.h"
#include "runtime/cpu/onednn_library.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dfc {
namespace {

using onednn::ConvolutionRequest;
constexpr int64_t width = sizeof(float);

size_t alignedBytes(int64_t elements) { return static_cast<size_t>((elements * width + 63) / 64 * 64); }

/// A strip as oneDNN computes it.
struct StripCall {
  Strip strip;
  int64_t firstRow = 0;          ///< of the image
  ShapedPrimitives::Shape shape; ///< of the primitive
  size_t filter = 0;             ///< piece of the packed filter
};

class StripConvolution final : public CpuKernel {
 public:
  StripConvolution(const Convolution& conv, std::optional<ElementwisePieces> finish, bool mayMakeInResult,
                   ThreadPool& pool)
      : pool_(pool), conv_(conv), plan_(conv), finish_(std::move(finish)),
        makesInResult_(mayMakeInResult && !plan_.cutsFilters()),
        threads_(partCount(pool, plan_.strips(), plan_.cost())) {}

  /// False where oneDNN has nothing for a strip.
  bool prepare() {
    for (int64_t index = 0; index < plan_.strips(); ++index) {
      if (!describe(plan_.strip(index))) {
        return false;
      }
    }
    return (makePrimitives(false) || makePrimitives(true)) && packFilters();
  }

  bool hold(llvm::ArrayRef<Held> operands) override {
    holds_ = filters_ != nullptr && operands[1] == Held::Yes;
    return holds_;
  }
  void heldChanged() override { filters_->forget(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (filters_ != nullptr) {
      if (!holds_) {
        filters_->forget();
      }
      filters_->pack(operands[1]);
    }
    // The convolution writes into the result itself, unless an operand of the epilogue lies there.
    const bool inResult = makesInResult_ && !llvm::is_contained(operands.drop_front(2), results[0]);
    pool_.run(threads_, [&](uint32_t thread) {
      const TaskRange range = tasksOfPart(plan_.strips(), threads_, thread);
      for (int64_t index = range.begin; index < range.end; ++index) {
        runStrip(thread, calls_[static_cast<size_t>(index)], inResult, operands, results[0]);
      }
    });
  }

 private:
  // Adds the call of a strip, of the image rows that its windows read; false where they read padding alone.
  bool describe(const Strip& strip) {
    const WindowAxis& down = conv_.windows.rows;
    const int64_t first = strip.row * down.stride - down.low;
    const int64_t begin = std::max<int64_t>(first, 0);
    const int64_t last = first + (strip.rows - 1) * down.stride + (down.size - 1) * down.dilation;
    // Images of one call must be contiguous, so that rows which no window reads are part of it, too.
    const int64_t end = strip.images > 1 ? down.length : std::min(down.length, last + 1);
    if (begin >= end) {
      return false;
    }
    ConvolutionRequest request;
    setWindows(request, conv_.windows);
    request.batch = strip.images;
    request.groups = conv_.groups;
    request.channels = conv_.groupChannels();
    request.filters = conv_.groups > 1 ? conv_.groupFilters() : strip.filters;
    request.image[0] = end - begin;
    request.result[0] = strip.rows;
    request.low[0] = begin - first;
    request.filterStride = conv_.terms();
    request.channelsLast = true;
    request.filterLast = conv_.layout == ImageLayout::Nhwc;
    const auto number = static_cast<int64_t>(requests_.size());
    const auto known =
        numbers_.try_emplace({strip.images, end - begin, strip.rows, begin - first, strip.filters}, number);
    if (known.second) {
      requests_.push_back(request);
    }
    calls_.push_back({strip, begin, {known.first->second, 0}});
    return true;
  }

  bool makePrimitives(bool reorders) {
    for (ConvolutionRequest& request : requests_) {
      request.reorders = reorders;
      request.packedFilter = false;
    }
    packs_ = llvm::all_of(
        requests_, [](const ConvolutionRequest& request) { return onednnModule().packedBytes(request) > 0; });
    primitives_ = ShapedPrimitives();
    for (size_t i = 0; i < requests_.size(); ++i) {
      requests_[i].packedFilter = packs_;
      if (!primitives_.add({static_cast<int64_t>(i), 0},
                           [&] { return onednnModule().make(requests_[i], threads_); })) {
        return false;
      }
    }
    return true;
  }

  // Strips of the same filters share packed filters where their primitives have the same packed layout.
  bool packFilters() {
    if (!packs_) {
      return true;
    }
    std::vector<std::string> layouts;
    for (const ConvolutionRequest& request : requests_) {
      layouts.push_back(onednnModule().packedLayout(request));
    }
    std::vector<PackedOperand::Piece> pieces;
    std::map<std::pair<int64_t, std::string>, size_t> numbers; // by the first filter and the layout
    for (StripCall& call : calls_) {
      const auto request = static_cast<size_t>(call.shape.first);
      const auto known = numbers.try_emplace({call.strip.filter, layouts[request]}, pieces.size());
      if (known.second) {
        pieces.push_back({call.shape, requests_[request], call.strip.filter * conv_.terms() * width});
      }
      call.filter = known.first->second;
    }
    filters_ = PackedOperand::make(std::move(pieces), pool_);
    return filters_ != nullptr;
  }

  int64_t pixels(const Strip& strip) const { return strip.images * strip.rows * conv_.windows.columns.count; }
  /// Index in the result of the strip's first element.
  int64_t offset(const Strip& strip) const {
    const int64_t pixel = (strip.image * conv_.windows.rows.count + strip.row) * conv_.windows.columns.count;
    return pixel * conv_.filter[0] + strip.filter;
  }

  void runStrip(uint32_t thread, const StripCall& call, bool inResult,
                llvm::ArrayRef<const std::byte*> operands, std::byte* result) {
    const Strip& strip = call.strip;
    const int64_t imageRow = call.firstRow + strip.image * conv_.image[2];
    const int64_t own = inResult ? 0 : pixels(strip) * strip.filters;
    std::byte* const scratch = threadScratch(primitives_.scratchBytes() + alignedBytes(own) +
                                             (finish_ ? finish_->scratchBytes() : 0));
    std::byte* const made = inResult ? result + offset(strip) * width : scratch + primitives_.scratchBytes();
    const std::byte* const filter = filters_ != nullptr ? filters_->piece(call.filter)
                                                        : operands[1] + strip.filter * conv_.terms() * width;
    const std::byte* inputs[2] = {operands[0] + imageRow * conv_.image[3] * conv_.image[1] * width, filter};
    primitives_.run(call.shape, thread, inputs, made, scratch, "convolution");
    if (finish_) {
      finish(strip, made, operands.drop_front(2), result,
             scratch + primitives_.scratchBytes() + alignedBytes(own));
    } else if (!inResult) {
      copyRows(made, strip.filters * width, result + offset(strip) * width, conv_.filter[0] * width,
               strip.filters * width, pixels(strip));
    }
  }

  // The epilogue addresses the convolution by indices in the whole result: its base address is `made`, less
  // the strip's offset. It reads the strip alone.
  void finish(const Strip& strip, const std::byte* made, llvm::ArrayRef<const std::byte*> others,
              std::byte* result, std::byte* scratch) const {
    const int64_t begin = offset(strip), filters = conv_.filter[0];
    llvm::SmallVector<const std::byte*, 4> inputs{reinterpret_cast<const std::byte*>(
        reinterpret_cast<uintptr_t>(made) - static_cast<uintptr_t>(begin * width))};
    inputs.append(others.begin(), others.end());
    const int64_t all = pixels(strip);
    const bool whole = strip.filters == filters;
    finish_->run(inputs, result,
                 whole ? ElementwisePieces::Piece{begin, all * filters, 1}
                       : ElementwisePieces::Piece{begin, strip.filters, all, filters, strip.filters},
                 scratch);
  }

  ThreadPool& pool_;
  Convolution conv_;
  StripPlan plan_;
  std::optional<ElementwisePieces> finish_;
  bool makesInResult_, packs_ = false, holds_ = false;
  uint32_t threads_;
  std::vector<StripCall> calls_;                                                       // by strip
  std::vector<ConvolutionRequest> requests_;                                           // each once
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, int64_t> numbers_; // in requests_
  ShapedPrimitives primitives_;                                                        // by number
  std::unique_ptr<PackedOperand> filters_;
};

std::unique_ptr<CpuKernel> makeStrips(const ops::Conv2d& op, OperandTypes operands, const TensorType& result,
                                      std::optional<ElementwisePieces> finish, ThreadPool& pool) {
  const Convolution conv = convolutionOf(op, operands);
  const bool isTrivial =
      conv.image.elements() == 0 || conv.filter.elements() == 0 || conv.result.elements() == 0;
  if (operands[0].element != ElementType::F32 || conv.layout == ImageLayout::Nchw || isTrivial) {
    return nullptr;
  }
  const bool mayMakeInResult = result.element == ElementType::F32;
  auto kernel = std::make_unique<StripConvolution>(conv, std::move(finish), mayMakeInResult, pool);
  return kernel->prepare() ? std::move(kernel) : nullptr;
}

/// The kernel of the whole convolution, then that of the epilogue; where there are no strips.
class ConvolveThenFinish final : public CpuKernel {
 public:
  ConvolveThenFinish(const ops::FusedConv2d& op, OperandTypes operands, OperandTypes results,
                     ThreadPool& pool)
      : bytes_(static_cast<size_t>(op.convolutionType(operands).bytes())),
        convolve_(
            makeCpuKernel(op.convolution(), operands.take_front(2), op.convolutionType(operands), pool)),
        finish_(makeElementwiseKernel(op.epilogue(), op.epilogueOperands(operands), results, pool)) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    std::byte* made = threadIntermediate(bytes_);
    convolve_->run(operands.take_front(2), made);
    llvm::SmallVector<const std::byte*, 4> inputs{made};
    inputs.append(operands.begin() + 2, operands.end());
    finish_->run(inputs, results);
  }

 private:
  size_t bytes_;
  std::unique_ptr<CpuKernel> convolve_, finish_;
};

} // namespace

std::unique_ptr<CpuKernel> makeStripConvolution(const ops::Conv2d& op, OperandTypes operands,
                                                OperandTypes results, ThreadPool& pool) {
  return makeStrips(op, operands, results[0], std::nullopt, pool);
}

std::unique_ptr<CpuKernel> makeFusedConv2dKernel(const ops::FusedConv2d& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  if (auto strips =
          makeStrips(op, operands.take_front(2), results[0],
                     ElementwisePieces(op.epilogue(), op.epilogueOperands(operands), results[0]), pool)) {
    return strips;
  }
  return std::make_unique<ConvolveThenFinish>(op, operands, results, pool);
}

} // namespace dfc
