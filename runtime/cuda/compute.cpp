#include "runtime/cuda/compute.h"

#include "runtime/cuda/arena.h"
#include "runtime/cuda/library/convolution.h"
#include "runtime/cuda/library/custom_kernel.h"
#include "runtime/cuda/library/matmul.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

/// A launch of one generated kernel.
class KernelLaunch final : public StreamLaunch {
 public:
  KernelLaunch(const LaunchRow& row, cudaKernel_t kernel, llvm::ArrayRef<std::byte*> pointers)
      : kernel_(kernel), grid_(row.grid[0], row.grid[1]), block_(row.threads),
        dynamicSharedBytes_(row.dynamicSharedBytes), pointers_(pointers.begin(), pointers.end()) {
    const size_t parameters = row.pointersByValue ? 1 : pointers_.size();
    for (size_t i = 0; i < parameters; ++i) {
      arguments_.push_back(&pointers_[i]);
    }
  }
  KernelLaunch(const KernelLaunch&) = delete; // the arguments point into it
  KernelLaunch& operator=(const KernelLaunch&) = delete;

  void enqueue(cudaStream_t stream) override { launch(stream, true); }
  void enqueueBehind(cudaStream_t stream) override { launch(stream, false); }

 private:
  // Programmatic dependent launch: every kernel begins by waiting for the one before, so that it may be
  // launched ahead of that one's end.
  void launch(cudaStream_t stream, bool ahead) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = ahead ? 1 : 0;
    cudaLaunchConfig_t config{};
    config.gridDim = grid_;
    config.blockDim = block_;
    config.dynamicSmemBytes = dynamicSharedBytes_;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_), arguments_.data()),
          "a generated kernel");
  }

  cudaKernel_t kernel_;
  dim3 grid_, block_;
  uint32_t dynamicSharedBytes_;
  std::vector<void*> pointers_, arguments_;
};

