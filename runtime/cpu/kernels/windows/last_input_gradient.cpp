// Cut along the images, and along the rows of images where these are few, by the shapes alone. A part of rows
// is the gradient of a convolution whose image is these rows alone and whose results are those that read
// them.
#include "runtime/cpu/kernels/windows/last_input_gradient.h"

#include "ir/graph/rules/convolution.h"
#include "runtime/cpu/kernels/packed_operand.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/kernels/windows/onednn_windows.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace dfc {
namespace {

using onednn::ConvolutionRequest;
constexpr int64_t floatBytes = sizeof(float);

int64_t quotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rows [row, row + rows) of images [image, image + images), made of rows of results; several images are
/// whole.
struct GradientPart {
  int64_t image = 0, images = 0, row = 0, rows = 0, result = 0, results = 0, low = 0;
  size_t request = 0, filter = 0; ///< of the primitive; piece of the packed filter
};

class LastInputGradient final : public CpuKernel {
 public:
  LastInputGradient(const Convolution& conv, ThreadPool& pool)
      : pool_(pool), conv_(conv), nanoseconds_(conv.flops() / flopsPerNanosecond) {}

  /// False where oneDNN has nothing for a part.
  bool prepare() {
    const auto most = static_cast<int64_t>(std::clamp(nanoseconds_ / worthNanoseconds, 1.0, mostParts));
    const bool byRows = conv_.batch() < most;
    return (byRows && cut(1, rowsFor(quotientUp(most, conv_.batch())))) ||
           cut(quotientUp(conv_.batch(), std::min(most, conv_.batch())), conv_.image[2]);
  }

  bool hold(llvm::ArrayRef<Held> operands) override {
    holds_ = filter_ != nullptr && operands[0] == Held::Yes;
    return holds_;
  }
  void heldChanged() override { filter_->forget(); }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (filter_ != nullptr) {
      if (!holds_) {
        filter_->forget();
      }
      filter_->pack(operands[0]);
    }
    const auto parts = static_cast<int64_t>(parts_.size());
    pool_.run(threads_, [&](uint32_t thread) {
      const TaskRange range = tasksOfPart(parts, threads_, thread);
      for (int64_t index = range.begin; index < range.end; ++index) {
        runPart(thread, parts_[static_cast<size_t>(index)], operands, results[0]);
      }
    });
  }

 private:
  static constexpr double flopsPerNanosecond = 100, worthNanoseconds = 12000, mostParts = 64; // of one thread

  /// A multiple of the stride, so that parts have equal windows.
  int64_t rowsFor(int64_t parts) const {
    const WindowAxis& down = conv_.windows.rows;
    return quotientUp(quotientUp(down.length, parts), down.stride) * down.stride;
  }

  bool cut(int64_t imagesEach, int64_t rowsEach) {
    parts_.clear();
    requests_.clear();
    std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, size_t> numbers;
    for (int64_t image = 0; image < conv_.batch(); image += imagesEach) {
      for (int64_t row = 0; row < conv_.image[2]; row += rowsEach) {
        GradientPart part{image, std::min(imagesEach, conv_.batch() - image), row,
                          std::min(rowsEach, conv_.image[2] - row)};
        if (!findResults(part)) {
          return false;
        }
        const auto known =
            numbers.try_emplace({part.images, part.rows, part.results, part.low}, requests_.size());
        if (known.second) {
          requests_.push_back(requestOf(part));
        }
        part.request = known.first->second;
        parts_.push_back(part);
      }
    }
    threads_ = partCount(pool_, static_cast<int64_t>(parts_.size()), nanoseconds_);
    return makePrimitives();
  }

  // The results whose windows reach the rows; false where these are none or begin within the rows.
  bool findResults(GradientPart& part) const {
    const WindowAxis& down = conv_.windows.rows;
    const bool whole = part.rows == down.length;
    const int64_t reach = (down.size - 1) * down.dilation;
    const int64_t first = whole ? 0 : std::max<int64_t>(0, part.row + down.low - reach);
    part.result = quotientUp(first, down.stride);
    const int64_t end =
        whole ? down.count : std::min(down.count, (part.row + part.rows - 1 + down.low) / down.stride + 1);
    part.results = end - part.result;
    part.low = part.row + down.low - part.result * down.stride;
    return part.results > 0 && part.low >= 0;
  }

