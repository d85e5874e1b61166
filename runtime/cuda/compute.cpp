#include "runtime/cuda/compute.h"

#include "runtime/cuda/epilogue.h"
#include "runtime/cuda/integer_matmul.h"
#include "runtime/cuda/kernels/generated_kernel.h"
#include "runtime/cuda/matmul.h"
#include "runtime/cuda/vector_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dfc::cuda {
namespace {

/// The launches of one generated kernel.
class GeneratedKernels final : public Work {
 public:
  GeneratedKernels(GeneratedWork plan, std::vector<cudaKernel_t> kernels, const Addresses& at,
                   std::byte* workspace)
      : plan_(std::move(plan)), kernels_(std::move(kernels)) {
    for (const GeneratedLaunch& launch : plan_.launches) {
      std::vector<void*>& pointers = pointers_.emplace_back();
      for (const Argument& argument : launch.arguments) {
        pointers.push_back(addressOf(argument, at, workspace));
      }
      allowShared(kernels_[pointers_.size() - 1], launch.sharedBytes);
    }
  }

  void enqueue(cudaStream_t stream) override {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const GeneratedLaunch& launch = plan_.launches[i];
      llvm::SmallVector<void*, 8> arguments;
      for (void*& pointer : pointers_[i]) {
        arguments.push_back(&pointer);
      }
      // Every kernel begins with waiting for the one before, so that it may be launched ahead of its end.
      cudaLaunchAttribute early{};
      early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      early.val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config{};
      config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
      config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
      config.dynamicSmemBytes = launch.sharedBytes;
      config.stream = stream;
      config.attrs = &early;
      config.numAttrs = 1;
      check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernels_[i]), arguments.data()),
            "a generated kernel");
    }
  }

 private:
  static std::byte* addressOf(const Argument& argument, const Addresses& at, std::byte* workspace) {
    switch (argument.from) {
    case Argument::From::Operand: return at.operands[argument.index] + argument.offset;
    case Argument::From::Result: return at.results[argument.index] + argument.offset;
    case Argument::From::Workspace: return workspace + argument.offset;
    }
    DFC_UNREACHABLE("where an argument comes from");
  }

  static void allowShared(cudaKernel_t kernel, uint32_t bytes) {
    constexpr uint32_t withoutAsking = 48U << 10;
    if (bytes > withoutAsking) {
      check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "giving a kernel shared memory");
    }
  }

  GeneratedWork plan_;
  std::vector<cudaKernel_t> kernels_;
  std::vector<std::vector<void*>> pointers_;
};

/// A product, then perhaps a kernel over it.
class InTurn final : public Work {
 public:
  InTurn(std::unique_ptr<Work> first, std::unique_ptr<Work> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  void enqueue(cudaStream_t stream) override {
    first_->enqueue(stream);
    second_->enqueue(stream);
  }

 private:
  std::unique_ptr<Work> first_, second_;
};

/// How a product is made where cuBLASLt does not make it; none where it does.
std::optional<GeneratedWork> generatedProduct(const ops::Matmul& matmul, OperandTypes operands,
                                              const TensorType& result) {
  if (auto work = generateIntegerMatmul(matmul, operands, {result})) {
    return work;
  }
  return generateVectorMatmul(matmul, operands, result);
}

bool hasProduct(const Graph& graph, OpId op) {
  const ElementType element = graph.typeOf(graph[op].operands[0]).element;
  return hasMatmul(element) || isInteger(element);
}

/// What an op of the plan comes to: a product, generated kernels, or the one and then the other.
struct Draft {
  std::optional<MatmulCall> library;         ///< a product by cuBLASLt; addresses still to be filled in
  std::optional<GeneratedWork> product;      ///< a product by a generated kernel
  std::optional<GeneratedWork> kernels;      ///< the op itself, or what follows its product
  std::optional<Epilogue> epilogue;          ///< of the library's product
  std::optional<int64_t> productInWorkspace; ///< its offset; else it lies in the result
  int64_t workspaceBytes = 0;
};

class Drafter {
 public:
  Drafter(const Graph& graph, const Computation& computation)
      : graph_(graph), computation_(computation), row_(graph[computation.op]),
        operands_(graph.operandTypesOf(computation.op)), results_(graph.resultTypesOf(computation.op)) {}

  Draft run() {
    if (!isProduct(row_)) {
      draft_.kernels = generateKernels(row_.attributes, operands_, results_);
      DFC_ASSERT(draft_.kernels.has_value(), fmt::format("no kernel for {}", graph_.nameOf(computation_.op)));
      draft_.workspaceBytes = draft_.kernels->workspaceBytes;
    } else if (results_[0].bytes() > 0) {
      draft_.kernels = generateOuterProduct(row_, operands_, results_);
      draft_.kernels ? void(draft_.workspaceBytes = draft_.kernels->workspaceBytes) : draftProduct();
    }
    return std::move(draft_);
  }

 private:
  void draftProduct() {
    const ops::Matmul matmul = productOf(row_);
    const bool fused = row_.kind() == OpKind::FusedMatmul;
    const TensorType product = fused ? row_.as<ops::FusedMatmul>().productType(operands_) : results_[0];
    draft_.product = generatedProduct(matmul, operands_, product);
    if (!draft_.product) {
      draft_.library = productCall(graph_, computation_.op);
      draft_.library->choice = computation_.choice;
      draft_.epilogue = fused && hasTerms(matmul) ? libraryEpilogue(graph_, computation_.op) : std::nullopt;
    }
    draft_.workspaceBytes = draft_.product ? draft_.product->workspaceBytes : 0;
    if (fused && !draft_.epilogue) {
      draftAfter(row_.as<ops::FusedMatmul>(), product);
    }
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
      draft_.productInWorkspace =
          (draft_.workspaceBytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
      draft_.workspaceBytes = *draft_.productInWorkspace + product.bytes();
    }
  }

