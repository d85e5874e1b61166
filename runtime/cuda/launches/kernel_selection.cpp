#include "runtime/cuda/launches/kernel_selection.h"

#include "ir/base/assert.h"
#include "ir/machine/calibration.h"
#include "ir/plan/memory_plan.h"
#include "runtime/cuda/launches/integer_matmul.h"
#include "runtime/cuda/launches/tile_matmul.h"
#include "runtime/cuda/launches/vector_matmul.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// How a product is made where cuBLASLt does not make it; none where it does.
std::optional<GeneratedWork> generatedProduct(const ops::Matmul& matmul, OperandTypes operands,
                                              const TensorType& result) {
  if (auto work = generateIntegerMatmul(matmul, operands, {result})) {
    return work;
  }
  return generateVectorMatmul(matmul, operands, result);
}

bool hasProductOf(const Graph& graph, OpId op) {
  const ElementType element = graph.typeOf(graph[op].operands[0]).element;
  return hasMatmul(element) || isInteger(element);
}

class Drafter {
 public:
  Drafter(const Graph& graph, const Computation& computation, Libraries libraries)
      : graph_(graph), computation_(computation), libraries_(libraries), row_(graph[computation.op]),
        operands_(graph.operandTypesOf(computation.op)), results_(graph.resultTypesOf(computation.op)) {}

  Draft run() {
    if (const auto workspace = libraryWorkspace()) {
      draft_.convolution = true;
      draft_.workspaceBytes = *workspace;
    } else if (!isProduct(row_)) {
      draft_.kernels = generateKernels(row_.attributes, operands_, results_);
      DFC_ASSERT(draft_.kernels.has_value(), fmt::format("no kernel for {}", graph_.nameOf(computation_.op)));
      draft_.workspaceBytes = draft_.kernels->workspaceBytes;
    } else if (results_[0].bytes() > 0) {
      draft_.kernels = wholeProduct();
      draft_.kernels ? void(draft_.workspaceBytes = draft_.kernels->workspaceBytes) : draftProduct();
    }
    return std::move(draft_);
  }

 private:
  std::optional<int64_t> libraryWorkspace() const {
    ConvolutionLibrary* const convolutions = libraries_.convolutions;
    return convolutions == nullptr ? std::nullopt : convolutions->workspaceFor(row_.attributes, operands_);
  }

  /// The product and all that follows it by one generated kernel, where there is such a kernel.
  std::optional<GeneratedWork> wholeProduct() const {
    auto outer = generateOuterProduct(row_, operands_, results_);
    return outer || !libraries_.tiles ? std::move(outer)
                                      : generateTileMatmul(row_, operands_, results_[0], computation_.choice);
  }

  void draftProduct() {
    const ops::Matmul matmul = productOf(row_);
    const bool fused = row_.kind() == OpKind::FusedMatmul;
    const TensorType product = fused ? row_.as<ops::FusedMatmul>().productType(operands_) : results_[0];
    draft_.product = generatedProduct(matmul, operands_, product);
    draft_.productBytes = product.bytes();
    if (!draft_.product) {
      draft_.library = productCall(graph_, computation_.op);
      draft_.library->choice = computation_.choice;
      draft_.epilogue = fused && hasTerms(matmul) ? takenEpilogue() : std::nullopt;
    }
    draft_.workspaceBytes = draft_.product ? draft_.product->workspaceBytes : 0;
    if (fused && !draft_.epilogue) {
      draftAfter(row_.as<ops::FusedMatmul>(), product);
    }
  }

  // Bias and ReLU are what every algorithm of a product has; GELU is asked for.
  std::optional<Epilogue> takenEpilogue() {
    auto epilogue = libraryEpilogue(graph_, computation_.op);
    if (!epilogue || !isAskedFor(epilogue->ending)) {
      return epilogue;
    }
    ProductLibrary* const products = libraries_.products;
    const bool taken =
        products != nullptr && products->takes(*draft_.library, epilogue->ending, epilogue->bias.has_value());
    return taken ? epilogue : std::nullopt;
  }

  // An empty sum has no launch of cuBLASLt that could carry an epilogue.
  bool hasTerms(const ops::Matmul& matmul) const {
    const Shape& a = operands_[0].shape;
    return a[a.rank() - (matmul.transposeA ? 2 : 1)] > 0;
  }

  void draftAfter(const ops::FusedMatmul& fused, const TensorType& product) {
    draft_.kernels = generateKernels(fused.epilogue(), fused.epilogueOperands(operands_), results_);
    DFC_ASSERT(draft_.kernels.has_value(), fmt::format("no epilogue for {}", graph_.nameOf(computation_.op)));
    draft_.workspaceBytes = std::max(draft_.workspaceBytes, draft_.kernels->workspaceBytes);
    const auto& at = computation_.at;
    const bool taken = std::find(at.operands.begin(), at.operands.end(), at.results[0]) != at.operands.end();
    if (taken || product.bytes() != results_[0].bytes()) {
      draft_.productInWorkspace = alignUp(draft_.workspaceBytes);
      draft_.workspaceBytes = *draft_.productInWorkspace + product.bytes();
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  Libraries libraries_;
  const OpRow& row_;
  llvm::SmallVector<TensorType, 4> operands_, results_;
  Draft draft_;
};

} // namespace

Draft draftOf(const Graph& graph, const Computation& computation, Libraries libraries) {
  return Drafter(graph, computation, libraries).run();
}

bool isLibraryProduct(const Graph& graph, OpId op) {
  if (!isProduct(graph[op]) || graph.typeOf(graph[op].firstResult).bytes() == 0) {
    return false;
  }
  const auto operands = graph.operandTypesOf(op);
  const MatmulCall call = productCall(graph, op);
  return hasMatmul(call.a.element) && !generateOuterProduct(graph[op], operands, graph.resultTypesOf(op)) &&
         !generatedProduct(productOf(graph[op]), {operands[0], operands[1]}, call.result);
}

bool hasCudaKernel(const Graph& graph, OpId op) {
  if (const OpKind kind = graph[op].kind(); !isTimed(kind)) { // copies, or nothing at all
    return classOf(kind) != OpClass::Request;
  }
  if (isProduct(graph[op]) && !hasProductOf(graph, op)) {
    return false;
  }
  if (const auto* fused = graph[op].getIf<ops::FusedMatmul>()) {
    return generateKernels(fused->epilogue(), fused->epilogueOperands(graph.operandTypesOf(op)),
                           graph.resultTypesOf(op))
        .has_value();
  }
  return isProduct(graph[op]) ||
         generateKernels(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).has_value();
}

} // namespace dfc::cuda
