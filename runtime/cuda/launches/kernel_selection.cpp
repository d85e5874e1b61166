#include "runtime/cuda/launches/kernel_selection.h"

#include "ir/base/assert.h"
#include "ir/machine/calibration.h"
#include "ir/plan/memory_plan.h"
#include "runtime/cuda/launches/integer_matmul.h"
#include "runtime/cuda/launches/tile_matmul.h"
#include "runtime/cuda/launches/vector_matmul.h"
#include "runtime/errors.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// A matmul or fusedMatmul, as the candidates for its product see it.
class ProductOp {
 public:
  ProductOp(const Graph& graph, OpId op, std::string_view choice, Libraries libraries)
      : row(graph[op]), fused(row.kind() == OpKind::FusedMatmul), matmul(productOf(row)), choice(choice),
        libraries(libraries), operands(graph.operandTypesOf(op)), results(graph.resultTypesOf(op)),
        product(fused ? row.as<ops::FusedMatmul>().productType(operands) : results[0]), graph_(graph),
        op_(op) {}

  OperandTypes factors() const { return OperandTypes(operands).take_front(2); }

  MatmulCall libraryCall() const {
    MatmulCall call = productCall(graph_, op_);
    call.choice = choice;
    return call;
  }

  /// What cuBLASLt computes in the launch of the product, if that is all that follows it.
  const std::optional<Epilogue>& epilogue() const {
    if (!epilogue_) {
      epilogue_ = fused && hasTerms() ? takenEpilogue() : std::nullopt;
    }
    return *epilogue_;
  }

  const OpRow& row;
  const bool fused;
  const ops::Matmul matmul;
  const std::string_view choice; ///< the calibration's; "" for none
  const Libraries libraries;
  const llvm::SmallVector<TensorType, 4> operands, results;
  const TensorType product;

 private:
  // Bias and ReLU are epilogues of every algorithm; whether an algorithm has GELU is asked.
  std::optional<Epilogue> takenEpilogue() const {
    auto found = libraryEpilogue(graph_, op_);
    if (!found || !dependsOnAlgorithm(found->activation)) {
      return found;
    }
    const bool taken = libraries.products != nullptr &&
                       libraries.products->takes(libraryCall(), found->activation, found->bias.has_value());
    return taken ? found : std::nullopt;
  }

  // An empty sum is no product of cuBLASLt's that could have an epilogue.
  bool hasTerms() const {
    const Shape& a = operands[0].shape;
    return a[a.rank() - (matmul.transposeA ? 2 : 1)] > 0;
  }

  const Graph& graph_;
  OpId op_;
  mutable std::optional<std::optional<Epilogue>> epilogue_; // asked for at most once
};

/// One way to compute a product. `select` fills in the launches of an op of which `applies` is true.
struct Candidate {
  std::string_view name;
  bool library; ///< a call of cuBLASLt
  bool wholeOp; ///< computes the epilogue of a fused op, too; else generated kernels follow
  bool (*applies)(const ProductOp& op);
  void (*select)(const ProductOp& op, KernelSelection& selection);
};

// In the order of precedence: an op's product is computed by the first candidate that applies. A
// calibration's choice is one of the tiles or an algorithm of cuBLASLt. Element types and shapes decide
// everything else.
constexpr Candidate candidates[] = {
    {"outer product", false, true,
     [](const ProductOp& op) { return isOuterProduct(op.matmul, op.factors()); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.kernels = generateOuterProduct(op.row, op.operands, op.results, op.libraries.gpu);
     }},
    {"tiles", false, true,
     [](const ProductOp& op) {
       return op.libraries.tiles && choosesTiles(op.matmul, op.factors(), op.choice, op.libraries.gpu);
     },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.kernels = generateTileMatmul(op.row, op.operands, op.results[0]);
     }},
    {"integer product", false, false, [](const ProductOp& op) { return isInteger(op.product.element); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.product = generateIntegerMatmul(op.matmul, op.factors(), op.product);
     }},
    {"vector product", false, false,
     [](const ProductOp& op) { return isVectorProduct(op.matmul, op.factors(), op.product); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.product = generateVectorMatmul(op.matmul, op.factors(), op.product, op.libraries.gpu);
     }},
    {"cuBLASLt with epilogue", true, true,
     [](const ProductOp& op) { return hasMatmul(op.product.element) && op.epilogue().has_value(); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.library = op.libraryCall();
       selection.epilogue = op.epilogue();
     }},
    {"cuBLASLt", true, false, [](const ProductOp& op) { return hasMatmul(op.product.element); },
     [](const ProductOp& op, KernelSelection& selection) { selection.library = op.libraryCall(); }},
};

/// The candidate for the product; null where there is none for its element type.
const Candidate* candidateFor(const ProductOp& op) {
  const auto* found = llvm::find_if(candidates, [&](const Candidate& one) { return one.applies(op); });
  return found != std::end(candidates) ? found : nullptr;
}

