#include "runtime/cuda/compute.h"

#include "runtime/cuda/kernels/generated_kernel.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "runtime/cuda/launches/tile_matmul.h"
#include "runtime/cuda/library/convolution.h"
#include "runtime/cuda/library/matmul.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

/// A launch of one generated kernel.
class KernelLaunch final : public StreamLaunch {
 public:
  KernelLaunch(const PlannedLaunch& launch, cudaKernel_t kernel, std::byte* workspace)
      : kernel_(kernel), grid_(launch.grid[0], launch.grid[1]), block_(launch.threads),
        dynamicSharedBytes_(launch.dynamicSharedBytes) {
    for (const Place& place : launch.pointers) {
      pointers_.push_back(place.resolved(workspace));
    }
    const size_t parameters = launch.pointersByValue ? 1 : pointers_.size();
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

std::vector<cudaKernel_t> kernelsOf(const LaunchPlan& plan, const ComputeSite& site) {
  std::vector<std::string> texts;
  for (const PlannedLaunch& launch : plan.launches) {
    if (!launch.product && !launch.convolution) {
      texts.push_back(std::string(prelude()) + launch.text);
    }
  }
  return site.library->load(texts, site.architecture);
}

std::unique_ptr<StreamLaunch> productLaunch(const PlannedLaunch& launch, const ComputeSite& site,
                                            std::byte* workspace) {
  MatmulCall call = *launch.product;
  call.out = launch.pointers[0].resolved(workspace);
  return makeMatmul(call, site.ordinal, site.matmulWorkspace);
}

std::unique_ptr<StreamLaunch> convolutionLaunch(const Graph& graph, OpId op, const PlannedLaunch& launch,
                                                CudnnConvolutions& convolutions, std::byte* workspace) {
  llvm::SmallVector<std::byte*, 4> pointers;
  for (const Place& place : launch.pointers) {
    pointers.push_back(place.resolved(workspace));
  }
  return convolutions.launch(graph[op].attributes, graph.operandTypesOf(op), pointers);
}

/// "op 'a'" or "ops 'a', 'b'".
std::string namesOf(const Graph& graph, const std::vector<Computation>& computations,
                    const PlannedLaunch& launch) {
  std::vector<std::string> names;
  for (const uint32_t computation : launch.computations) {
    names.push_back(fmt::format("'{}'", graph.nameOf(computations[computation].op)));
  }
  return fmt::format("op{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

} // namespace

ComputeLaunches makeLaunches(const Graph& graph, const std::vector<Computation>& computations,
                             const ComputeSite& site, bool merge) {
  CudnnConvolutions convolutions(site.ordinal);
  CublasProducts products(site.ordinal);
  const LaunchPlan plan = planLaunches(graph, computations, merge,
                                       {&convolutions, &products, runsTiles(site.architecture), site.shape});
  const std::vector<cudaKernel_t> kernels = kernelsOf(plan, site);
  ComputeLaunches made{DeviceBuffer(site.ordinal, plan.workspaceBytes, "kernels' workspace"), {}};
  std::byte* const workspace = made.workspace.get();
  auto kernel = kernels.begin();
  const auto launchOf = [&](const PlannedLaunch& launch) -> std::unique_ptr<StreamLaunch> {
    if (launch.product) {
      return productLaunch(launch, site, workspace);
    }
    if (launch.convolution) {
      return convolutionLaunch(graph, computations[launch.computations[0]].op, launch, convolutions,
                               workspace);
    }
    allowSharedMemory(*kernel, launch.dynamicSharedBytes, site.ordinal);
    return std::make_unique<KernelLaunch>(launch, *kernel++, workspace);
  };
  for (const PlannedLaunch& launch : plan.launches) {
    try {
      made.launches.push_back({launchOf(launch), launch.position, launch.computations});
    } catch (const MachineError& error) {
      throw MachineError(fmt::format("{}: {}", namesOf(graph, computations, launch), error.what()));
    }
  }
  return made;
}

} // namespace dfc::cuda
