#include "compiler/lower/integer_matmul.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

std::string_view unsignedType(ElementType type) {
  switch (type) {
  case ElementType::I32: return "unsigned int";
  case ElementType::I64: return "unsigned long long";
  case ElementType::U8: return "unsigned char";
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("not an integer");
}

/// Statements that add the offset of the matrix number `batch` of the result to `offset`, innermost axis
/// first.
std::string batchIndex(const char* offset, const Shape& operand, const Shape& result) {
  std::string text;
  int64_t stride = operand[operand.rank() - 2] * operand[operand.rank() - 1];
  int64_t below = 1;
  for (size_t back = 3; back <= result.rank(); ++back) {
    const int64_t extent = result[result.rank() - back];
    if (back <= operand.rank()) {
      const int64_t own = operand[operand.rank() - back];
      if (own != 1) {
        text += fmt::format("  {} += batch / {}LL % {}LL * {}LL;\n", offset, below, extent, stride);
      }
      stride *= own;
    }
    below *= extent;
  }
  return text;
}

} // namespace

GeneratedKernels generateIntegerMatmul(const ops::Matmul& matmul, OperandTypes factors,
                                       const TensorType& resultType) {
  GeneratedKernels work;
  const Shape& result = resultType.shape;
  const int64_t elements = result.elements();
  if (elements == 0) {
    return work;
  }
  const Shape& a = factors[0].shape;
  const Shape& b = factors[1].shape;
  const int64_t rows = result[result.rank() - 2], columns = result[result.rank() - 1];
  const int64_t inner = a[a.rank() - (matmul.transposeA ? 2 : 1)];
  GeneratedLaunch launch;
  launch.code = fmt::format(
      "typedef {type} element;\n"
      "struct Shared {{}};\n"
      "DFC_INLINE void run(const element* a, const element* b, element* out, const Block& block, Shared&) "
      "{{\n"
      "  const long long index = block.x * 256LL + threadIdx.x;\n"
      "  if (index >= {elements}LL) return;\n"
      "  const long long column = index % {columns}LL, row = index / {columns}LL % {rows}LL;\n"
      "  const long long batch = index / {matrix}LL;\n"
      "  long long atA = row * {rowA}LL, atB = column * {columnB}LL;\n"
      "  (void)batch;\n"
      "{batchA}{batchB}"
      "  element sum = 0;\n"
      "  for (long long k = 0; k < {inner}LL; ++k) {{\n"
      "    sum += a[atA + k * {stepA}LL] * b[atB + k * {stepB}LL];\n"
      "  }}\n"
      "  out[index] = sum;\n"
      "}}\n",
      fmt::arg("type", unsignedType(resultType.element)), fmt::arg("elements", elements),
      fmt::arg("columns", columns), fmt::arg("rows", rows), fmt::arg("matrix", rows * columns),
      fmt::arg("inner", inner), fmt::arg("rowA", matmul.transposeA ? 1 : inner),
      fmt::arg("stepA", matmul.transposeA ? rows : 1), fmt::arg("columnB", matmul.transposeB ? inner : 1),
      fmt::arg("stepB", matmul.transposeB ? 1 : columns), fmt::arg("batchA", batchIndex("atA", a, result)),
      fmt::arg("batchB", batchIndex("atB", b, result)));
  launch.grid = {static_cast<uint32_t>((elements + 255) / 256), 1};
  launch.threads = 256;
  launch.arguments = {
      {Argument::From::Operand, 0, 0}, {Argument::From::Operand, 1, 0}, {Argument::From::Result, 0, 0}};
  work.launches.push_back(std::move(launch));
  return work;
}

} // namespace dfc::cuda
