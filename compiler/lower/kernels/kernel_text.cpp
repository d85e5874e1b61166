#include "compiler/lower/kernels/kernel_text.h"

#include "compiler/lower/kernels/code.h"
#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dfc::cuda {
namespace {

// "Pointer{at[0]}, Pointer{at[1]}, "
std::string pointersOf(const GeneratedLaunch& launch) {
  std::string pointers;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    pointers += fmt::format("Pointer{{at[{}]}}, ", i);
  }
  return pointers;
}

// A launch's code, and what calls it with untyped pointers.
std::string inNamespace(const GeneratedLaunch& launch, size_t number) {
  const std::string pointers = pointersOf(launch);
  std::string text = fmt::format("namespace k{} {{\n{}\n"
                                 "template <class After>\n"
                                 "DFC_INLINE void call(void* const* at, const Block& block, Shared& shared, "
                                 "const After& after) {{\n  (void)after;\n  run({}block, shared{});\n}}\n",
                                 number, launch.code, pointers, launch.elements > 0 ? ", after" : "");
  if (launch.alone) {
    text +=
        fmt::format("DFC_INLINE void callElement(void* const* at, u64 i) {{ element({}i); }}\n", pointers);
  }
  if (launch.alone && launch.packWidth > 0) {
    text += fmt::format("template <int W> DFC_INLINE void callPack(void* const* at, u64 i) {{\n"
                        "  constexpr int own = W < {0} ? W : {0};\n"
                        "#pragma unroll\n"
                        "  for (int k = 0; k < W; k += own) pack<own>({1}i + k);\n}}\n",
                        launch.packWidth, pointers);
  }
  return text + "}\n";
}

constexpr std::string_view noFollowers = "struct NoFollowers {\n"
                                         "  DFC_INLINE void operator()(u64) const {}\n"
                                         "  template <int W> DFC_INLINE void pack(u64) const {}\n};\n";

bool sameLaunch(const GeneratedLaunch& a, const GeneratedLaunch& b) {
  return &a == &b || (a.code == b.code && a.grid == b.grid && a.threads == b.threads &&
                      a.arguments.size() == b.arguments.size());
}

bool sameStage(const KernelStage& a, const KernelStage& b) {
  return sameLaunch(*a.launch, *b.launch) &&
         std::equal(a.followers.begin(), a.followers.end(), b.followers.begin(), b.followers.end(),
                    [](const auto* one, const auto* other) { return sameLaunch(*one, *other); });
}

bool sameMember(const KernelMember& a, const KernelMember& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), sameStage);
}

size_t pointersIn(const KernelStage& stage) {
  size_t pointers = stage.launch->arguments.size();
  for (const GeneratedLaunch* follower : stage.followers) {
    pointers += follower->arguments.size();
  }
  return pointers;
}

std::string boundsText(uint32_t threads, uint32_t minBlocksPerMultiprocessor) {
  return fmt::format("__launch_bounds__({}{})", threads,
                     minBlocksPerMultiprocessor > 0 ? fmt::format(", {}", minBlocksPerMultiprocessor) : "");
}

class Merger {
 public:
  explicit Merger(llvm::ArrayRef<KernelMember> members)
      : members_(members), minBlocksPerMultiprocessor_(members[0][0].launch->minBlocksPerMultiprocessor) {
    for (const KernelMember& member : members) {
      for (const KernelStage& stage : member) {
        DFC_ASSERT(stage.launch->dynamicSharedBytes() == 0, "dynamic shared memory in a merged kernel");
        merged_.threads = std::max(merged_.threads, stage.launch->threads);
        minBlocksPerMultiprocessor_ = stage.launch->minBlocksPerMultiprocessor == minBlocksPerMultiprocessor_
                                          ? minBlocksPerMultiprocessor_
                                          : 0;
      }
    }
  }

