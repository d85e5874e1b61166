#include "compiler/lower/kernel_selection.h"

#include "compiler/lower/integer_matmul.h"
#include "compiler/lower/kernels/products/row_product.h"
#include "compiler/lower/library_convolution.h"
#include "compiler/lower/tile_matmul.h"
#include "compiler/lower/vector_matmul.h"
#include "ir/base/assert.h"
#include "ir/machine/calibration.h"
#include "ir/plan/memory_plan.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// A matmul or fusedMatmul, as the candidates for its product see it.
class ProductOp {
 public:
  ProductOp(const Graph& graph, OpId op, std::string_view choice, const GpuTarget& target)
      : row(graph[op]), fused(row.kind() == OpKind::FusedMatmul), matmul(productOf(row)), choice(choice),
        target(target), operands(graph.operandTypesOf(op)), results(graph.resultTypesOf(op)),
        product(fused ? row.as<ops::FusedMatmul>().productType(operands) : results[0]), graph_(graph),
        op_(op) {}

  OperandTypes factors() const { return OperandTypes(operands).take_front(2); }

  ProductCall libraryCall() const {
    ProductCall call = productCall(graph_, op_);
    call.choice = choice;
    return call;
  }

  /// What cuBLASLt computes in the launch of the product, if that is all that follows it.
  const std::optional<Epilogue>& epilogue() const {
    if (!epilogue_) {
      epilogue_ = fused && hasTerms() ? libraryEpilogue(graph_, op_) : std::nullopt;
    }
    return *epilogue_;
  }

  const OpRow& row;
  const bool fused;
  const ops::Matmul matmul;
  const std::string_view choice; ///< the calibration's; "" for none
  const GpuTarget& target;
  const llvm::SmallVector<TensorType, 4> operands, results;
  const TensorType product;

 private:
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
       selection.kernels = generateOuterProduct(op.row, op.operands, op.results, op.target.gpu);
     }},
    {"row product", false, true,
     [](const ProductOp& op) { return RowProduct::of(op.matmul, op.factors()).has_value(); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.kernels = generateRowProduct(op.row, op.operands, op.results[0], op.target.gpu);
     }},
    {"tiles", false, true,
     [](const ProductOp& op) {
       return op.target.tiles && choosesTiles(op.matmul, op.factors(), op.choice, op.target.gpu);
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
       selection.product = generateVectorMatmul(op.matmul, op.factors(), op.product, op.target.gpu);
     }},
    {"cuBLASLt with epilogue", true, true,
     [](const ProductOp& op) { return isFloat(op.product.element) && op.epilogue().has_value(); },
     [](const ProductOp& op, KernelSelection& selection) {
       selection.library = op.libraryCall();
       selection.epilogue = op.epilogue();
     }},
    {"cuBLASLt", true, false, [](const ProductOp& op) { return isFloat(op.product.element); },
     [](const ProductOp& op, KernelSelection& selection) { selection.library = op.libraryCall(); }},
};

constexpr const Candidate& plainLibrary = candidates[std::size(candidates) - 1];

const GpuTarget withoutTiles{.tiles = false};

/// The candidate for the product; null where there is none for its element type.
const Candidate* candidateFor(const ProductOp& op) {
  const auto* found = llvm::find_if(candidates, [&](const Candidate& one) { return one.applies(op); });
  return found != std::end(candidates) ? found : nullptr;
}

class Selector {
 public:
  Selector(const Graph& graph, const Computation& computation, const GpuTarget& target)
      : graph_(graph), computation_(computation), target_(target), row_(graph[computation.op]),
        operands_(graph.operandTypesOf(computation.op)), results_(graph.resultTypesOf(computation.op)) {}

  KernelSelection run() {
    if (isProduct(row_)) {
      if (results_[0].bytes() > 0) {
        selectProduct();
      }
    } else if (const auto* fused = row_.getIf<ops::FusedConv2d>()) {
      convolveThenFinish(*fused);
    } else if (row_.kind() == OpKind::Custom) {
      selection_.custom = true;
    } else if (isLibraryConvolution(row_.attributes, operands_)) {
      selection_.convolution = true;
      selection_.spare = std::make_unique<KernelSelection>();
      setKernels(*selection_.spare, generateKernels(row_.attributes, operands_, results_, target_.gpu));
    } else {
      setKernels(selection_, generateKernels(row_.attributes, operands_, results_, target_.gpu));
    }
    shareWorkspace();
    return std::move(selection_);
  }

