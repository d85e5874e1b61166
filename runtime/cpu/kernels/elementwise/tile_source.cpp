#include "runtime/cpu/kernels/elementwise/tile_source.h"

#include "ir/base/assert.h"

#include <algorithm>
#include <cstring>

namespace dfc {
namespace {

constexpr size_t tileBytes = tileElements * sizeof(double);

llvm::SmallVector<ElementType, 4> elementTypes(OperandTypes operands) {
  llvm::SmallVector<ElementType, 4> types;
  for (const TensorType& operand : operands) {
    types.push_back(operand.element);
  }
  return types;
}

// Operands of one element, which the readers repeat.
llvm::SmallVector<bool, 4> splatsOf(OperandTypes operands) {
  llvm::SmallVector<bool, 4> splats;
  for (const TensorType& operand : operands) {
    splats.push_back(operand.shape.elements() == 1);
  }
  return splats;
}

llvm::SmallVector<int64_t, 8> permuted(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<size_t> order) {
  llvm::SmallVector<int64_t, 8> result;
  for (const size_t axis : order) {
    result.push_back(values[axis]);
  }
  return result;
}

} // namespace

llvm::SmallVector<size_t, 8> naturalOrder(const Shape& shape) {
  llvm::SmallVector<size_t, 8> order;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    order.push_back(axis);
  }
  return order;
}

TileSource::TileSource(const ops::FusedBody& body, OperandTypes operands, llvm::ArrayRef<size_t> order,
                       bool store)
    : program_(body, elementTypes(operands), store, splatsOf(operands)),
      instructions_(body.instructions.size()) {
  const std::optional<Shape> common = ops::Fused::commonShape(operands);
  DFC_ASSERT(common && common->rank() == order.size(), "operands that do not broadcast");
  const llvm::SmallVector<int64_t, 8> dims = permuted(dimRange(*common), order);
  elements_ = common->elements();
  for (const TensorType& operand : operands) {
    const llvm::SmallVector<int64_t, 8> strides = permuted(broadcastStrides(operand.shape, *common), order);
    readers_.emplace_back(dims, strides, byteWidth(operand.element));
    if (readers_.back().kind() == OperandReader::Kind::General) {
      const int64_t run = readers_.back().runLength();
      runLength_ = runLength_ == 0 ? run : std::min(runLength_, run);
    }
    if (const int64_t period = readers_.back().period(); period <= tileElements && period_ == 0) {
      period_ = period;
    }
  }
}

size_t TileSource::scratchBytes() const {
  return (tilesOfProgram() + (period_ == 0 ? 0 : readers_.size())) * tileBytes;
}

std::byte* TileSource::rowsOf(size_t operand, std::byte* scratch) const {
  return scratch + (tilesOfProgram() + operand) * tileBytes;
}

double TileSource::cost() const {
  constexpr double nanosecondsPerStep = 0.2;
  return static_cast<double>(elements_) * nanosecondsPerStep *
         static_cast<double>(instructions_ + readers_.size());
}

void TileSource::begin(llvm::ArrayRef<const std::byte*> operands, std::byte* scratch) const {
  const int64_t count = std::min(elements_, tileLength());
  for (size_t i = 0; i < operands.size() && count > 0; ++i) {
    if (isSplat(i)) {
      readers_[i].read(operands[i], 0, std::min(elements_, tileElements), scratch + i * tileBytes);
    } else if (repeats(i)) {
      std::byte* const rows = rowsOf(i, scratch);
      const std::byte* const read = readers_[i].read(operands[i], 0, count, rows);
      if (read != rows) { // one row is read in place
        std::memcpy(rows, read, static_cast<size_t>(count) * readers_[i].width());
      }
    }
  }
}

const void* TileSource::tile(llvm::ArrayRef<const std::byte*> operands, int64_t begin, int64_t count,
                             std::byte* scratch, std::byte* result) const {
  llvm::SmallVector<const std::byte*, 8> inputs(operands.size(), nullptr);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (isSplat(i)) {
      inputs[i] = scratch + i * tileBytes;
    } else if (repeats(i) && begin % period_ == 0 && count <= tileLength()) {
      inputs[i] = rowsOf(i, scratch);
    } else if (program_.reads(i)) {
      inputs[i] = readers_[i].read(operands[i], begin, count, scratch + i * tileBytes);
    }
  }
  return program_.run(inputs, scratch + readers_.size() * tileBytes, result, count);
}

TileSource::Tiles::Tiles(const TileSource& source, llvm::ArrayRef<const std::byte*> operands,
                         std::byte* scratch)
    : source_(source), operands_(operands.begin(), operands.end()), scratch_(scratch),
      chain_(source.program_.chain()) {
  source_.begin(operands_, scratch_);
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (source_.program_.reads(i) && source_.readers_[i].kind() == OperandReader::Kind::General &&
        !source_.repeats(i)) {
      chain_ = nullptr;
    }
  }
}

// `inRow`: where the tile begins in the rows that operands repeat.
const float* TileSource::Tiles::inputOf(uint32_t operand, int64_t begin, int64_t inRow) const {
  constexpr int64_t width = sizeof(float);
  const std::byte* const from = source_.isSplat(operand)   ? scratch_ + operand * tileBytes
                                : source_.repeats(operand) ? source_.rowsOf(operand, scratch_) + inRow * width
                                                           : operands_[operand] + begin * width;
  return reinterpret_cast<const float*>(from);
}

void TileSource::Tiles::run(int64_t begin, int64_t count, std::byte* result) const {
  const int64_t inRow = source_.period_ == 0 ? 0 : begin % source_.period_;
  if (chain_ == nullptr || inRow + count > source_.tileLength()) {
    source_.tile(operands_, begin, count, scratch_, result);
    return;
  }
  llvm::SmallVector<ChainLink, 8> links;
  for (const TileProgram::Chain::Link& link : chain_->links) {
    links.push_back(link.link);
    if (link.link.kind != ChainKind::Relu) {
      links.back().other = inputOf(link.other, begin, inRow);
    }
    if (link.link.kind == ChainKind::Clip) {
      links.back().third = inputOf(link.third, begin, inRow);
    }
  }
  runChain(links.data(), links.size(), inputOf(chain_->value, begin, inRow), reinterpret_cast<float*>(result),
           static_cast<size_t>(count));
}

void TileSource::bringNear(llvm::ArrayRef<const std::byte*> operands, int64_t begin, int64_t count) const {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (program_.reads(i)) {
      readers_[i].bringNear(operands[i], begin, count);
    }
  }
}

} // namespace dfc