/// "op 'a'" or "ops 'a', 'b'".
std::string namesOf(const Graph& graph, const LaunchRow& row) {
  std::vector<std::string> names;
  for (const OpId op : row.ops) {
    names.push_back(fmt::format("'{}'", graph.nameOf(op)));
  }
  return fmt::format("op{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

class Maker {
 public:
  Maker(const Graph& graph, const LaunchPlan& plan, const ComputeSite& site)
      : graph_(graph), plan_(plan), site_(site) {}

  ComputeLaunches run(llvm::ArrayRef<LaunchRow> rows, int64_t workspaceBytes) {
    for (const LaunchRow& row : rows) {
      located(row, [&] { choose(row); });
    }
    made_.workspace = DeviceBuffer(site_.ordinal, workspaceBytes, "kernels' workspace");
    made_.libraryWorkspace = DeviceBuffer(site_.ordinal, libraryBytes_, "the libraries' workspace");
    loadKernels();
    for (const Chosen& chosen : chosen_) {
      located(*chosen.row, [&] { made_.launches.push_back({launchOf(chosen), chosen.row}); });
    }
    return std::move(made_);
  }

 private:
  struct Chosen {
    const LaunchRow* row;
    std::unique_ptr<LibraryConvolution> convolution;
  };

  template <class Action>
  void located(const LaunchRow& row, const Action& action) const {
    try {
      action();
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("{}: {}", namesOf(graph_, row), error.what()));
    }
  }

  // A launch, or its spare ones where the library has no algorithm for it.
  void choose(const LaunchRow& row) {
    Chosen chosen{&row, nullptr};
    bool here = true;
    switch (row.kind) {
    case LaunchKind::Kernel:
    case LaunchKind::Custom: break;
    case LaunchKind::Product:
      here = row.spare.empty() || hasEpilogue(*row.product, site_.ordinal);
      libraryBytes_ = std::max(libraryBytes_, matmulWorkspaceBytes);
      break;
    case LaunchKind::Convolution:
      chosen.convolution =
          findConvolution(graph_[row.ops[0]].attributes, graph_.operandTypesOf(row.ops[0]), site_.ordinal);
      here = chosen.convolution != nullptr;
      libraryBytes_ = here ? std::max(libraryBytes_, chosen.convolution->workspaceBytes()) : libraryBytes_;
      break;
    }
    if (here) {
      chosen_.push_back(std::move(chosen));
    } else {
      for (const LaunchRow& spare : row.spare) {
        choose(spare);
      }
    }
  }

  void loadKernels() {
    std::vector<std::string> texts;
    std::vector<uint32_t> numbers;
    kernels_.assign(plan_.kernels.size(), nullptr);
    std::vector<bool> wanted(plan_.kernels.size());
    for (const Chosen& chosen : chosen_) {
      const LaunchRow& row = *chosen.row;
      if (row.kind == LaunchKind::Kernel && !wanted[row.kernel]) {
        wanted[row.kernel] = true;
        numbers.push_back(row.kernel);
        texts.push_back(plan_.prelude + plan_.kernels[row.kernel]);
      }
    }
    const std::vector<cudaKernel_t> loaded = site_.library->load(texts, site_.architecture);
    for (size_t i = 0; i < numbers.size(); ++i) {
      kernels_[numbers[i]] = loaded[i];
    }
  }

  std::byte* addressOf(const LaunchPointer& pointer) const {
    if (!pointer.inWorkspace() && site_.maps != nullptr) {
      return mappedAddressOf(pointer);
    }
    std::byte* base = pointer.inWorkspace() ? made_.workspace.get() : site_.arenas[pointer.device];
    DFC_ASSERT(base != nullptr || pointer.offset == 0, "a GPU computes in its own arena, or reads a peer's");
    return base + pointer.offset;
  }

  std::byte* mappedAddressOf(const LaunchPointer& pointer) const {
    const ArenaMap::Place place = (*site_.maps)[pointer.device].at(pointer.offset);
    const auto* arena = dynamic_cast<const CudaArena*>(place.arena);
    DFC_ASSERT(arena != nullptr || pointer.offset == 0, "a GPU computes in arenas of GPUs");
    return arena != nullptr ? arena->base() + place.offset : nullptr;
  }

  std::unique_ptr<StreamLaunch> launchOf(const Chosen& chosen) const {
    const LaunchRow& row = *chosen.row;
    llvm::SmallVector<std::byte*, 4> pointers;
    for (const LaunchPointer& pointer : row.pointers) {
      pointers.push_back(addressOf(pointer));
    }
    switch (row.kind) {
    case LaunchKind::Kernel:
      allowSharedMemory(kernels_[row.kernel], row.dynamicSharedBytes, site_.ordinal);
      return std::make_unique<KernelLaunch>(row, kernels_[row.kernel], pointers);
    case LaunchKind::Product: return productLaunch(*row.product, pointers);
    case LaunchKind::Convolution: return chosen.convolution->launch(pointers, made_.libraryWorkspace.get());
    case LaunchKind::Custom:
      return customLaunch(graph_, row.ops[0], pointers, *site_.library, site_.architecture, site_.ordinal);
    }
    DFC_UNREACHABLE("kind of a launch");
  }

  std::unique_ptr<StreamLaunch> productLaunch(const ProductCall& product,
                                              llvm::ArrayRef<std::byte*> pointers) const {
    MatmulCall call{product};
    call.out = pointers[0];
    call.aData = pointers[1], call.bData = pointers[2];
    call.biasData = product.bias ? pointers.back() : nullptr;
    call.addendData = product.addend ? pointers.back() : nullptr;
    return makeMatmul(call, site_.ordinal, made_.libraryWorkspace.get());
  }

  const Graph& graph_;
  const LaunchPlan& plan_;
  const ComputeSite& site_;
  std::vector<Chosen> chosen_;
  std::vector<cudaKernel_t> kernels_; // by number in the plan; null for those that no launch takes
  int64_t libraryBytes_ = 0;
  ComputeLaunches made_;
};

} // namespace

ComputeLaunches makeLaunches(const Graph& graph, const LaunchPlan& plan, llvm::ArrayRef<LaunchRow> rows,
                             int64_t workspaceBytes, const ComputeSite& site) {
  return Maker(graph, plan, site).run(rows, workspaceBytes);
}

} // namespace dfc::cuda
