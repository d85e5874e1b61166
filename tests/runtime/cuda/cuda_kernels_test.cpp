// The generated CUDA text: there for every op and type that computes, always the same, free of what the graph
// calls things, and, where NVRTC was found, compiled for an H100/H200 without a warning. What the kernels
// compute is tested in tests/conformance.
#include "compiler/lower/kernels/kernel_text.h"
#include "ir/author/decompositions.h"
#include "ir/machine/kernel_claims.h"
#include "tests/runtime/cuda/nvrtc_compile.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_cases.h"

#include <fmt/format.h>

using namespace dfc;
using namespace dfc::cuda;
using namespace dfc::test;

namespace {

GeneratedKernels workOf(const OpSample& sample, const GpuShape& gpu = GpuShape::assumed()) {
  const TypeResult results = resultTypes(sample.attributes, sample.operands);
  INFO(describe(sample));
  REQUIRE(results.ok());
  auto work = generateKernels(sample.attributes, sample.operands, results.types, gpu);
  REQUIRE(work);
  return *std::move(work);
}

bool hasKernelHere(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass == OpClass::Elementwise || opClass == OpClass::Reduction || opClass == OpClass::Movement ||
         (opClass == OpClass::Structured && kind != OpKind::FusedMatmul && kind != OpKind::FusedConv2d);
}

void checkLaunch(const GeneratedLaunch& launch, int64_t workspace) {
  CHECK(launch.threads >= 1);
  CHECK(launch.threads <= 1024);
  CHECK((launch.threads % 32 == 0 || launch.barriers)); // whole warps shuffle
  CHECK(launch.barriers == (launch.code.find("__syncthreads") != std::string::npos));
  CHECK((launch.sharedBytes == 0) == (launch.code.find("struct Shared {};") != std::string::npos));
  CHECK((!launch.singlePass || (!launch.barriers && launch.sharedBytes == 0)));
  CHECK(launch.grid[0] >= 1);
  CHECK(launch.grid[0] <= 0x7fffffffU);
  CHECK(launch.grid[1] <= 65535U);
  for (const Argument& argument : launch.arguments) {
    CHECK((argument.from != Argument::From::Workspace || argument.offset < workspace));
  }
}

} // namespace

TEST_CASE("every op that computes has generated kernels for every element type it takes") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    for (const ElementType element : allElementTypes) {
      const OpSample sample = sampleOf(kind, element);
      const TypeResult results = resultTypes(sample.attributes, sample.operands);
      INFO(nameOf(kind) << " of " << name(element));
      const auto work =
          generateKernels(sample.attributes, sample.operands, results.types, GpuShape::assumed());
      const bool wanted = isComposite(kind) ? results.ok() && claimsKernel(DeviceKind::Gpu, sample.attributes,
                                                                           sample.operands)
                                            : results.ok() && hasKernelHere(kind);
      CHECK(work.has_value() == wanted);
    }
  }
}

TEST_CASE("GPUs have kernels for the attention that they claim, and for no other") {
  const auto half = [](Shape shape) { return TensorType{ElementType::BF16, shape}; };
  const auto mask = [](Shape shape) { return TensorType{ElementType::Bool, shape}; };
  const auto square = [&](int64_t width) {
    return std::vector<TensorType>{half({2, 3, 4, width}), half({2, 3, 5, width}), half({2, 3, 5, width})};
  };
  std::vector<std::pair<std::vector<TensorType>, bool>> cases;
  for (const int64_t width : {0, 1, 256, 257}) {
    cases.emplace_back(square(width), width == 1 || width == 256);
  }
  cases.push_back({{f64({4, 8}), f64({4, 8}), f64({4, 8})}, false});
  cases.push_back({{half({4, 8}), half({0, 8}), half({0, 8})}, false});             // no key
  cases.push_back({{half({4, 8}), half({6, 8}), half({6, 300})}, false});           // wide values
  cases.push_back({{f32({1 << 30, 1, 1}), f32({1, 1, 1}), f32({1, 1, 1})}, false}); // too many heads
  const std::vector<TensorType> batches = {half({2, 3, 2, 4, 8}), half({2, 3, 2, 5, 8}),
                                           half({2, 3, 2, 5, 8})};
  for (const auto& [shape, claimed] : std::vector<std::pair<Shape, bool>>{{{4, 5}, true},
                                                                          {{2, 3, 1, 4, 5}, true},
                                                                          {{1, 1, 2, 1, 5}, true},
                                                                          {{2, 1, 2, 4, 5}, false},
                                                                          {{3, 1, 1, 5}, false}}) {
    cases.emplace_back(batches, claimed);
    cases.back().first.push_back(mask(shape));
  }
  for (const auto& [operands, claimed] : cases) {
    const TypeResult results = resultTypes(ops::Attention{}, operands);
    INFO(describe(OpSample{ops::Attention{}, operands}) << results.error);
    REQUIRE(results.ok());
    CHECK(claimsKernel(DeviceKind::Gpu, ops::Attention{}, operands) == claimed);
    CHECK(generateKernels(ops::Attention{}, operands, results.types, GpuShape::assumed()).has_value() ==
          claimed);
  }
}

