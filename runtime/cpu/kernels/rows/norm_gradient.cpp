// layerNormGradient and rmsNormGradient: one sweep over contiguous rows. Column sums, the gradients to scale
// and bias, are carried in f64 by pieces of rows that the shape fixes, and the pieces are added in their
// order.
#include "runtime/cpu/kernels/rows/rows.h"

#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>
#include <vector>

namespace dfc {
namespace {

// Pieces of rows: enough for many threads, few enough that their sums stay small beside the tensors.
int64_t pieceCount(const NormRows& rows) {
  constexpr int64_t least = 8, rowsTogether = 8, most = 64, sumsTogether = int64_t{1} << 22;
  const int64_t byMemory = std::min(most, sumsTogether / std::max<int64_t>(rows.length, 1));
  return std::min(rows.rows, std::max(least, std::min(rows.rows / rowsTogether, byMemory)));
}

// Computes in T (float or double).
template <class T>
class NormGradientKernel final : public CpuKernel {
 public:
  NormGradientKernel(const NormGradientForm& form, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), form_(form), rows_(operands[0].shape, form.axis), width_(byteWidth(operands[0].element)),
        cotangentWidth_(byteWidth(operands[2].element)), pieces_(pieceCount(rows_)),
        converter_(operands[0].element), cotangents_(operands[2].element) {
    if (!converter_.inPlace()) {
      scale_.resize(static_cast<size_t>(rows_.length));
    }
    const auto elements = static_cast<double>(rows_.rows * rows_.length);
    parts_ = partCount(pool, pieces_, 2 * elements);
    columnTasks_ = (vectorsLength() + columnsTogether - 1) / columnsTogether;
    columnParts_ = partCount(pool, columnTasks_, static_cast<double>(pieces_ * vectorsLength()));
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (rows_.length == 0) { // no elements, and operands may be null
      return;
    }
    const T* const scale = converter_.read(operands[1], rows_.length, scale_.data());
    const size_t bytes = static_cast<size_t>(pieces_ * vectorsLength()) * sizeof(double);
    auto* const sums = reinterpret_cast<double*>(threadIntermediate(bytes));
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(pieces_, parts_, part);
      for (int64_t piece = mine.begin; piece < mine.end; ++piece) {
        runPiece(piece, operands, scale, results[0], sums + piece * vectorsLength());
      }
    });
    if (vectorsLength() > 0) {
      pool_.run(columnParts_, [&](uint32_t part) {
        const TaskRange mine = tasksOfPart(columnTasks_, columnParts_, part);
        addPieces(sums, mine.begin * columnsTogether, std::min(mine.end * columnsTogether, vectorsLength()),
                  results.drop_front());
      });
    }
  }

 private:
  static constexpr int64_t columnsTogether = 256;

  /// Elements of the gradients to scale and bias, one after the other.
  int64_t vectorsLength() const { return static_cast<int64_t>(form_.vectors()) * rows_.length; }

  void runPiece(int64_t piece, llvm::ArrayRef<const std::byte*> operands, const T* scale, std::byte* to,
                double* sums) const {
    std::fill_n(sums, vectorsLength(), 0.0);
    const int64_t length = rows_.length;
    T* buffers = nullptr; // a row, its cotangent and its gradient, widened
    if (!converter_.inPlace() || !cotangents_.inPlace()) {
      buffers = reinterpret_cast<T*>(threadScratch(3 * static_cast<size_t>(length) * sizeof(T)));
    }
    for (int64_t row = rows_.rows * piece / pieces_; row < rows_.rows * (piece + 1) / pieces_; ++row) {
      const int64_t at = row * length;
      const T* const a = converter_.read(operands[0] + at * width_, length, buffers);
      const T* const cotangent =
          cotangents_.read(operands[2] + at * cotangentWidth_, length, buffers + length);
      T* const made = converter_.place(to + at * width_, buffers + 2 * length);
      const Normalisation<T> by = math_.normalisationOf(a, length, form_.centred, form_.epsilon);
      math_.differentiate(a, cotangent, scale, made, length, form_.centred, by);
      converter_.write(made, to + at * width_, length);
      if (form_.toScale) {
        math_.addProducts(a, cotangent, sums, length, by);
      }
      if (form_.toBias) {
        math_.addTo(cotangent, sums + (form_.toScale ? length : 0), length);
      }
    }
  }

  /// Results [begin, end) of the vectors.
  void addPieces(const double* sums, int64_t begin, int64_t end, llvm::ArrayRef<std::byte*> vectors) const {
    for (int64_t first = begin; first < end; first += columnsTogether) {
      const int64_t last = std::min(first + columnsTogether, end);
      double totals[columnsTogether] = {};
      for (int64_t piece = 0; piece < pieces_; ++piece) {
        const double* const from = sums + piece * vectorsLength();
        for (int64_t i = first; i < last; ++i) {
          totals[i - first] += from[i];
        }
      }
      write(totals, first, last, vectors);
    }
  }

  void write(const double* totals, int64_t first, int64_t last, llvm::ArrayRef<std::byte*> vectors) const {
    T narrow[columnsTogether];
    std::transform(totals, totals + (last - first), narrow, [](double sum) { return static_cast<T>(sum); });
    for (int64_t i = first; i < last;) { // the columns of one vector, then those of the next
      const int64_t vector = i / rows_.length, column = i % rows_.length;
      const int64_t count = std::min(last - i, rows_.length - column);
      converter_.write(narrow + (i - first), vectors[static_cast<size_t>(vector)] + column * width_, count);
      i += count;
    }
  }

  ThreadPool& pool_;
  NormGradientForm form_;
  NormRows rows_;
  int64_t width_, cotangentWidth_, pieces_, columnTasks_ = 0; // of storage; of rows
  uint32_t parts_ = 1, columnParts_ = 1;
  StorageConverter<T> converter_, cotangents_;
  RowMath<T> math_;
  std::vector<T> scale_; // widened
};

} // namespace

std::unique_ptr<CpuKernel> makeNormGradientKernel(const NormGradientForm& form, OperandTypes operands,
                                                  ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<NormGradientKernel<double>>(form, operands, pool);
  }
  return std::make_unique<NormGradientKernel<float>>(form, operands, pool);
}

} // namespace dfc
