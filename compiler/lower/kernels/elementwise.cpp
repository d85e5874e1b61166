// A chain streamed into a dense result. Each thread takes `unroll` packs, a block apart, and issues all their
// loads before the first store: enough bytes in flight, and a result may be the buffer of an operand, because
// each element is read by the thread that writes it, before it does.
#include "compiler/lower/kernels/families.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view elementwiseText = R"(
struct Shared {};
DFC_INLINE void element($parameters$Element* to, u64 i) {
  const Operands from{$pointers$};
  to[i] = applied(gather<1>(from, Index(i))).at[0];
}
template <int W> DFC_INLINE void pack($parameters$Element* to, u64 i) {
  const Operands from{$pointers$};
  storePack(to + i, applied(gather<W>(from, Index(i))));
}
template <class After>
DFC_INLINE void run($parameters$Element* to, const Block& block, Shared&, const After& after) {
  const Operands from{$pointers$};
  const Index first = Index(block.x) * (threads * unroll) + threadIdx.x;
  Inputs<width> in[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads;
    if (pack < packs) in[u] = gather<width>(from, pack * width);
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads;
    if (pack < packs) {
      storePack(to + pack * width, applied(in[u]));
      after.template pack<width>(u64(pack) * width);
    }
  }
$rest$}
)";

// The elements after the last whole pack, by the first threads of the grid.
constexpr std::string_view restText = R"(  if (first < $rest$) {
    const Index i = packs * width + first;
    to[i] = applied(gather<1>(from, i)).at[0];
    after(i);
  }
)";

// Packs of each thread: about 64 bytes of loads in flight, but first a thread for each pack.
int64_t unrollFor(const Chain& chain, int64_t packs, const GpuShape& gpu) {
  int64_t unroll = 4 / std::max<int64_t>(1, static_cast<int64_t>(chain.streamedSources()));
  unroll = std::max<int64_t>(1, unroll);
  while (unroll > 1 && packs < gpu.residentThreads() / 2 * unroll) {
    unroll /= 2;
  }
  return unroll == 3 ? 2 : unroll;
}

int64_t threadsFor(int64_t packs, const GpuShape& gpu) {
  int64_t threads = 256;
  while (threads > 64 && packs < gpu.multiprocessors * threads) {
    threads /= 2;
  }
  return std::min(threads, std::max<int64_t>(32, powerOf2From(packs)));
}

} // namespace

GeneratedKernels streamedChain(const Chain& chain, const GpuShape& gpu) {
  const int64_t full = chain.fullWidth(), width = chain.count < full ? 1 : full;
  const int64_t packs = chain.count / width, rest = chain.count % width;
  const int64_t threads = threadsFor(packs, gpu), unroll = unrollFor(chain, packs, gpu);
  const IndexText index = chain.index();
  GeneratedLaunch launch;
  launch.code =
      chain.text(width) + constant("width", width) + constant("threads", threads) +
      constant("unroll", unroll) + constant("Index", "packs", index.of(packs)) +
      filled(elementwiseText, {{"parameters", chain.parameters()},
                               {"pointers", chain.pointers()},
                               {"rest", rest == 0 ? "" : filled(restText, {{"rest", index.of(rest)}})}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(packs, threads * unroll));
  launch.threads = static_cast<uint32_t>(threads);
  launch.singlePass = launch.alone = true;
  launch.elements = chain.count;
  launch.packWidth = width;
  launch.arguments = chain.arguments();
  launch.arguments.push_back({Argument::From::Result, 0, 0, static_cast<uint8_t>(chain.elementBytes)});
  launch.chain = std::make_shared<const Chain>(chain);
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
