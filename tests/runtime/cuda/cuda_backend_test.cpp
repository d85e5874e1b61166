// The cuda backend's failures: what it says where there is no GPU, and on a host with one, where the plan,
// the kernel cache or the time limit is at fault; and that the next run is good. What it computes is the
// conformance suite's business.
#include "tests/runtime/session_support.h"

#include "runtime/backend.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace dfc;
using namespace dfc::test;
namespace fs = std::filesystem;

namespace {

Backend& namedCuda() { return *backendNamed("cuda"); }
bool hasGpu() { return namedCuda().unavailable().empty(); }

Graph doubledOn(const std::string& device, int64_t count = 3) {
  Builder g("doubled");
  const Tensor x = g.input("x", f32({count}));
  g.fetch("y", (x + x).on(device));
  return finished(std::move(g));
}

/// What the machine's failure says while `action` runs; "" where it does not fail.
template <class Action>
std::string failureOf(const Action& action) {
  try {
    action();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void checkDoubles(const SessionOptions& options, int64_t count = 3) {
  const auto session = opened(tinyPlan(doubledOn("gpu0", count), smallMachine(1)), options);
  const auto results = session->run({{"x", filledLiteral(f32({count}), 1.5)}});
  REQUIRE(results.ok());
  CHECK(valuesOf(results->at("y")) == Floats(static_cast<size_t>(count), 3));
}

} // namespace

TEST_CASE("cuda: without a GPU it says why, another backend plays, and by name it is an error") {
  if (hasGpu()) {
    DFC_SKIP("this host has a GPU");
  }
  CHECK_FALSE(namedCuda().unavailable().empty());
  checkDoubles({});
  const auto plan = tinyPlan(doubledOn("gpu0"), smallMachine(1));
  const std::string failure = failureOf([&] { (void)Session::open(plan, {.gpuBackend = "cuda"}); });
  CHECK(contains(failure, "gpu0"));
  CHECK(contains(failure, namedCuda().unavailable()));
  Machine host = smallMachine(0);
  namedCuda().describeHost(host, /*measure=*/false);
  CHECK(host.devices.size() == 1);
}

TEST_CASE("cuda: a plan for more GPUs than there are names the cure, and the next session is good") {
  if (!hasGpu()) {
    DFC_SKIP(namedCuda().unavailable());
  }
  CHECK(contains(namedCuda().libraries(), ", cuBLASLt "));
  const Machine machine = smallMachine(64);
  const auto plan = tinyPlan(doubledOn("gpu63"), machine);
  const std::string failure = failureOf([&] { (void)Session::open(plan, {.gpuBackend = "cuda"}); });
  CHECK(contains(failure, "gpu63"));
  CHECK(contains(failure, "dfc machine"));
  checkDoubles({.gpuBackend = "cuda"});
}

TEST_CASE("cuda: more memory than there is names the device, and the next session is good") {
  if (!hasGpu()) {
    DFC_SKIP(namedCuda().unavailable());
  }
  const Machine machine = smallMachine(1);
  const auto group = namedCuda().open({DeviceRequest{machine.devices[DeviceId(1)], 0}}, {});
  const std::string failure = failureOf([&] { (void)group->allocate(0, int64_t{1} << 50); });
  CHECK(contains(failure, "gpu0"));
  CHECK(contains(failure, "out of memory"));
  checkDoubles({.gpuBackend = "cuda"});
}

TEST_CASE("cuda: a kernel cache that cannot be made is named; a good one is filled") {
  if (!hasGpu()) {
    DFC_SKIP(namedCuda().unavailable());
  }
  const TemporaryFolder place;
  const fs::path folder = place.path() / "kernels";
  SessionOptions options{.gpuBackend = "cuda"};
  std::ofstream(folder) << "a file where the folder should be";
  options.backendOptions.kernelCache = folder.string();
  CHECK(contains(failureOf([&] { checkDoubles(options); }), folder.string()));
  fs::remove_all(folder);
  checkDoubles(options, 77); // a kernel that the process has not loaded yet
  for (const auto& entry : fs::directory_iterator(folder)) {
    CHECK(entry.path().extension() == ".cubin");
  }
  CHECK_FALSE(fs::is_empty(folder));
}

TEST_CASE("cuda: a step over its time limit is given up, and the next one is good") {
  if (!hasGpu()) {
    DFC_SKIP(namedCuda().unavailable());
  }
  Builder g("long");
  const Tensor x = g.input("x", f32({2048, 2048}));
  Tensor y = x;
  for (int i = 0; i < 40; ++i) {
    y = matmul(y, x).on("gpu0");
  }
  g.fetch("y", reduceMax(y).on("gpu0"));
  const auto plan = tinyPlan(finished(std::move(g)), smallMachine(1));
  const NamedLiterals feeds{{"x", filledLiteral(f32({2048, 2048}), 1.0 / 2048)}};
  const auto hurried = opened(plan, {.gpuBackend = "cuda", .timeoutSeconds = 1e-6});
  CHECK(contains(failureOf([&] { (void)hurried->run(feeds); }), "limit"));
  const auto session = opened(plan, {.gpuBackend = "cuda"});
  const auto results = session->run(feeds);
  REQUIRE(results.ok());
  CHECK(std::fabs(valuesOf(results->at("y"))[0] - 1.0 / 2048) < 1e-6);
}