TEST_CASE("generated kernels are the same text every time, with launches that a device takes") {
  for (const ElementType element : allElementTypes) {
    for (const OpSample& sample : kernelCases(element, true)) {
      const GeneratedKernels work = workOf(sample), again = workOf(sample);
      INFO(describe(sample));
      REQUIRE(work.launches.size() == again.launches.size());
      CHECK(work.workspaceBytes == again.workspaceBytes);
      for (size_t i = 0; i < work.launches.size(); ++i) {
        checkLaunch(work.launches[i], work.workspaceBytes);
        CHECK(work.launches[i].code == again.launches[i].code);
      }
      const TypeResult results = resultTypes(sample.attributes, sample.operands);
      const bool empty =
          llvm::all_of(results.types, [](const TensorType& type) { return type.shape.elements() == 0; });
      CHECK(work.launches.empty() == empty);
    }
  }
}

TEST_CASE("launches are sized for the GPU that the machine states") {
  for (const GpuShape& gpu : {GpuShape{1, 1024}, GpuShape{16, 1024}, GpuShape{148, 2048}}) {
    for (const OpSample& sample : kernelCases(ElementType::F32, true)) {
      const GeneratedKernels work = workOf(sample, gpu);
      for (const GeneratedLaunch& launch : work.launches) {
        checkLaunch(launch, work.workspaceBytes);
      }
    }
  }
  // A sum of 2^20 elements: one part for each 256 of the threads that are resident at once.
  const TensorType vector{ElementType::F32, Shape{1 << 20}}, scalar{ElementType::F32, Shape{}};
  ops::ReduceSum sum;
  sum.axes = {0};
  const auto blocksOn = [&](const GpuShape& gpu) {
    return generateKernels(sum, {vector}, {scalar}, gpu)->launches[0].blocks();
  };
  CHECK(blocksOn({16, 2048}) == 128); // 16 * 2048 / 256
  CHECK(blocksOn({32, 2048}) == 256);
  DeviceRow row;
  CHECK(GpuShape::of(row).residentThreads() == GpuShape::assumed().residentThreads());
  row.multiprocessors = 30;
  row.threadsPerMultiprocessor = 1536;
  CHECK(GpuShape::of(row).residentThreads() == 46080); // 30 * 1536
}

namespace {

void checkCompiles(const std::string& source) {
  const std::string log = compileLog(source);
  INFO(log);
  CHECK(log.empty());
}

/// Compiles every `every`-th case of a type: another part of the cases for each type.
void checkCompiles(ElementType element, size_t every) {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  constexpr size_t together = 40; // one program: the prelude is read once
  std::string source(prelude());
  std::string what;
  size_t count = 0;
  const auto flush = [&] {
    INFO(what);
    checkCompiles(source);
    source = prelude();
    what.clear();
    count = 0;
  };
  const std::vector<OpSample> samples = kernelCases(element, true);
  for (size_t i = static_cast<size_t>(element) % every; i < samples.size(); i += every) {
    const OpSample& sample = samples[i];
    for (const GeneratedLaunch& launch : workOf(sample).launches) {
      source += inNamespace(kernelText(launch), count);
      what += fmt::format("k{}: {}\n", count, describe(sample));
      if (++count == together) {
        flush();
      }
    }
  }
  flush();
}

} // namespace

// The decisions are the same for every type; where only types differ, a part of the cases shows it.
TEST_CASE("NVRTC compiles generated f32 kernels without a warning") { checkCompiles(ElementType::F32, 8); }
TEST_CASE("NVRTC compiles generated f64 kernels without a warning") { checkCompiles(ElementType::F64, 32); }
TEST_CASE("NVRTC compiles generated f16 kernels without a warning") { checkCompiles(ElementType::F16, 32); }
TEST_CASE("NVRTC compiles generated bf16 kernels without a warning") { checkCompiles(ElementType::BF16, 32); }
TEST_CASE("NVRTC compiles generated i32 kernels without a warning") { checkCompiles(ElementType::I32, 32); }
TEST_CASE("NVRTC compiles generated i64 kernels without a warning") { checkCompiles(ElementType::I64, 32); }
TEST_CASE("NVRTC compiles generated u8 kernels without a warning") { checkCompiles(ElementType::U8, 32); }
TEST_CASE("NVRTC compiles generated bool kernels without a warning") { checkCompiles(ElementType::Bool, 32); }
TEST_CASE("NVRTC compiles all generated kernels of every type without a warning", "[heavy]") {
  for (const ElementType element : allElementTypes) {
    checkCompiles(element, element == ElementType::F32 ? 1 : 4);
  }
}
