#include "runtime/cpu/kernels/windows/own_convolution.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/matmul/block_matmul.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <functional>

namespace dfc {
namespace {

constexpr int64_t im2colElements = int64_t{1} << 17; // of an im2col block: 1 MiB, in L2
constexpr int64_t leastColumns = 16;                 // of a block that is a part of a row
constexpr int64_t filterChunk = 64;                  // filters of one task of a filter gradient

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

const std::byte* bytes(const double* numbers) { return reinterpret_cast<const std::byte*>(numbers); }
std::byte* bytes(double* numbers) { return reinterpret_cast<std::byte*>(numbers); }

// The scratch of a task, divided.
class Arena {
 public:
  explicit Arena(int64_t doubles)
      : next_(threadScratch(static_cast<size_t>(doubles + 64) * sizeof(double) +
                            blockMatmulScratch(ElementType::F64))) {}
  double* take(int64_t doubles) {
    auto* taken = reinterpret_cast<double*>(next_);
    next_ += ceilDiv(doubles, 8) * 64;
    return taken;
  }
  std::byte* rest() { return next_; }

 private:
  std::byte* next_;
};

// Some whole rows of the result of one image, or a contiguous part of a row: `pixels` columns of the im2col
// matrix.
struct Block {
  int64_t row = 0, rows = 0, column = 0, columns = 0, pixel = 0, pixels = 0;
};

// Conversion between one image's channels of one group and the im2col matrix [terms, pixels of a block].
class Im2col {
 public:
  explicit Im2col(const Convolution& conv)
      : conv_(conv), width_(conv.windows.columns.count),
        blockRows_(std::clamp<int64_t>(im2colElements / conv.terms() / width_, 1, conv.windows.rows.count)),
        blockColumns_(columnsOf(conv)), blocksOfRow_(ceilDiv(width_, blockColumns_)) {}

  int64_t blocks() const { return ceilDiv(conv_.windows.rows.count, blockRows_) * blocksOfRow_; }
  Block block(int64_t index) const {
    const int64_t row = index / blocksOfRow_ * blockRows_, column = index % blocksOfRow_ * blockColumns_;
    const int64_t rows = std::min(blockRows_, conv_.windows.rows.count - row);
    const int64_t columns = std::min(blockColumns_, width_ - column);
    return {row, rows, column, columns, row * width_ + column, rows * columns};
  }
  int64_t elements() const { return conv_.terms() * mostPixels(); }
  int64_t mostPixels() const { return blockRows_ * blockColumns_; }

  /// `visit(term's row of the matrix, its column, image offset, stride of the image, count)` for every range
  /// of adjacent results that read elements and not padding.
  template <class Visit>
  void forEachRun(const Block& block, Visit visit) const {
    const WindowAxis &rows = conv_.windows.rows, &columns = conv_.windows.columns;
    int64_t term = 0;
    for (int64_t channel = 0; channel < conv_.groupChannels(); ++channel) {
      for (int64_t i = 0; i < rows.size; ++i) {
        for (int64_t j = 0; j < columns.size; ++j, ++term) {
          const WindowAxis::Range down = rows.windowsAt(i), along = columns.windowsAt(j);
          const int64_t left = std::max(along.begin, block.column);
          const int64_t right = std::min(along.end, block.column + block.columns);
          if (left >= right) {
            continue;
          }
          const int64_t first = std::max(down.begin, block.row);
          for (int64_t row = first; row < std::min(down.end, block.row + block.rows); ++row) {
            const int64_t at = (channel * conv_.image[2] + rows.at(row, i)) * conv_.image[3];
            visit(term * block.pixels + (row - block.row) * block.columns + left - block.column,
                  at + columns.at(left, j), right - left);
          }
        }
      }
    }
  }