class Selector {
 public:
  Selector(const Graph& graph, const Computation& computation, Libraries libraries)
      : graph_(graph), computation_(computation), libraries_(libraries), row_(graph[computation.op]),
        operands_(graph.operandTypesOf(computation.op)), results_(graph.resultTypesOf(computation.op)) {}

  KernelSelection run() {
    if (const auto workspace = convolutionWorkspace()) {
      selection_.convolution = true;
      selection_.workspaceBytes = *workspace;
    } else if (!isProduct(row_)) {
      requireTensorCores();
      setKernels(generateKernels(row_.attributes, operands_, results_, libraries_.gpu));
    } else if (results_[0].bytes() > 0) {
      selectProduct();
    }
    return std::move(selection_);
  }

 private:
  std::optional<int64_t> convolutionWorkspace() const {
    ConvolutionLibrary* const convolutions = libraries_.convolutions;
    return convolutions == nullptr ? std::nullopt : convolutions->workspaceFor(row_.attributes, operands_);
  }

  // Plans keep attention whole whatever the GPU (ir/machine/kernel_claims.h).
  void requireTensorCores() const {
    const bool needed = row_.kind() == OpKind::Attention || row_.kind() == OpKind::AttentionGradient;
    if (needed && !libraries_.tiles) {
      throw MachineError(
          fmt::format("'{}' needs a GPU of compute capability 8.0 or newer; on this one, write "
                      "attention with matmul and softmax",
                      graph_.nameOf(computation_.op)));
    }
  }

  void selectProduct() {
    const ProductOp op(graph_, computation_.op, computation_.choice, libraries_);
    const Candidate* candidate = candidateFor(op);
    DFC_ASSERT(candidate != nullptr, fmt::format("no product for {}", graph_.nameOf(computation_.op)));
    candidate->select(op, selection_);
    selection_.candidate = candidate->name;
    for (const auto* work : {&selection_.product, &selection_.kernels}) {
      selection_.workspaceBytes = *work ? (*work)->workspaceBytes : selection_.workspaceBytes;
    }
    if (selection_.hasProduct()) {
      selection_.productBytes = op.product.bytes();
    }
    if (op.fused && !candidate->wholeOp) {
      addEpilogue(row_.as<ops::FusedMatmul>());
    }
  }

  // The product lies in the result, unless operands of the epilogue lie there or it is of another size.
  void addEpilogue(const ops::FusedMatmul& fused) {
    setKernels(
        generateKernels(fused.epilogue(), fused.epilogueOperands(operands_), results_, libraries_.gpu));
    const auto& at = computation_.at;
    const bool taken = llvm::is_contained(at.operands, at.results[0]);
    if (taken || selection_.productBytes != results_[0].bytes()) {
      selection_.productInWorkspace = alignUp(selection_.workspaceBytes);
      selection_.workspaceBytes = *selection_.productInWorkspace + selection_.productBytes;
    }
  }

  void setKernels(std::optional<GeneratedKernels> kernels) {
    DFC_ASSERT(kernels.has_value(), fmt::format("no kernel for {}", graph_.nameOf(computation_.op)));
    selection_.workspaceBytes = std::max(selection_.workspaceBytes, kernels->workspaceBytes);
    selection_.kernels = std::move(kernels);
  }

  const Graph& graph_;
  const Computation& computation_;
  Libraries libraries_;
  const OpRow& row_;
  llvm::SmallVector<TensorType, 4> operands_, results_;
  KernelSelection selection_;
};

} // namespace

KernelSelection selectKernels(const Graph& graph, const Computation& computation, Libraries libraries) {
  return Selector(graph, computation, libraries).run();
}

bool isLibraryProduct(const Graph& graph, OpId op) {
  if (!isProduct(graph[op]) || graph.typeOf(graph[op].firstResult).bytes() == 0) {
    return false;
  }
  const Candidate* candidate = candidateFor(ProductOp(graph, op, "", {.tiles = false}));
  return candidate != nullptr && candidate->library;
}

bool hasCudaKernel(const Graph& graph, OpId op) {
  if (const OpKind kind = graph[op].kind(); !isTimed(kind)) { // copies, or nothing at all
    return classOf(kind) != OpClass::Request;
  }
  if (isProduct(graph[op]) && candidateFor(ProductOp(graph, op, "", {})) == nullptr) {
    return false;
  }
  if (const auto* fused = graph[op].getIf<ops::FusedMatmul>()) {
    return generateKernels(fused->epilogue(), fused->epilogueOperands(graph.operandTypesOf(op)),
                           graph.resultTypesOf(op), GpuShape::assumed())
        .has_value();
  }
  return isProduct(graph[op]) || generateKernels(graph[op].attributes, graph.operandTypesOf(op),
                                                 graph.resultTypesOf(op), GpuShape::assumed())
                                     .has_value();
}

} // namespace dfc::cuda
