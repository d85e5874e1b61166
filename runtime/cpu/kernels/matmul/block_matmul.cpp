#include "runtime/cpu/kernels/matmul/block_matmul.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/matmul/register_tile.h"

#include <algorithm>
#include <string>

namespace dfc {
namespace {

// Elements of a block: a block of a stays in L2, a block of b in a share of L3.
constexpr int64_t blockRows = 96, blockInner = 256, blockColumns = 512;

int64_t rounded(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class T, class Sum>
class Product {
 public:
  Product(const BlockMatmul& shape, const RegisterTile<Sum>& tile, const T* a, const T* b, T* c,
          std::byte* scratch)
      : shape_(shape), tile_(tile), a_(a), b_(b), c_(c), packedA_(reinterpret_cast<Sum*>(scratch)),
        packedB_(packedA_ + blockRows * blockInner) {}

  void run() {
    if (shape_.inner == 0) {
      for (int64_t row = 0; row < shape_.rows; ++row) {
        std::fill_n(c_ + row * shape_.cStride, shape_.columns, T(0));
      }
    }
    for (int64_t column = 0; column < shape_.columns; column += blockColumns) {
      const int64_t columns = std::min(blockColumns, shape_.columns - column);
      for (int64_t k = 0; k < shape_.inner; k += blockInner) {
        const int64_t inner = std::min(blockInner, shape_.inner - k);
        packB(k, inner, column, columns);
        for (int64_t row = 0; row < shape_.rows; row += blockRows) {
          const int64_t rows = std::min(blockRows, shape_.rows - row);
          packA(row, rows, k, inner);
          multiplyBlock(row, rows, column, columns, k, inner);
        }
      }
    }
  }

 private:
  Sum elementA(int64_t row, int64_t k) const {
    return static_cast<Sum>(a_[shape_.transposeA ? k * shape_.aStride + row : row * shape_.aStride + k]);
  }
  Sum elementB(int64_t k, int64_t column) const {
    return static_cast<Sum>(
        b_[shape_.transposeB ? column * shape_.bStride + k : k * shape_.bStride + column]);
  }

  // Packs a in strips of the register tile's height, each [inner][rows], padded with zeros.
  void packA(int64_t row, int64_t rows, int64_t k, int64_t inner) {
    Sum* to = packedA_;
    for (int64_t strip = 0; strip < rows; strip += tile_.rows) {
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t r = strip; r < strip + tile_.rows; ++r) {
          *to++ = r < rows ? elementA(row + r, k + i) : Sum(0);
        }
      }
    }
  }

  // Packs b in strips of its width, each [inner][columns].
  void packB(int64_t k, int64_t inner, int64_t column, int64_t columns) {
    Sum* to = packedB_;
    for (int64_t strip = 0; strip < columns; strip += tile_.columns) {
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t c = strip; c < strip + tile_.columns; ++c) {
          *to++ = c < columns ? elementB(k + i, column + c) : Sum(0);
        }
      }
    }
  }

  void multiplyBlock(int64_t row, int64_t rows, int64_t column, int64_t columns, int64_t k, int64_t inner) {
    for (int64_t c = 0; c < columns; c += tile_.columns) {
      const Sum* b = packedB_ + c * inner;
      for (int64_t r = 0; r < rows; r += tile_.rows) {
        alignas(64) Sum sums[RegisterTile<Sum>::rows * widestTile] = {};
        T* to = c_ + (row + r) * shape_.cStride + column + c;
        const int64_t height = std::min(tile_.rows, rows - r);
        const int64_t width = std::min(tile_.columns, columns - c);
        if (k > 0) {
          exchange(to, height, width, sums, [](T& element, Sum& sum) { sum = static_cast<Sum>(element); });
        }
        tile_.multiply(inner, packedA_ + r * inner, b, sums);
        exchange(to, height, width, sums, [](T& element, Sum& sum) { element = static_cast<T>(sum); });
      }
    }
  }

  template <class Assign>
  void exchange(T* c, int64_t height, int64_t width, Sum* sums, Assign assign) const {
    for (int64_t r = 0; r < height; ++r) {
      for (int64_t i = 0; i < width; ++i) {
        assign(c[r * shape_.cStride + i], sums[r * tile_.columns + i]);
      }
    }
  }

  const BlockMatmul& shape_;
  RegisterTile<Sum> tile_;
  const T* a_;
  const T* b_;
  T* c_;
  Sum *packedA_, *packedB_;
};

template <class T, class Sum>
void multiply(const BlockMatmul& shape, const RegisterTile<Sum>& tile, const std::byte* a, const std::byte* b,
              std::byte* c, std::byte* scratch) {
  static_assert(blockRows % RegisterTile<Sum>::rows == 0);
  DFC_ASSERT(blockColumns % tile.columns == 0 && tile.columns <= widestTile, "register tile's width");
  Product<T, Sum>(shape, tile, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                  reinterpret_cast<T*>(c), scratch)
      .run();
}

} // namespace

size_t blockMatmulScratch(ElementType type) {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(byteWidth(type), 4));
  return static_cast<size_t>(rounded(blockRows * blockInner + blockColumns * blockInner, 64)) * bytes;
}

void blockMatmul(ElementType type, const BlockMatmul& shape, const std::byte* a, const std::byte* b,
                 std::byte* c, std::byte* scratch) {
  switch (type) {
  case ElementType::F64: return multiply<double>(shape, doubleTile(), a, b, c, scratch);
  case ElementType::I32: return multiply<int32_t>(shape, word32Tile(), a, b, c, scratch);
  case ElementType::U8: return multiply<uint8_t>(shape, word32Tile(), a, b, c, scratch);
  case ElementType::I64: return multiply<int64_t>(shape, word64Tile(), a, b, c, scratch);
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("block matmul of " + std::string(name(type)));
}

} // namespace dfc
