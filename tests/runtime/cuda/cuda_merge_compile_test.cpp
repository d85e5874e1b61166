// NVRTC compiles the text of merged kernels without a warning, with bounds on registers as their launches
// need them, and emits no loads that may be stale.
#include "compiler/lower/kernels/kernel_text.h"
#include "compiler/lower/merge.h"
#include "tests/runtime/cuda/nvrtc_compile.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_cases.h"

using namespace dfc;
using namespace dfc::cuda;

namespace {

/// The launches of independent kernels.
std::vector<UnmergedLaunch> launchesOfCases(ElementType element) {
  std::vector<UnmergedLaunch> launches;
  for (const test::OpSample& sample : test::kernelCases(element, false)) {
    const TypeResult results = resultTypes(sample.attributes, sample.operands);
    auto work = generateKernels(sample.attributes, sample.operands, results.types, GpuShape::assumed());
    for (GeneratedLaunch& kernel : work->launches) {
      if (kernel.dynamicSharedBytes() > 0) {
        continue; // is never merged
      }
      UnmergedLaunch& single = launches.emplace_back();
      single.pointers.resize(kernel.arguments.size());
      single.kernel = std::move(kernel);
    }
  }
  return launches;
}

/// Compiles every `every`-th of the merged kernels of a type.
void checkMergedCompile(ElementType element, size_t every) {
  const std::vector<UnmergedLaunch> launches = launchesOfCases(element);
  const std::vector<LaunchGroup> groups = mergeLaunches(launches);
  CHECK(groups.size() < launches.size() / 4);
  for (size_t i = 0; i < groups.size(); i += every) {
    std::vector<KernelMember> members;
    for (const LaunchMember& member : groups[i].members) {
      members.push_back({KernelStage{&launches[member[0].launch].kernel, {}}});
    }
    CHECK(test::compileLog(std::string(prelude()) + mergedKernel(members).text) == "");
  }
}

} // namespace

TEST_CASE("NVRTC compiles merged kernels without a warning") {
  if (!test::compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const ElementType element : {ElementType::F32, ElementType::BF16, ElementType::U8}) {
    checkMergedCompile(element, 24);
  }
}

TEST_CASE("NVRTC compiles all merged kernels without a warning", "[heavy]") {
  if (!test::compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const ElementType element : {ElementType::F32, ElementType::BF16, ElementType::U8}) {
    checkMergedCompile(element, 1);
  }
}

TEST_CASE("NVRTC compiles kernels with stages and followers without a warning") {
  if (!test::compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  const TensorType few = f32({40}), matrix = f32({64, 40});
  ops::ReduceSum sum;
  sum.axes = {0};
  const auto launchOf = [](const OpAttributes& attributes, OperandTypes operands) {
    const TypeResult results = resultTypes(attributes, operands);
    return generateKernels(attributes, operands, results.types, GpuShape::assumed())->launches[0];
  };
  const GeneratedLaunch summed = launchOf(sum, {matrix}), added = launchOf(ops::Add{}, {few, few});
  REQUIRE(added.alone);
  REQUIRE(summed.elements == added.elements);
  const std::vector<KernelMember> members = {
      {KernelStage{&summed, {&added}}},
      {KernelStage{&summed, {&added}}},
      {KernelStage{&summed, {&added, &added}}},
      {KernelStage{&added, {}}, KernelStage{&added, {}}, KernelStage{&added, {&added}}}};
  REQUIRE(added.blocks() == 1);
  const MergedKernel kernel = mergedKernel(members);
  CHECK(kernel.order == std::vector<uint32_t>{0, 1, 2, 3});
  CHECK(kernel.blocks == 3 * summed.blocks() + 1);
  CHECK(test::compileLog(std::string(prelude()) + kernel.text) == "");
}

TEST_CASE("merged kernels ask for registers for as many blocks at once as each of their launches needs") {
  GeneratedLaunch one;
  one.code = "struct Shared {};";
  one.threads = 64;
  GeneratedLaunch other = one;
  const auto boundsOf = [&](uint32_t ofOne, uint32_t ofOther) {
    one.minBlocksPerMultiprocessor = ofOne, other.minBlocksPerMultiprocessor = ofOther;
    const KernelMember alone = {KernelStage{&one, {}}},
                       inTurn = {KernelStage{&one, {}}, KernelStage{&other, {}}};
    const std::string text = mergedKernel({alone, inTurn}).text;
    const size_t begin = text.find("__launch_bounds__");
    return text.substr(begin, text.find(')', begin) + 1 - begin);
  };
  CHECK(boundsOf(8, 8) == "__launch_bounds__(64, 8)");
  CHECK(boundsOf(8, 0) == "__launch_bounds__(64)");
  CHECK(boundsOf(0, 8) == "__launch_bounds__(64)");
  CHECK(boundsOf(8, 4) == "__launch_bounds__(64)");
  CHECK(boundsOf(0, 0) == "__launch_bounds__(64)");
}

// What a kernel streams may be a peer's memory, which that peer wrote earlier in the same CUDA graph.
TEST_CASE(
    "single-pass kernels, merged or not, load through no cache that may be stale, and prefetch nothing") {
  if (!test::compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const ElementType element : {ElementType::F32, ElementType::BF16}) {
    std::vector<UnmergedLaunch> launches = launchesOfCases(element);
    // With an operand and a result: a kernel of a result alone loads nothing.
    std::erase_if(launches, [](const UnmergedLaunch& launch) {
      return !launch.kernel.singlePass || launch.pointers.size() < 2;
    });
    REQUIRE(launches.size() > 4);
    std::vector<KernelMember> members;
    for (size_t i = 0; i < launches.size(); i += launches.size() / 4) {
      const std::string own = test::compiledText(std::string(prelude()) + kernelText(launches[i].kernel));
      CHECK(own.find("ld.global") != std::string::npos);
      CHECK(own.find("ld.global.nc") == std::string::npos);
      CHECK(own.find("prefetch") == std::string::npos);
      members.push_back({KernelStage{&launches[i].kernel, {}}});
    }
    const std::string merged = test::compiledText(std::string(prelude()) + mergedKernel(members).text);
    CHECK(merged.find(".nc.") == std::string::npos);
    CHECK(merged.find("prefetch") == std::string::npos);
  }
}

TEST_CASE("fused reductions load through no cache that may be stale either") {
  if (!test::compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  const auto launchOf = [](const OpAttributes& attributes, OperandTypes operands) {
    return generateKernels(attributes, operands, resultTypes(attributes, operands).types, GpuShape::assumed())
        ->launches[0];
  };
  for (const ElementType element : {ElementType::F32, ElementType::BF16}) {
    const TensorType matrix{element, {4096, 512}};
    const GeneratedLaunch made = launchOf(ops::Mul{}, {matrix, matrix});
    for (const int64_t axis : {0, 1}) { // columns in parts, and rows
      ops::ReduceSum sum;
      sum.axes = {axis};
      const auto both = fusedWithReduction(made, launchOf(sum, {matrix}));
      REQUIRE(both);
      const std::string text = test::compiledText(std::string(prelude()) + kernelText(*both));
      CHECK(text.find("ld.global") != std::string::npos);
      CHECK(text.find(".nc.") == std::string::npos);
      CHECK(text.find("prefetch") == std::string::npos);
      CHECK(test::compileLog(std::string(prelude()) + kernelText(*both)) == "");
    }
  }
}