 private:
  void selectProduct() {
    const ProductOp op(graph_, computation_.op, computation_.choice, target_);
    const Candidate* candidate = candidateFor(op);
    if (candidate == nullptr) {
      selection_.missing = true;
      return;
    }
    select(op, *candidate, selection_);
    if (selection_.epilogue && dependsOnAlgorithm(selection_.epilogue->activation)) {
      selection_.spare = std::make_unique<KernelSelection>();
      select(op, plainLibrary, *selection_.spare);
    }
  }

  void select(const ProductOp& op, const Candidate& candidate, KernelSelection& selection) {
    candidate.select(op, selection);
    selection.candidate = candidate.name;
    for (const auto* work : {&selection.product, &selection.kernels}) {
      selection.workspaceBytes = *work ? (*work)->workspaceBytes : selection.workspaceBytes;
    }
    if (selection.hasProduct()) {
      selection.productBytes = op.product.bytes();
    }
    if (op.fused && !candidate.wholeOp) {
      addEpilogue(selection, row_.as<ops::FusedMatmul>());
    }
  }

  // No pass makes this op for GPUs, where it saves nothing: a kernel for each half.
  void convolveThenFinish(const ops::FusedConv2d& fused) {
    const TensorType made = fused.convolutionType(operands_);
    selection_.product =
        generateKernels(fused.convolution(), OperandTypes(operands_).take_front(2), made, target_.gpu);
    if (!selection_.product) {
      selection_.missing = true;
      return;
    }
    selection_.workspaceBytes = selection_.product->workspaceBytes;
    selection_.productBytes = made.bytes();
    addEpilogue(selection_, fused);
  }

  // The product lies in the result, unless operands of the epilogue lie there or it is of another size.
  template <class FusedOp>
  void addEpilogue(KernelSelection& selection, const FusedOp& fused) {
    setKernels(selection,
               generateKernels(fused.epilogue(), fused.epilogueOperands(operands_), results_, target_.gpu));
    const auto& at = computation_.at;
    const bool taken = llvm::is_contained(at.operands, at.results[0]);
    if (taken || selection.productBytes != results_[0].bytes()) {
      selection.productInWorkspace = alignUp(selection.workspaceBytes);
      selection.workspaceBytes = *selection.productInWorkspace + selection.productBytes;
    }
  }

  void setKernels(KernelSelection& selection, std::optional<GeneratedKernels> kernels) {
    if (!kernels) {
      selection_.missing = true;
      return;
    }
    selection.workspaceBytes = std::max(selection.workspaceBytes, kernels->workspaceBytes);
    selection.kernels = std::move(kernels);
  }

  void shareWorkspace() {
    if (selection_.spare != nullptr) {
      selection_.workspaceBytes = std::max(selection_.workspaceBytes, selection_.spare->workspaceBytes);
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  const GpuTarget& target_;
  const OpRow& row_;
  llvm::SmallVector<TensorType, 4> operands_, results_;
  KernelSelection selection_;
};

} // namespace

KernelSelection selectKernels(const Graph& graph, const Computation& computation, const GpuTarget& target) {
  return Selector(graph, computation, target).run();
}

bool isLibraryProduct(const Graph& graph, OpId op) {
  if (!isProduct(graph[op]) || graph.typeOf(graph[op].firstResult).bytes() == 0) {
    return false;
  }
  const Candidate* candidate = candidateFor(ProductOp(graph, op, "", withoutTiles));
  return candidate != nullptr && candidate->library;
}

bool hasCudaKernel(const Graph& graph, OpId op) {
  if (const OpKind kind = graph[op].kind(); !isTimed(kind)) { // copies, or nothing at all
    return classOf(kind) != OpClass::Request;
  }
  if (const auto* custom = graph[op].getIf<ops::Custom>()) {
    return custom->hasKernel();
  }
  if (isProduct(graph[op]) && candidateFor(ProductOp(graph, op, "", withoutTiles)) == nullptr) {
    return false;
  }
  if (const auto* fused = graph[op].getIf<ops::FusedMatmul>()) {
    return generateKernels(fused->epilogue(), fused->epilogueOperands(graph.operandTypesOf(op)),
                           graph.resultTypesOf(op), GpuShape::assumed())
        .has_value();
  }
  if (const auto* fused = graph[op].getIf<ops::FusedConv2d>()) {
    const auto operands = graph.operandTypesOf(op);
    return generateKernels(fused->convolution(), OperandTypes(operands).take_front(2),
                           fused->convolutionType(operands), GpuShape::assumed())
               .has_value() &&
           generateKernels(fused->epilogue(), fused->epilogueOperands(operands), graph.resultTypesOf(op),
                           GpuShape::assumed())
               .has_value();
  }
  return isProduct(graph[op]) || generateKernels(graph[op].attributes, graph.operandTypesOf(op),
                                                 graph.resultTypesOf(op), GpuShape::assumed())
                                     .has_value();
}

} // namespace dfc::cuda
