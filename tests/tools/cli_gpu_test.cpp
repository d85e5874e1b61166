// `dfc run` on real GPUs, where there are any: what it says of a kernel cache that is no good, and the
// exchange of GPUs without peer access. After each failure the next run is good.
#include "runtime/backend.h"
#include "runtime/cuda/library/kernel_cache.h"
#include "runtime/files/npy.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <functional>

using namespace dfc;
using namespace dfc::test;
namespace fs = std::filesystem;

namespace {

/// A graph that crosses to another GPU and back, fed and ready to run on this host's machine.
class GpuShop {
 public:
  GpuShop() {
    REQUIRE(shop_.dfc({"machine", "-o", "here.json"}).status == 0);
    std::ifstream file(shop_.file("here.json"));
    const nlohmann::json machine = nlohmann::json::parse(file);
    for (const auto& device : machine["devices"]) {
      gpus_ += device["class"] == "gpu" ? 1 : 0;
    }
    const size_t other = gpus_ > 1 ? 1 : 0;
    shop_.write("g.dfg", fmt::format(R"(graph exchange {{
  input x : f32[256, 256]
  on gpu0 {{ a = tanh(mul(matmul(x, x), 0.01)) }}
  on gpu{} {{ b = add(matmul(a, x), 1) }}
  on gpu0 {{ y = mul(b, a) }}
  fetch y
}}
)",
                                     other));
    std::vector<float> values(256 * 256);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 2654435761U % 1000) / 500 - 1;
    }
    REQUIRE(writeNpy(shop_.file("x.npy"), Literal(Shape{256, 256}, std::span<const float>(values))).ok());
  }

  size_t gpus() const { return gpus_; }
  fs::path cache() const { return shop_.path() / "kernels"; }
  Outcome run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "run",     "g.dfg",   "-m",      "here.json", "--backend", "gpu=cuda",       "--feed",
        "x=x.npy", "--fetch", "y=y.npy", "--steps",   "3",         "--kernel-cache", "kernels"};
    words.insert(words.end(), more.begin(), more.end());
    return shop_.dfc(words);
  }
  Literal result() const {
    auto value = readNpy(shop_.file("y.npy"));
    REQUIRE(value.ok());
    return *std::move(value);
  }

 private:
  Workshop shop_;
  size_t gpus_ = 0;
};

/// Every kernel that the cache keeps, rewritten.
void rewriteAll(const fs::path& folder, const std::function<void(std::string&)>& change) {
  std::vector<std::string> keys;
  for (const auto& entry : fs::directory_iterator(folder)) {
    keys.push_back(entry.path().stem().string());
  }
  REQUIRE_FALSE(keys.empty());
  const cuda::KernelCache cache(folder);
  for (const std::string& key : keys) {
    std::string kernel = *cache.find(key);
    change(kernel);
    cache.store(key, kernel);
  }
}

/// The same program as an ELF file says it is for sm_80: e_flags, where CUDA keeps the number in the second
/// byte, before CUDA 13 in the first.
void toOtherArchitecture(std::string& cubin) {
  constexpr size_t flags = 0x30;
  REQUIRE(cubin.size() > flags + 4);
  for (const size_t byte : {flags, flags + 1}) {
    if (cubin[byte] != 0 && (byte == flags + 1 || cubin[flags + 1] == 0)) {
      cubin[byte] = 80;
    }
  }
}

bool hasGpu() { return backendNamed("cuda")->unavailable().empty(); }

} // namespace

TEST_CASE("dfc run on a GPU: damaged cached kernels are named, and without them the run is good") {
  if (!hasGpu()) {
    DFC_SKIP(backendNamed("cuda")->unavailable());
  }
  const GpuShop shop;
  REQUIRE(shop.run().status == 0);
  const Literal good = shop.result();
  for (const auto& entry : fs::directory_iterator(shop.cache())) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }
  const Outcome damaged = shop.run();
  CHECK(damaged.status == 2);
  CHECK_THAT(damaged.err, containing(shop.cache().filename().string()));
  CHECK_THAT(damaged.err, containing("delete it"));
  fs::remove_all(shop.cache());
  REQUIRE(shop.run().status == 0);
  CHECK(shop.result() == good);
}

TEST_CASE(
    "dfc run on a GPU: cached kernels of another architecture say so, and without them the run is good") {
  if (!hasGpu()) {
    DFC_SKIP(backendNamed("cuda")->unavailable());
  }
  const GpuShop shop;
  REQUIRE(shop.run().status == 0);
  const Literal good = shop.result();
  rewriteAll(shop.cache(), toOtherArchitecture);
  const Outcome foreign = shop.run();
  CHECK(foreign.status == 2);
  CHECK_THAT(foreign.err, containing("another architecture: empty the kernel cache"));
  fs::remove_all(shop.cache());
  REQUIRE(shop.run().status == 0);
  CHECK(shop.result() == good);
}

TEST_CASE("dfc run on GPUs without peer access, or by copies alone: to the same bits") {
  if (!hasGpu()) {
    DFC_SKIP(backendNamed("cuda")->unavailable());
  }
  const GpuShop shop;
  if (shop.gpus() < 2) {
    DFC_SKIP("this host has one GPU");
  }
  REQUIRE(shop.run().status == 0);
  const Literal direct = shop.result();
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--no-peer-access"},
                                               {"--no-peer-access", "--no-cuda-graph"},
                                               {"--no-peer-reads"},
                                               {"--no-peer-reads", "--no-cuda-graph"}}) {
    REQUIRE(shop.run(more).status == 0);
    CHECK(shop.result() == direct);
  }
}