  MergedKernel run() {
    std::vector<bool> written(members_.size());
    for (size_t first = 0; first < members_.size(); ++first) {
      if (!written[first]) {
        const size_t already = merged_.order.size();
        for (size_t i = first; i < members_.size(); ++i) {
          if (!written[i] && sameMember(members_[i], members_[first])) {
            written[i] = true;
            merged_.order.push_back(static_cast<uint32_t>(i));
          }
        }
        addAlike(members_[first], merged_.order.size() - already);
      }
    }
    merged_.text = functions_ + std::string(noFollowers) + followers_ + sharedText() + kernel();
    return std::move(merged_);
  }

 private:
  /// `count` members like this one: the next blocks, and the next pointers.
  void addAlike(const KernelMember& member, size_t count) {
    DFC_ASSERT(member.size() == 1 ||
                   std::all_of(member.begin(), member.end(),
                               [](const KernelStage& stage) { return stage.launch->blocks() == 1; }),
               "launches of several blocks do not follow one another in one block");
    const uint64_t blocks = member[0].launch->blocks(), end = merged_.blocks + blocks * count;
    DFC_ASSERT(end < uint64_t{1} << 31, "a merged kernel of too many blocks");
    size_t pointers = 0;
    const std::string body = stages(member, pointers);
    branches_ += filled(R"($else$if (blockIdx.x < $end$u) {
    const u32 block = blockIdx.x - $begin$u;
    void* const* at = given.at + ($first$u + block / $blocks$u * $pointers$u);
$body$  })",
                        {{"else", branches_.empty() ? "  " : " else "},
                         {"end", std::to_string(end)},
                         {"begin", std::to_string(merged_.blocks)},
                         {"first", std::to_string(pointers_)},
                         {"blocks", std::to_string(blocks)},
                         {"pointers", std::to_string(pointers)},
                         {"body", body}});
    merged_.blocks = static_cast<uint32_t>(end);
    pointers_ += pointers * count;
  }

  /// The member's stages; `pointers` becomes how many they take. Alike neighbours are a loop.
  std::string stages(const KernelMember& member, size_t& pointers) {
    std::string text;
    for (size_t first = 0; first < member.size();) {
      const KernelStage& stage = member[first];
      size_t count = 1;
      while (first + count < member.size() && sameStage(member[first + count], stage)) {
        ++count;
      }
      text += first == 0 ? "" : "    __syncthreads();\n";
      text +=
          count == 1 ? callText(stage, fmt::format("at + {}", pointers)) : loopText(stage, pointers, count);
      pointers += count * pointersIn(stage);
      first += count;
    }
    return text;
  }

  std::string loopText(const KernelStage& stage, size_t firstPointer, size_t count) {
    return fmt::format(
        "#pragma unroll 1\n    for (u32 stage = 0; stage < {}u; ++stage) {{\n"
        "      if (stage != 0) __syncthreads();\n  {}    }}\n",
        count, callText(stage, fmt::format("at + ({} + stage * {}u)", firstPointer, pointersIn(stage))));
  }

  std::string callText(const KernelStage& stage, const std::string& pointers) {
    const GeneratedLaunch& launch = *stage.launch;
    DFC_ASSERT(launch.threads == merged_.threads || !launch.barriers,
               "a barrier that some threads of the block do not come to");
    const size_t function = functionOf(launch);
    const std::string x = fmt::format("block % {}u", launch.blocks());
    const std::string place = launch.grid[1] == 1
                                  ? fmt::format("{{{}, 0u, {}u}}", x, launch.grid[0])
                                  : fmt::format("{{{0} % {1}u, {0} / {1}u, {1}u}}", x, launch.grid[0]);
    return fmt::format(
        "    {}k{}::call({}, Block{}, shared.s{}, {});\n",
        launch.threads < merged_.threads ? fmt::format("if (threadIdx.x < {}u) ", launch.threads) : "",
        function, pointers, place, function, followersText(stage, pointers));
  }

  /// An object that makes an element of each follower, or a pack.
  std::string followersText(const KernelStage& stage, const std::string& pointers) {
    if (stage.followers.empty()) {
      return "NoFollowers{}";
    }
    std::string calls, packs;
    size_t first = stage.launch->arguments.size();
    for (const GeneratedLaunch* follower : stage.followers) {
      DFC_ASSERT(follower->alone && follower->elements == stage.launch->elements,
                 "a follower makes element after element");
      const size_t function = functionOf(*follower);
      calls += fmt::format(" k{}::callElement(at + {}, i);", function, first);
      if (stage.launch->packWidth > 0) {
        DFC_ASSERT(follower->packWidth > 0, "a follower of packs makes packs");
        packs += fmt::format(" k{}::callPack<W>(at + {}, i);", function, first);
      }
      first += follower->arguments.size();
    }
    const auto [row, isNew] = followersOf_.emplace(calls + packs, followersOf_.size());
    if (isNew) {
      followers_ += fmt::format("struct Followers{} {{\n  void* const* at;\n"
                                "  DFC_INLINE void operator()(u64 i) const {{{} }}\n"
                                "  template <int W> DFC_INLINE void pack(u64 i) const {{{} }}\n}};\n",
                                row->second, calls, packs);
    }
    return fmt::format("Followers{}{{{}}}", row->second, pointers);
  }

  size_t functionOf(const GeneratedLaunch& launch) {
    const auto [row, isNew] = functionOf_.emplace(launch.code, functionOf_.size());
    if (isNew) {
      functions_ += inNamespace(launch, row->second);
    }
    return row->second;
  }

  std::string sharedText() const {
    std::string text = "union AllShared {\n";
    for (size_t i = 0; i < functionOf_.size(); ++i) {
      text += fmt::format("  k{0}::Shared s{0};\n", i);
    }
    return text + "};\n";
  }

  std::string kernel() const {
    return filled(R"(struct Given { void* at[$pointers$]; };
extern "C" __global__ void $bounds$ $name$(const __grid_constant__ Given given) {
  beginKernel();
  __shared__ AllShared shared;
$branches$
}
)",
                  {{"pointers", std::to_string(pointers_)},
                   {"bounds", boundsText(merged_.threads, minBlocksPerMultiprocessor_)},
                   {"name", std::string(kernelName)},
                   {"branches", branches_}});
  }

  llvm::ArrayRef<KernelMember> members_;
  MergedKernel merged_;
  uint32_t minBlocksPerMultiprocessor_;       // 0 where they differ
  std::map<std::string, size_t> functionOf_;  // by code
  std::map<std::string, size_t> followersOf_; // by their calls
  std::string functions_, followers_, branches_;
  size_t pointers_ = 0;
};