  template <class T>
  void spread(const T* image, const Block& block, double* matrix) const {
    std::fill_n(matrix, conv_.terms() * block.pixels, 0.0);
    const int64_t stride = conv_.windows.columns.stride;
    forEachRun(block, [&](int64_t to, int64_t from, int64_t run) {
      for (int64_t k = 0; k < run; ++k) {
        matrix[to + k] = static_cast<double>(image[from + k * stride]);
      }
    });
  }
  void gather(const double* matrix, const Block& block, double* image) const {
    const int64_t stride = conv_.windows.columns.stride;
    forEachRun(block, [&](int64_t from, int64_t to, int64_t run) {
      for (int64_t k = 0; k < run; ++k) {
        image[to + k * stride] += matrix[from + k];
      }
    });
  }

 private:
  // Whole rows where a block holds one. The block's results, for each filter of the group, have to fit too.
  static int64_t columnsOf(const Convolution& conv) {
    const int64_t width = conv.windows.columns.count;
    if (width <= im2colElements / conv.terms()) {
      return width;
    }
    const int64_t most = im2colElements / std::max(conv.terms(), conv.groupFilters());
    return std::clamp(most, std::min(leastColumns, width), width);
  }

  const Convolution& conv_;
  int64_t width_, blockRows_, blockColumns_;
  int64_t blocksOfRow_;
};

template <class T>
class OwnConvolution final : public CpuKernel {
 public:
  OwnConvolution(ConvolutionPass pass, const Convolution& conv, ThreadPool& pool)
      : pool_(pool), pass_(pass), conv_(conv), im2col_(conv_),
        chunks_(pass == ConvolutionPass::FilterGradient ? ceilDiv(conv.groupFilters(), filterChunk)
                                                        : conv.batch()),
        tasks_(chunks_ * conv.groups), parts_(partCount(pool, tasks_, conv.flops() / 8)) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        const auto* first = reinterpret_cast<const T*>(operands[0]);
        const auto* second = reinterpret_cast<const T*>(operands[1]);
        auto* result = reinterpret_cast<T*>(results[0]);
        const int64_t group = task / chunks_, chunk = task % chunks_;
        switch (pass_) {
        case ConvolutionPass::Forward: forward(first, second, result, chunk, group); break;
        case ConvolutionPass::InputGradient: toInput(first, second, result, chunk, group); break;
        case ConvolutionPass::FilterGradient: toFilter(first, second, result, chunk, group); break;
        }
      }
    });
  }

 private:
  int64_t imageAt(int64_t image, int64_t group) const {
    return (image * conv_.image[1] + group * conv_.groupChannels()) * conv_.imagePixels();
  }
  int64_t resultAt(int64_t image, int64_t group) const {
    return (image * conv_.filter[0] + group * conv_.groupFilters()) * conv_.pixels();
  }
  int64_t filterAt(int64_t group) const { return group * conv_.groupFilters() * conv_.terms(); }

  // The group's filters as doubles.
  double* takeFilters(Arena& arena, const T* filter, int64_t group) const {
    const int64_t count = conv_.groupFilters() * conv_.terms();
    double* filters = arena.take(count);
    std::copy_n(filter + filterAt(group), count, filters);
    return filters;
  }
  // Rows of a block's results or cotangents, `pixels` apart.
  void copyIn(const T* from, int64_t rows, const Block& block, double* to) const {
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * conv_.pixels() + block.pixel, block.pixels, to + row * block.pixels);
    }
  }

  void forward(const T* image, const T* filter, T* result, int64_t batch, int64_t group) const {
    const int64_t filters = conv_.groupFilters(), terms = conv_.terms();
    Arena arena(filters * (terms + im2col_.mostPixels()) + im2col_.elements());
    const double* weights = takeFilters(arena, filter, group);
    double* matrix = arena.take(im2col_.elements());
    double* product = arena.take(filters * im2col_.mostPixels());
    for (int64_t i = 0; i < im2col_.blocks(); ++i) {
      const Block block = im2col_.block(i);
      im2col_.spread(image + imageAt(batch, group), block, matrix);
      const BlockMatmul shape{filters, block.pixels, terms, terms, block.pixels, block.pixels, false, false};
      blockMatmul(ElementType::F64, shape, bytes(weights), bytes(matrix), bytes(product), arena.rest());
      for (int64_t row = 0; row < filters; ++row) {
        std::transform(product + row * block.pixels, product + (row + 1) * block.pixels,
                       result + resultAt(batch, group) + row * conv_.pixels() + block.pixel,
                       [](double sum) { return static_cast<T>(sum); });
      }
    }
  }

  void toInput(const T* filter, const T* cotangent, T* result, int64_t batch, int64_t group) const {
    const int64_t filters = conv_.groupFilters(), terms = conv_.terms();
    const int64_t elements = conv_.groupChannels() * conv_.imagePixels();
    Arena arena(filters * (terms + im2col_.mostPixels()) + im2col_.elements() + elements);
    const double* weights = takeFilters(arena, filter, group);
    double* matrix = arena.take(im2col_.elements());
    double* arrived = arena.take(filters * im2col_.mostPixels());
    double* sums = arena.take(elements);
    std::fill_n(sums, elements, 0.0);
    for (int64_t i = 0; i < im2col_.blocks(); ++i) {
      const Block block = im2col_.block(i);
      copyIn(cotangent + resultAt(batch, group), filters, block, arrived);
      const BlockMatmul shape{terms, block.pixels, filters, terms, block.pixels, block.pixels, true, false};
      blockMatmul(ElementType::F64, shape, bytes(weights), bytes(arrived), bytes(matrix), arena.rest());
      im2col_.gather(matrix, block, sums);
    }
    std::transform(sums, sums + elements, result + imageAt(batch, group),
                   [](double sum) { return static_cast<T>(sum); });
  }

  void toFilter(const T* image, const T* cotangent, T* result, int64_t chunk, int64_t group) const {
    const int64_t firstFilter = chunk * filterChunk, terms = conv_.terms();
    const int64_t filters = std::min(filterChunk, conv_.groupFilters() - firstFilter);
    Arena arena(filters * (2 * terms + im2col_.mostPixels()) + im2col_.elements());
    double* matrix = arena.take(im2col_.elements());
    double* arrived = arena.take(filters * im2col_.mostPixels());
    double* product = arena.take(filters * terms);
    double* sums = arena.take(filters * terms);
    std::fill_n(sums, filters * terms, 0.0);
    for (int64_t batch = 0; batch < conv_.batch(); ++batch) {
      for (int64_t i = 0; i < im2col_.blocks(); ++i) {
        const Block block = im2col_.block(i);
        im2col_.spread(image + imageAt(batch, group), block, matrix);
        copyIn(cotangent + resultAt(batch, group) + firstFilter * conv_.pixels(), filters, block, arrived);
        const BlockMatmul shape{filters, terms, block.pixels, block.pixels, block.pixels, terms, false, true};
        blockMatmul(ElementType::F64, shape, bytes(arrived), bytes(matrix), bytes(product), arena.rest());
        std::transform(sums, sums + filters * terms, product, sums, std::plus<>());
      }
    }
    std::transform(sums, sums + filters * terms, result + filterAt(group) + firstFilter * terms,
                   [](double sum) { return static_cast<T>(sum); });
  }

  ThreadPool& pool_;
  ConvolutionPass pass_;
  Convolution conv_;
  Im2col im2col_;          // refers to conv_
  int64_t chunks_, tasks_; // images, or chunks of filters; of every group
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeOwnConvolution(ConvolutionPass pass, const Convolution& conv, ElementType type,
                                              ThreadPool& pool) {
  if (type == ElementType::F64) {
    return std::make_unique<OwnConvolution<double>>(pass, conv, pool);
  }
  DFC_ASSERT(type == ElementType::F32, "16-bit floats are widened first");
  return std::make_unique<OwnConvolution<float>>(pass, conv, pool);
}

} // namespace dfc
