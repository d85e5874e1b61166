// How a reduction is spread over the device. A thread should have about four packs to load at once; enough
// threads should be resident to fill every multiprocessor; and only where results are too few for that are
// they cut into parts, which costs a second launch.
#include "compiler/lower/kernels/reduction_plan.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t packsAtOnce = 4;

struct Run {
  int64_t extent = 1, stride = 0;
  bool reduced = false;
};

// Runs of neighbouring axes that are all kept or all reduced, outermost first, without axes of length 1.
llvm::SmallVector<Run, 8> runsOf(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<Run, 8> runs;
  int64_t stride = shape.elements();
  for (size_t d = 0; d < shape.rank(); ++d) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (shape[d] == 1) {
      continue;
    }
    stride /= shape[d];
    if (!runs.empty() && runs.back().reduced == reduced) {
      runs.back() = {runs.back().extent * shape[d], stride, reduced};
    } else {
      runs.push_back({shape[d], stride, reduced});
    }
  }
  return runs;
}

ReductionPlan planRows(const ReductionLayout& layout, ReductionPlan plan, const GpuShape& gpu) {
  const int64_t packs = ceilDiv(layout.length, plan.width);
  const int64_t wanted = powerOf2From(ceilDiv(packs, packsAtOnce)); // threads for one result
  const bool manyResults = layout.outputs * 32 >= gpu.residentThreads() / 2;
  if (wanted <= 32 || (manyResults && packs <= 1024)) {
    plan.lanes = std::min<int64_t>(32, wanted);
    plan.threads = layout.outputs * plan.lanes >= gpu.multiprocessors * 256 ? 256 : 64;
  } else {
    plan.threads = plan.lanes = std::min<int64_t>(manyResults ? 256 : 1024, wanted);
    const int64_t wantedParts = ceilDiv(gpu.residentThreads(), layout.outputs * plan.threads);
    const int64_t usefulParts = packs / (plan.threads * packsAtOnce);
    // One block reads about 64 KiB faster than a second launch starts.
    if (usefulParts >= 4 && layout.outputs < gpu.multiprocessors) {
      plan.threads = plan.lanes = 256;
      plan.parts =
          std::clamp<int64_t>(packs / (256 * packsAtOnce), 1,
                              std::max<int64_t>(wantedParts, gpu.residentThreads() / 256 / layout.outputs));
    }
  }
  plan.unroll = std::clamp<int64_t>(packs / plan.lanes / plan.parts, 1, packsAtOnce);
  return plan;
}

ReductionPlan planColumns(const ReductionLayout& layout, int64_t carry, ReductionPlan plan,
                          const GpuShape& gpu) {
  const int64_t packs = layout.outputs / plan.width;
  plan.columns = std::min<int64_t>(32, powerOf2From(packs));
  // Narrow blocks spread a small tensor; a large one has rows enough to cut.
  const bool small = packs * layout.length < gpu.residentThreads();
  while (small && plan.columns > 8 && packs / plan.columns < gpu.multiprocessors) {
    plan.columns /= 2;
  }
  const int64_t most = std::min<int64_t>(256, 32768 / (plan.width * carry)); // shared memory
  plan.lanes = std::min(most / plan.columns, powerOf2From(ceilDiv(layout.length, 2)));
  plan.lanes = std::max<int64_t>(1, plan.lanes);
  plan.threads = plan.columns * plan.lanes;
  const int64_t blocks = ceilDiv(packs, plan.columns);
  const int64_t usefulParts = layout.length / (plan.lanes * packsAtOnce * 2);
  if (usefulParts >= 4 && blocks < 2 * gpu.multiprocessors) {
    plan.parts = std::min(usefulParts, ceilDiv(gpu.residentThreads(), blocks * 256));
  }
  plan.unroll = std::clamp<int64_t>(layout.length / plan.lanes / plan.parts, 1, packsAtOnce);
  return plan;
}

} // namespace

ReductionLayout::ReductionLayout(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<Access::Axis, 8> keptAxes, reducedAxes;
  const auto runs = runsOf(shape, axes);
  for (const Run& run : runs) {
    (run.reduced ? reducedAxes : keptAxes).push_back({run.extent, run.stride});
    (run.reduced ? length : outputs) *= run.extent;
  }
  kept = Access(keptAxes);
  reduced = Access(reducedAxes);
  byRows = runs.empty() || runs.back().reduced;
  innerExtent = runs.empty() ? 1 : runs.back().extent;
}

ReductionPlan planReduction(const ReductionLayout& layout, int64_t fullWidth, int64_t carryBytes,
                            const GpuShape& gpu) {
  ReductionPlan plan;
  plan.byRows = layout.byRows;
  plan.width = commonPowerOf2(fullWidth, {layout.innerExtent});
  plan = layout.byRows ? planRows(layout, plan, gpu) : planColumns(layout, carryBytes, plan, gpu);
  plan.parts = std::min<int64_t>(plan.parts, 4096); // grid.y, and what the second launch has to read
  plan.chunk = ceilDiv(ceilDiv(layout.length, plan.parts), plan.width) * plan.width;
  if (!plan.byRows) {
    plan.chunk = ceilDiv(layout.length, plan.parts);
  }
  plan.parts = ceilDiv(layout.length, plan.chunk);
  return plan;
}

} // namespace dfc::cuda