  const Graph& graph_;
  const Computation& computation_;
  const OpRow& row_;
  llvm::SmallVector<TensorType, 4> operands_, results_;
  Draft draft_;
};

class Maker {
 public:
  Maker(const Graph& graph, const std::vector<Computation>& computations, const ComputeSite& site,
        DeviceBuffer& workspace)
      : graph_(graph), computations_(computations), site_(site), workspace_(workspace) {}

  std::vector<std::unique_ptr<Work>> run() {
    int64_t workspaceBytes = 0;
    for (const Computation& computation : computations_) {
      Draft& draft = drafts_.emplace_back(Drafter(graph_, computation).run());
      workspaceBytes = std::max(workspaceBytes, draft.workspaceBytes);
      addTexts(draft.product);
      addTexts(draft.kernels);
    }
    kernels_ = site_.library->load(texts_, site_.architecture);
    workspace_ = DeviceBuffer(site_.ordinal, workspaceBytes, "kernels' workspace");
    std::vector<std::unique_ptr<Work>> works;
    for (size_t i = 0; i < computations_.size(); ++i) {
      named(i, [&] { works.push_back(make(i)); });
    }
    return works;
  }

 private:
  void addTexts(const std::optional<GeneratedWork>& work) {
    if (work) {
      for (const GeneratedLaunch& launch : work->launches) {
        texts_.push_back(std::string(prelude()) + launch.code);
      }
    }
  }

  std::unique_ptr<Work> make(size_t i) {
    Draft& draft = drafts_[i];
    const Addresses& at = computations_[i].at;
    std::byte* product = at.results[0];
    if (draft.productInWorkspace) {
      product = workspace_.get() + *draft.productInWorkspace;
    }
    std::unique_ptr<Work> first;
    if (draft.library) {
      first = libraryWork(i, product);
    } else if (draft.product) {
      first = generatedWork(*std::move(draft.product), {{at.operands[0], at.operands[1]}, {product}});
    }
    if (!draft.kernels) {
      return first;
    }
    std::unique_ptr<Work> second =
        generatedWork(*std::move(draft.kernels), first ? afterProduct(at, product) : at);
    return first && second ? std::make_unique<InTurn>(std::move(first), std::move(second))
                           : std::move(second);
  }

  static Addresses afterProduct(const Addresses& at, std::byte* product) {
    Addresses after{{product}, at.results};
    after.operands.append(at.operands.begin() + 2, at.operands.end());
    return after;
  }

  std::unique_ptr<Work> libraryWork(size_t i, std::byte* product) const {
    const Addresses& at = computations_[i].at;
    MatmulCall call = *drafts_[i].library;
    call.aData = at.operands[0], call.bData = at.operands[1], call.out = product;
    if (const auto& epilogue = drafts_[i].epilogue) {
      call.alpha = epilogue->alpha;
      call.relu = epilogue->relu;
      call.bias = epilogue->bias ? at.operands[*epilogue->bias] : nullptr;
      call.addend = epilogue->addend ? at.operands[*epilogue->addend] : nullptr;
    }
    return makeMatmul(call, site_.ordinal, site_.matmulWorkspace);
  }

  std::unique_ptr<Work> generatedWork(GeneratedWork work, const Addresses& at) {
    if (work.launches.empty()) {
      return nullptr;
    }
    const auto begin = kernels_.begin() + static_cast<ptrdiff_t>(nextKernel_);
    nextKernel_ += work.launches.size();
    std::vector<cudaKernel_t> own(begin, begin + static_cast<ptrdiff_t>(work.launches.size()));
    return std::make_unique<GeneratedKernels>(std::move(work), std::move(own), at, workspace_.get());
  }

  template <class Action>
  void named(size_t i, const Action& action) {
    try {
      action();
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("op '{}': {}", graph_.nameOf(computations_[i].op), error.what()));
    }
  }

  const Graph& graph_;
  const std::vector<Computation>& computations_;
  const ComputeSite& site_;
  DeviceBuffer& workspace_;
  std::vector<Draft> drafts_;
  std::vector<std::string> texts_;
  std::vector<cudaKernel_t> kernels_; ///< of the texts, in order
  size_t nextKernel_ = 0;
};

} // namespace

bool hasCudaKernel(const Graph& graph, OpId op) {
  if (const OpKind kind = graph[op].kind(); !isTimed(kind)) { // copies, or nothing at all
    return classOf(kind) != OpClass::Request;
  }
  if (isProduct(graph[op]) && !hasProduct(graph, op)) {
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

bool isLibraryProduct(const Graph& graph, OpId op) {
  if (!isProduct(graph[op]) || graph.typeOf(graph[op].firstResult).bytes() == 0) {
    return false;
  }
  const auto operands = graph.operandTypesOf(op);
  const MatmulCall call = productCall(graph, op);
  return hasMatmul(call.a.element) && !generateOuterProduct(graph[op], operands, graph.resultTypesOf(op)) &&
         !generatedProduct(productOf(graph[op]), {operands[0], operands[1]}, call.result);
}

std::vector<std::unique_ptr<Work>> makeWorks(const Graph& graph, const std::vector<Computation>& computations,
                                             const ComputeSite& site, DeviceBuffer& workspace) {
  return Maker(graph, computations, site, workspace).run();
}

} // namespace dfc::cuda
