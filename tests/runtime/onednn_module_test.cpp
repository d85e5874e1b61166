// The oneDNN module itself: that kernels find there what they are said to take from it, and null, not an
// exception, where it has nothing.
#include "runtime/cpu/onednn_library.h"
#include "tests/support/catch.h"

#include <cstdlib>

namespace dfc::testing {
namespace {

// Whether oneDNN may use AVX-512 here.
bool hasAvx512() {
  const bool held =
      std::getenv("DNNL_MAX_CPU_ISA") != nullptr || std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr;
  return !held && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

onednn::PoolRequest poolOf(onednn::PoolRequest::Kind kind, onednn::PoolRequest::Pass pass, int64_t planes) {
  return {kind, pass, planes, {12, 13}, {6, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}};
}

} // namespace

TEST_CASE("oneDNN has what kernels are said to take from it") {
  onednn::Module& module = onednnModule();
  CHECK(module.make(onednn::MatmulRequest{ElementType::F32, 4, 5, 6, 6, 5, 5, false, false}, 1) != nullptr);
  CHECK(module.make(onednn::SoftmaxRequest{16, 100}, 1) != nullptr);
  CHECK(module.make(onednn::LayerNormRequest{16, 100, 1e-5F, true}, 1) != nullptr);
  for (const int64_t width : {1, 2}) {
    const bool known = width != 2 || hasAvx512(); // which bf16 wants
    CHECK((module.make(onednn::TransposeRequest{width, 64, 128, 64, 128}, 1) != nullptr || !known));
  }
  using Request = onednn::PoolRequest;
  for (const auto kind : {Request::Kind::Largest, Request::Kind::Mean, Request::Kind::MeanWithPadding}) {
    for (const auto pass : {Request::Pass::Forward, Request::Pass::Gradient}) {
      CHECK((module.make(poolOf(kind, pass, 16), 1) != nullptr || !hasAvx512()));
    }
  }
}

TEST_CASE("the oneDNN module gives null for what oneDNN refuses") {
  onednn::Module& module = onednnModule();
  using Request = onednn::PoolRequest;
  Request refused = poolOf(Request::Kind::Largest, Request::Pass::Forward, 16);
  refused.result = {5, 100}; // no such windows
  CHECK(module.make(refused, 1) == nullptr);
  refused.pass = Request::Pass::Gradient;
  CHECK(module.make(refused, 1) == nullptr);
  CHECK(module.make(onednn::SoftmaxRequest{16, -1}, 1) == nullptr);
  CHECK(module.make(onednn::LayerNormRequest{-1, 100, 1e-5F, false}, 1) == nullptr);
  CHECK(module.make(onednn::MatmulRequest{ElementType::F32, 4, -5, 6, 6, 5, 5, false, false}, 1) == nullptr);
}

} // namespace dfc::testing
