#include "runtime/data/byte_rows.h"

#include "ir/graph/op_parts.h"

#include <fmt/format.h>

namespace dfc {
namespace {

using RowDims = llvm::SmallVector<int64_t, Shape::maxRank>;

int64_t rowElements(const TensorType& data) { return data.shape.elements() / data.shape[0]; }

RowDims withoutOnes(llvm::ArrayRef<int64_t> dims) {
  RowDims rest;
  for (const int64_t dim : dims) {
    if (dim != 1) {
      rest.push_back(dim);
    }
  }
  return rest;
}

/// Whether a row is what `wanted` says, or all its elements in one dimension.
bool rowFits(const TensorType& data, llvm::ArrayRef<int64_t> wanted) {
  const RowDims have = withoutOnes(dimRange(data.shape).drop_front()), want = withoutOnes(wanted);
  return want == have || (want.size() == 1 && want[0] == rowElements(data));
}

bool takesBytes(ElementType element) {
  switch (element) {
  case ElementType::U8:
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::F32:
  case ElementType::F64: return true;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: return false;
  }
  DFC_UNREACHABLE("element type");
}

template <class T>
void convert(std::span<const uint8_t> from, std::span<T> to, T unit) {
  std::transform(from.begin(), from.end(), to.begin(), [unit](uint8_t byte) { return T(byte) / unit; });
}

} // namespace

bool areImages(const TensorType& data) { return data.shape.rank() > 1; }

std::optional<int64_t> byteRowsPerStep(const TensorType& data, const TensorType& input) {
  if (!takesBytes(input.element) || data.shape.rank() == 0 || data.shape.elements() == 0) {
    return std::nullopt;
  }
  const llvm::ArrayRef<int64_t> dims = dimRange(input.shape);
  if (!dims.empty() && dims[0] > 0 && dims[0] <= data.shape[0] && rowFits(data, dims.drop_front())) {
    return dims[0];
  }
  return rowFits(data, dims) ? std::optional<int64_t>(1) : std::nullopt;
}

void copyByteRow(const Literal& data, int64_t row, Literal& batch, int64_t at) {
  const auto count = static_cast<size_t>(rowElements(data.type()));
  const auto from = data.data<uint8_t>().subspan(static_cast<size_t>(row) * count, count);
  const size_t begin = static_cast<size_t>(at) * count;
  const float white = areImages(data.type()) ? 255 : 1;
  switch (batch.type().element) {
  case ElementType::U8: return convert<uint8_t>(from, batch.mutableData<uint8_t>().subspan(begin, count), 1);
  case ElementType::I32: return convert<int32_t>(from, batch.mutableData<int32_t>().subspan(begin, count), 1);
  case ElementType::I64: return convert<int64_t>(from, batch.mutableData<int64_t>().subspan(begin, count), 1);
  case ElementType::F32: return convert<float>(from, batch.mutableData<float>().subspan(begin, count), white);
  case ElementType::F64:
    return convert<double>(from, batch.mutableData<double>().subspan(begin, count), double(white));
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("an element type that byteRowsPerStep refused");
}

Diagnostic bytesDoNotFit(const std::string& source, const TensorType& data, const std::string& name,
                         const TensorType& input) {
  const llvm::ArrayRef<int64_t> dims = dimRange(data.shape);
  const std::string row = dims.size() < 2 ? "" : fmt::format(", {}", fmt::join(dims.drop_front(), ", "));
  const bool joined = dims.size() > 2;
  const std::string flat = joined ? fmt::format(" or [N, {}]", rowElements(data)) : "";
  const std::string rows = dims.empty() ? "0" : fmt::format("{}", dims[0]);
  const llvm::ArrayRef<int64_t> wanted = dimRange(input.shape);
  if (takesBytes(input.element) && data.shape.elements() > 0 && !wanted.empty() && dims[0] < wanted[0] &&
      rowFits(data, wanted.drop_front())) {
    return {Severity::Error,
            {source},
            fmt::format("has {} rows, too few for one batch of {}: input '{}' is {}", rows, wanted[0], name,
                        toString(input)),
            fmt::format("give it {} rows or more, or declare the input with a batch of at most {}", wanted[0],
                        rows)};
  }
  return {Severity::Error,
          {source},
          fmt::format("offers {} rows of {}, which do not fit input '{}', {}", rows,
                      areImages(data) ? fmt::format("{} bytes", fmt::join(dims.drop_front(), " x "))
                                      : std::string("one byte"),
                      name, toString(input)),
          fmt::format("declare the input as [N{}]{} with N up to {}, of u8, i32, i64{}; each step takes the "
                      "next N rows",
                      row, flat, rows,
                      areImages(data) ? ", or of f32 or f64, which hold the byte / 255" : ", f32 or f64")};
}

} // namespace dfc