constexpr std::string_view staticShared = "  __shared__ k0::Shared shared;\n";
// A host that runs the kernel has no such limit.
constexpr std::string_view dynamicShared = R"(#ifdef DFC_ON_HOST
  __shared__ k0::Shared shared;
#else
  extern __shared__ uint4 sharedOfLaunch[];
  k0::Shared& shared = *reinterpret_cast<k0::Shared*>(sharedOfLaunch);
#endif
)";

} // namespace

std::string kernelText(const GeneratedLaunch& launch) {
  std::string parameters, pointers;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    parameters += fmt::format("{}void* p{}", i == 0 ? "" : ", ", i);
    pointers += fmt::format("{}p{}", i == 0 ? "" : ", ", i);
  }
  return inNamespace(launch, 0) + std::string(noFollowers) +
         filled(R"(extern "C" __global__ void $bounds$ $name$($parameters$) {
  beginKernel();
$shared$  void* const at[] = {$pointers$};
  k0::call(at, Block{blockIdx.x, blockIdx.y, gridDim.x}, shared, NoFollowers{});
}
)",
                {{"bounds", boundsText(launch.threads, launch.minBlocksPerMultiprocessor)},
                 {"shared", std::string(launch.dynamicSharedBytes() > 0 ? dynamicShared : staticShared)},
                 {"name", std::string(kernelName)},
                 {"parameters", parameters},
                 {"pointers", pointers}});
}

MergedKernel mergedKernel(llvm::ArrayRef<KernelMember> members) { return Merger(members).run(); }

} // namespace dfc::cuda