  ConvolutionRequest requestOf(const GradientPart& part) const {
    ConvolutionRequest request;
    setWindows(request, conv_.windows);
    request.pass = ConvolutionRequest::Pass::InputGradient;
    request.batch = part.images;
    request.groups = conv_.groups;
    request.channels = conv_.groupChannels();
    request.filters = conv_.groupFilters();
    request.image[0] = part.rows;
    request.result[0] = part.results;
    request.low[0] = part.low;
    request.filterStride = conv_.terms();
    request.channelsLast = true;
    request.filterLast = conv_.layout == ImageLayout::Nhwc;
    return request;
  }

  bool makePrimitives() {
    std::vector<PackedOperand::Piece> pieces;
    std::map<std::string, size_t> pieceOf; // by the packed layout
    std::vector<size_t> pieceOfRequest;
    primitives_ = ShapedPrimitives();
    filter_.reset();
    for (size_t i = 0; i < requests_.size(); ++i) {
      const auto known = pieceOf.try_emplace(onednnModule().packedLayout(requests_[i]), pieces.size());
      requests_[i].packedFilter = true;
      if (known.second) {
        pieces.push_back({shapeOf(i), requests_[i], 0});
      }
      pieceOfRequest.push_back(known.first->second);
    }
    filter_ = pieceOf.count("") != 0 ? nullptr : PackedOperand::make(std::move(pieces), pool_);
    for (size_t i = 0; i < requests_.size(); ++i) {
      requests_[i].packedFilter = filter_ != nullptr;
      if (!primitives_.add(shapeOf(i), [&] { return onednnModule().make(requests_[i], threads_); })) {
        return false;
      }
    }
    for (GradientPart& part : parts_) {
      part.filter = pieceOfRequest[part.request];
    }
    return true;
  }

  static ShapedPrimitives::Shape shapeOf(size_t request) { return {static_cast<int64_t>(request), 0}; }

  void runPart(uint32_t thread, const GradientPart& part, llvm::ArrayRef<const std::byte*> operands,
               std::byte* image) const {
    const int64_t result =
        (part.image * conv_.windows.rows.count + part.result) * conv_.windows.columns.count * conv_.filter[0];
    const int64_t to = (part.image * conv_.image[2] + part.row) * conv_.image[3] * conv_.image[1];
    const std::byte* inputs[2] = {filter_ != nullptr ? filter_->piece(part.filter) : operands[0],
                                  operands[1] + result * floatBytes};
    primitives_.run(shapeOf(part.request), thread, inputs, image + to * floatBytes,
                    threadScratch(primitives_.scratchBytes()), "transposed convolution");
  }

  ThreadPool& pool_;
  Convolution conv_;
  double nanoseconds_;
  uint32_t threads_ = 1;
  std::vector<GradientPart> parts_;
  std::vector<ConvolutionRequest> requests_; // each once
  ShapedPrimitives primitives_;              // by number of the request
  std::unique_ptr<PackedOperand> filter_;    // null where oneDNN takes the plain one
  bool holds_ = false;
};

} // namespace

std::unique_ptr<CpuKernel> makeLastInputGradient(const ops::Conv2dInputGradient& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  const std::optional<ConvolutionCall> call = convolutionCall(op, operands);
  if (!call || results[0].element != ElementType::F32 || call->conv.layout == ImageLayout::Nchw ||
      call->conv.image.elements() == 0 || call->conv.filter.elements() == 0 ||
      call->conv.result.elements() == 0) {
    return nullptr;
  }
  auto kernel = std::make_unique<LastInputGradient>(call->conv, pool);
  return kernel->prepare() ? std::move(kernel) : nullptr;
}

} // namespace dfc
