// Planes are copied into rows of one pitch, their padding written out, and sorted by the phases of the
// stride. Then a place of the window is an offset: every pass is a product of a small matrix and of rows at
// such offsets (plane_products.h), over all elements of a band of rows at once. The columns between the
// results and the pitch are computed and dropped, or have cotangents of zero.
#include "runtime/cpu/kernels/windows/group_convolution.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/attention/block_buffers.h"
#include "runtime/cpu/kernels/windows/phase_axis.h"
#include "runtime/cpu/kernels/windows/plane_products.h"
#include "runtime/cpu/kernels/windows/strided_rows.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace dfc {
namespace {

constexpr int64_t bandElements = 1 << 14;       // of a plane, about
constexpr int64_t wantedTasks = 64;             // of a filter gradient, for a host of many threads
constexpr double leastTaskFlops = 4e5;          // of a task of a filter gradient that is cut along the batch
constexpr int64_t mostAdded = int64_t{1} << 14; // elements that a partial sum takes in before it is widened
constexpr double groupedFlops = 20;             // of a thread in a nanosecond

// Pieces of at most `size`.
int64_t inPieces(int64_t all, int64_t size) { return (all + size - 1) / size; }

struct Band {
  int64_t first = 0, rows = 0;
};

// T: float or double, which sums are carried in.
template <class T>
class GroupConvolution final : public CpuKernel {
 public:
  GroupConvolution(ConvolutionPass pass, const Convolution& conv, ThreadPool& pool)
      : pool_(pool), pass_(pass), conv_(conv), rows_(conv.windows.rows), columns_(conv.windows.columns),
        toInput_(pass == ConvolutionPass::InputGradient),
        pitch_(std::max(columns_.windows().count + columns_.mostShift(), toInput_ ? columns_.length() : 0)),
        allRows_(toInput_ ? rows_.length() : rows_.windows().count) {
    const int64_t rows =
        std::clamp(bandElements / pitch_, std::min(4 * rows_.mostShift() + 1, allRows_), allRows_);
    bands_ = inPieces(allRows_, rows);
    bandRows_ = inPieces(allRows_, bands_);
    bands_ = inPieces(allRows_, bandRows_);
    plane_ = (bandRows_ + rows_.mostShift()) * pitch_ + columns_.mostShift() + productSlack;
    made_ = bandRows_ * pitch_ + productSlack;
    slabs_ = conv.batch() * bands_;
    if (pass == ConvolutionPass::FilterGradient) {
      const auto worth = static_cast<int64_t>(conv.flops() / leastTaskFlops) / conv.groups;
      slabParts_ = std::clamp<int64_t>(std::min(inPieces(wantedTasks, conv.groups), worth), 1, slabs_);
    } else {
      slabParts_ = slabs_;
    }
    if (addsPieces()) {
      pieces_.emplace(static_cast<size_t>(slabParts_ * conv.filter.elements()) * sizeof(double));
    }
    tasks_ = conv.groups * slabParts_;
    parts_ = partCount(pool, tasks_, conv.flops() / groupedFlops);
    toInput_ ? placeCotangents() : placeImages();
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const auto* first = reinterpret_cast<const T*>(operands[0]);
    const auto* second = reinterpret_cast<const T*>(operands[1]);
    auto* result = reinterpret_cast<T*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      BlockBuffers pieces(threadScratch(scratchBytes()));
      Buffers buffers(*this, pieces);
      const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        const int64_t group = task / slabParts_, slab = task % slabParts_;
        switch (pass_) {
        case ConvolutionPass::Forward: forward(first, second, result, group, slab, buffers); break;
        case ConvolutionPass::InputGradient: toInput(first, second, result, group, slab, buffers); break;
        case ConvolutionPass::FilterGradient: toFilter(first, second, result, group, slab, buffers); break;
        }
      }
    });
    if (addsPieces()) {
      addPieces(result);
    }
  }

 private:
  struct Buffers {
    T *planes, *others, *weights, *partial;
    double* sums;
    int64_t group = -1; // whose filters lie in `weights`
    Buffers(const GroupConvolution& kernel, BlockBuffers& pieces) {
      const Convolution& conv = kernel.conv_;
      const int64_t filters = conv.groupFilters() * conv.terms();
      const bool toFilter = kernel.pass_ == ConvolutionPass::FilterGradient;
      planes = pieces.take<T>(
          (kernel.toInput_ ? conv.groupFilters() : conv.groupChannels() * kernel.phases()) * kernel.plane_);
      others = pieces.take<T>((kernel.toInput_ ? conv.groupChannels() : conv.groupFilters()) * kernel.made_);
      weights = pieces.take<T>(toFilter ? 0 : filters);
      partial = pieces.take<T>(toFilter ? filters * partialSumLanes<T> : 0);
      sums = pieces.take<double>(toFilter ? filters : 0);
    }
  };
  size_t scratchBytes() const {
    BlockBuffers pieces;
    const Buffers counted(*this, pieces);
    return pieces.used();
  }

  // The rows of one phase: their offsets, and the filter's elements [filter, channel, place] that belong to
  // them.
  struct Rows {
    std::vector<int64_t> offsets, elements;
  };

  int64_t phases() const { return rows_.phases() * columns_.phases(); }
  bool addsPieces() const { return pass_ == ConvolutionPass::FilterGradient && slabParts_ > 1; }
  int64_t imageAt(int64_t image, int64_t group) const {
    return (image * conv_.image[1] + group * conv_.groupChannels()) * conv_.imagePixels();
  }
  int64_t resultAt(int64_t image, int64_t group) const {
    return (image * conv_.filter[0] + group * conv_.groupFilters()) * conv_.pixels();
  }
  Band bandOf(int64_t slab) const {
    const int64_t first = slab % bands_ * bandRows_;
    return {first, std::min(bandRows_, allRows_ - first)};
  }

  // Rows in the order of the filter: one list.
  void placeImages() {
    rowsOf_.resize(1);
    const WindowAxis &down = rows_.windows(), &along = columns_.windows();
    for (int64_t channel = 0; channel < conv_.groupChannels(); ++channel) {
      for (int64_t i = 0; i < down.size; ++i) {
        for (int64_t j = 0; j < along.size; ++j) {
          const int64_t phase = rows_.phaseOf(i) * columns_.phases() + columns_.phaseOf(j);
          rowsOf_[0].offsets.push_back((channel * phases() + phase) * plane_ + rows_.shiftOf(i) * pitch_ +
                                       columns_.shiftOf(j));
        }
      }
    }
  }
  // Rows of cotangents for each phase of the image.
  void placeCotangents() {
    rowsOf_.resize(static_cast<size_t>(phases()));
    const WindowAxis &down = rows_.windows(), &along = columns_.windows();
    for (int64_t filter = 0; filter < conv_.groupFilters(); ++filter) {
      for (int64_t i = 0; i < down.size; ++i) {
        for (int64_t j = 0; j < along.size; ++j) {
          Rows& rows =
              rowsOf_[static_cast<size_t>(rows_.phaseOf(i) * columns_.phases() + columns_.phaseOf(j))];
          rows.offsets.push_back(filter * plane_ + (rows_.mostShift() - rows_.shiftOf(i)) * pitch_ +
                                 columns_.mostShift() - columns_.shiftOf(j));
          rows.elements.push_back(filter * conv_.terms() + i * along.size + j);
        }
      }
    }
  }

  PlaneRowsAt<T> rowsAt(const T* planes, const Rows& rows, int64_t length) const {
    return {planes, rows.offsets, length};
  }

  // The planes of a group's channels, by phase, as the windows of a band see them.
  void bringImages(const T* image, const Band& band, T* planes) const {
    for (int64_t channel = 0; channel < conv_.groupChannels(); ++channel) {
      for (int64_t i = 0; i < rows_.phases(); ++i) {
        for (int64_t j = 0; j < columns_.phases(); ++j) {
          bringPhase(image + channel * conv_.imagePixels(), band, i, j, planes);
          planes += plane_;
        }
      }
    }
  }
  void bringPhase(const T* image, const Band& band, int64_t rowPhase, int64_t columnPhase, T* to) const {
    const int64_t end = band.first + band.rows + rows_.mostShift();
    const WindowAxis::Range down = rows_.inside(rowPhase, band.first, end);
    const WindowAxis::Range along = columns_.inside(columnPhase, 0, pitch_);
    std::fill_n(to, (end - band.first) * pitch_ + productSlack, T(0));
    const T* const from =
        image + rows_.at(rowPhase, down.begin) * conv_.image[3] + columns_.at(columnPhase, along.begin);
    copyStridedRows<T>({from, rows_.windows().stride * conv_.image[3], columns_.windows().stride},
                       {to + (down.begin - band.first) * pitch_ + along.begin, pitch_, 1},
                       down.end - down.begin, along.end - along.begin);
  }

  // Rows [first, first + rows) of a plane of the result, zeros behind each and for rows that it lacks.
  void bringCotangents(const T* plane, int64_t first, int64_t rows, T* to) const {
    const int64_t count = columns_.windows().count;
    const int64_t begin = std::max<int64_t>(first, 0), end = std::min(first + rows, rows_.windows().count);
    std::fill_n(to, rows * pitch_ + productSlack, T(0));
    copyStridedRows<T>({plane + begin * count, count, 1}, {to + (begin - first) * pitch_, pitch_, 1},
                       end - begin, count);
  }

  void forward(const T* image, const T* filter, T* result, int64_t group, int64_t slab,
               Buffers& buffers) const {
    const int64_t filters = conv_.groupFilters(), terms = conv_.terms(), width = columns_.windows().count;
    if (std::exchange(buffers.group, group) != group) {
      for (int64_t f = 0; f < filters; ++f) {
        for (int64_t k = 0; k < terms; ++k) {
          buffers.weights[k * filters + f] = filter[(group * filters + f) * terms + k];
        }
      }
    }
    const Band band = bandOf(slab);
    bringImages(image + imageAt(slab / bands_, group), band, buffers.planes);
    weightedSums(rowsAt(buffers.planes, rowsOf_[0], (band.rows - 1) * pitch_ + width), buffers.weights,
                 filters, buffers.others, made_);
    T* to = result + resultAt(slab / bands_, group) + band.first * width;
    for (int64_t f = 0; f < filters; ++f, to += conv_.pixels()) {
      copyStridedRows<T>({buffers.others + f * made_, pitch_, 1}, {to, width, 1}, band.rows, width);
    }
  }

  void toInput(const T* filter, const T* cotangent, T* result, int64_t group, int64_t slab,
               Buffers& buffers) const {
    const int64_t filters = conv_.groupFilters(), channels = conv_.groupChannels();
    if (std::exchange(buffers.group, group) != group) {
      T* to = buffers.weights;
      for (const Rows& rows : rowsOf_) {
        for (const int64_t element : rows.elements) {
          for (int64_t channel = 0; channel < channels; ++channel) {
            *to++ = filter[group * filters * conv_.terms() + element + channel * conv_.windows.size()];
          }
        }
      }
    }
    const Band band = bandOf(slab);
    const int64_t image = slab / bands_;
    for (int64_t f = 0; f < filters; ++f) {
      T* const plane = buffers.planes + f * plane_;
      bringCotangents(cotangent + resultAt(image, group) + f * conv_.pixels(), band.first - rows_.mostShift(),
                      band.rows + rows_.mostShift(), std::fill_n(plane, columns_.mostShift(), T(0)));
    }
    T* const to = result + imageAt(image, group);
    if (!rows_.coversAll() || !columns_.coversAll()) {
      clear(to, band);
    }
    const T* weights = buffers.weights;
    for (int64_t phase = 0; phase < phases(); ++phase) {
      const Rows& rows = rowsOf_[static_cast<size_t>(phase)];
      weightedSums(rowsAt(buffers.planes, rows, band.rows * pitch_), weights, channels, buffers.others,
                   made_);
      weights += static_cast<int64_t>(rows.offsets.size()) * channels;
      for (int64_t channel = 0; channel < channels; ++channel) {
        writePhase(buffers.others + channel * made_, band, phase / columns_.phases(),
                   phase % columns_.phases(), to + channel * conv_.imagePixels());
      }
    }
  }

  // Writes zeros to a band of the images: pixels between strided windows get no gradient.
  void clear(T* image, const Band& band) const {
    const WindowAxis& down = rows_.windows();
    const int64_t begin = std::clamp<int64_t>(band.first * down.stride - down.low, 0, down.length);
    const int64_t end =
        std::clamp<int64_t>((band.first + band.rows) * down.stride - down.low, 0, down.length);
    for (int64_t channel = 0; channel < conv_.groupChannels(); ++channel) {
      std::fill_n(image + channel * conv_.imagePixels() + begin * conv_.image[3],
                  (end - begin) * conv_.image[3], T(0));
    }
  }
  void writePhase(const T* sums, const Band& band, int64_t rowPhase, int64_t columnPhase, T* image) const {
    const WindowAxis::Range down = rows_.inside(rowPhase, band.first, band.first + band.rows);
    const WindowAxis::Range along = columns_.inside(columnPhase, 0, pitch_);
    T* const to =
        image + rows_.at(rowPhase, down.begin) * conv_.image[3] + columns_.at(columnPhase, along.begin);
    copyStridedRows<T>({sums + (down.begin - band.first) * pitch_ + along.begin, pitch_, 1},
                       {to, rows_.windows().stride * conv_.image[3], columns_.windows().stride},
                       down.end - down.begin, along.end - along.begin);
  }

  void toFilter(const T* image, const T* cotangent, T* result, int64_t group, int64_t part,
                Buffers& buffers) {
    const int64_t filters = conv_.groupFilters(), elements = filters * conv_.terms();
    std::fill_n(buffers.sums, elements, 0.0);
    std::fill_n(buffers.partial, elements * partialSumLanes<T>, T(0));
    const TaskRange slabs =
        tasksOfPart(slabs_, static_cast<uint32_t>(slabParts_), static_cast<uint32_t>(part));
    int64_t added = 0;
    for (int64_t slab = slabs.begin; slab < slabs.end; ++slab) {
      const Band band = bandOf(slab);
      bringImages(image + imageAt(slab / bands_, group), band, buffers.planes);
      for (int64_t f = 0; f < filters; ++f) {
        bringCotangents(cotangent + resultAt(slab / bands_, group) + f * conv_.pixels(), band.first,
                        band.rows, buffers.others + f * made_);
      }
      const int64_t length = (band.rows - 1) * pitch_ + columns_.windows().count;
      addDotProducts(rowsAt(buffers.planes, rowsOf_[0], length), buffers.others, filters, made_,
                     buffers.partial);
      added += length;
      if (added >= mostAdded || slab + 1 == slabs.end) {
        added = 0;
        addPartialSums(elements, buffers);
      }
    }
    if (addsPieces()) {
      std::copy_n(buffers.sums, elements, piece(part) + group * elements);
    } else {
      std::transform(buffers.sums, buffers.sums + elements, result + group * elements,
                     [](double sum) { return static_cast<T>(sum); });
    }
  }
  // And clears them.
  void addPartialSums(int64_t elements, Buffers& buffers) const {
    for (int64_t i = 0; i < elements; ++i) {
      T* const lanes = buffers.partial + i * partialSumLanes<T>;
      for (int64_t lane = 0; lane < partialSumLanes<T>; ++lane) {
        buffers.sums[i] += static_cast<double>(lanes[lane]);
        lanes[lane] = 0;
      }
    }
  }

  double* piece(int64_t index) {
    return reinterpret_cast<double*>(pieces_->data()) + index * conv_.filter.elements();
  }
  void addPieces(T* result) {
    for (int64_t i = 0; i < conv_.filter.elements(); ++i) {
      double sum = 0;
      for (int64_t part = 0; part < slabParts_; ++part) {
        sum += piece(part)[i];
      }
      result[i] = static_cast<T>(sum);
    }
  }

  ThreadPool& pool_;
  ConvolutionPass pass_;
  Convolution conv_;
  PhaseAxis rows_, columns_;
  bool toInput_;
  int64_t pitch_, allRows_;
  int64_t bands_ = 1, bandRows_ = 1;    // of the results of one plane; of a phase for an input gradient
  int64_t plane_ = 0, made_ = 0;        // elements
  int64_t slabs_ = 1, slabParts_ = 1;   // a slab: a band of one image
  std::vector<Rows> rowsOf_;            // one list, or one for each phase
  std::optional<AlignedBuffer> pieces_; // of filter gradients, one for each part of the slabs
  int64_t tasks_ = 1;
  uint32_t parts_ = 1;
};

// Whether the padding that is written out, and computed with, is a small part of the planes.
bool hasShortWindows(const WindowAxis& axis) {
  const PhaseAxis phases(axis);
  constexpr int64_t most = 4, some = 32;
  return std::max(axis.count + phases.mostShift(), phases.length()) <= most * axis.count + some;
}

} // namespace

bool suitsGroupConvolution(const Convolution& conv) {
  constexpr int64_t fewChannels = 16; // a block of channels in the layouts of oneDNN
  const bool few = std::min(conv.groupChannels(), conv.groupFilters()) < fewChannels;
  return conv.groups > 1 && few && hasShortWindows(conv.windows.rows) &&
         hasShortWindows(conv.windows.columns);
}

std::unique_ptr<CpuKernel> makeGroupConvolution(ConvolutionPass pass, const Convolution& conv,
                                                ElementType type, ThreadPool& pool) {
  if (type == ElementType::F64) {
    return std::make_unique<GroupConvolution<double>>(pass, conv, pool);
  }
  DFC_ASSERT(type == ElementType::F32, "16-bit floats are widened first");
  return std::make_unique<GroupConvolution<float>>(pass, conv, pool);
}

} // namespace dfc
