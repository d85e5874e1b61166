// Ranges for profilers: what host queues and sessions mark, and that NVTX gets it. No profiler and no GPU is
// needed: NVTX takes the injection that this executable defines for the profiler's.
#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_NO_IMPL // it is in nvtx_marks.cpp
#include <nvtx3/nvToolsExt.h>
#define DFC_TEST_NVTX
#endif

#include "runtime/backend.h"
#include "runtime/cuda/nvtx_marks.h"
#include "tests/runtime/session_support.h"

#include <map>
#include <mutex>
#include <set>
#include <thread>

using namespace dfc;
using namespace dfc::test;

namespace {

/// Remembers what was opened, by thread, and that each is closed again.
class RecordingMarks final : public Marks {
 public:
  Name name(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    return const_cast<std::string*>(&*names_.insert(text).first);
  }
  void begin(Name name, uint64_t round) override {
    const std::lock_guard lock(mutex_);
    open_[std::this_thread::get_id()].push_back(*static_cast<std::string*>(name));
    seen_.emplace_back(*static_cast<std::string*>(name), round);
  }
  void end() override {
    const std::lock_guard lock(mutex_);
    REQUIRE_FALSE(open_[std::this_thread::get_id()].empty());
    open_[std::this_thread::get_id()].pop_back();
  }

  size_t count(const std::string& name, uint64_t round) const {
    return static_cast<size_t>(std::count(seen_.begin(), seen_.end(), std::pair(name, round)));
  }
  size_t count() const { return seen_.size(); }
  bool allClosed() const {
    return std::all_of(open_.begin(), open_.end(), [](const auto& thread) { return thread.second.empty(); });
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
  std::map<std::thread::id, std::vector<std::string>> open_;
  std::vector<std::pair<std::string, uint64_t>> seen_;
};

Graph scoped() {
  Builder g("scoped");
  const Tensor x = g.input("x", f32({3}));
  Tensor h;
  {
    auto scope = g.scope("fc1 forward");
    h = (x * x).on("gpu0").named("h");
  }
  g.fetch("y", (h + x).on("cpu0").named("sum"));
  return finished(std::move(g));
}

} // namespace

TEST_CASE("marks: host queues mark each op that works, by scope and name, in every step") {
  RecordingMarks marks;
  for (const bool traced : {false, true}) {
    SessionOptions options;
    options.gpuBackend = "emulated";
    options.trace = traced;
    options.backendOptions.marks = &marks;
    const auto session = opened(tinyPlan(scoped(), smallMachine(1)), options);
    for (int step = 0; step < 2; ++step) {
      REQUIRE(session->run({{"x", filledLiteral(f32({3}), 2)}}).ok());
    }
  }
  for (const uint64_t step : {0, 1}) {
    CHECK(marks.count("fc1 forward: h", step) == 2); // with and without a trace
    CHECK(marks.count("sum", step) == 2);
  }
  CHECK(marks.allClosed());
}

TEST_CASE("marks: an op is called by its scope and its name") {
  const Graph graph = scoped();
  CHECK(markText(graph, graph[graph.findValue("h")].producer) == "fc1 forward: h");
  CHECK(markText(graph, graph[graph.findValue("sum")].producer) == "sum");
}

TEST_CASE("marks: an op that fails closes its range") {
  RecordingMarks marks;
  {
    const Mark outer(&marks, marks.name("outer"), 0);
    try {
      const Mark inner(&marks, marks.name("inner"), 0);
      throw MachineError("no");
    } catch (const MachineError&) {
    }
  }
  CHECK(marks.count() == 2);
  CHECK(marks.allClosed());
  const Mark none(nullptr, nullptr, 0); // nothing happens
}

#ifdef DFC_TEST_NVTX

namespace {

/// What a profiler would have got.
struct Profile {
  std::vector<std::string> domains, streams;
  std::vector<std::string> strings; ///< registered; a handle is the index and one
  std::vector<std::pair<std::string, uint64_t>> pushed;
  int open = 0;
};
Profile profile;

nvtxDomainHandle_t domainCreate(const char* name) {
  profile.domains.emplace_back(name);
  return reinterpret_cast<nvtxDomainHandle_t>(profile.domains.size());
}
nvtxStringHandle_t registerString(nvtxDomainHandle_t /*domain*/, const char* text) {
  profile.strings.emplace_back(text);
  return reinterpret_cast<nvtxStringHandle_t>(profile.strings.size());
}
int rangePush(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* attributes) {
  const bool asWritten = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED &&
                         attributes->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  profile.pushed.emplace_back(
      asWritten ? profile.strings[reinterpret_cast<size_t>(attributes->message.registered) - 1] : "?",
      attributes->payload.ullValue);
  return profile.open++;
}
int rangePop(nvtxDomainHandle_t /*domain*/) { return --profile.open; }

template <class Function>
void attach(NvtxFunctionTable table, unsigned int size, unsigned int id, Function* function) {
  if (id < size) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

int initialise(NvtxGetExportTableFunc_t getTable) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(getTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  attach(table, size, NVTX_CBID_CORE2_DomainCreateA, domainCreate);
  attach(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, registerString);
  attach(table, size, NVTX_CBID_CORE2_DomainRangePushEx, rangePush);
  attach(table, size, NVTX_CBID_CORE2_DomainRangePop, rangePop);
  return 1;
}

} // namespace

// The symbol that NVTX looks for where a tool is linked in.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr;
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = initialise;
}
// NOLINTEND(readability-identifier-naming)

TEST_CASE("marks: NVTX gets ranges of the domain dfc, with the op as a registered string and the round") {
  Marks* marks = cuda::nvtxMarks();
  REQUIRE(marks != nullptr);
  CHECK(marks == cuda::nvtxMarks());
  CHECK(profile.domains == std::vector<std::string>{"dfc"});
  const Marks::Name launch = marks->name("launch a step"), op = marks->name("fc1 forward: h");
  {
    const Mark outer(marks, launch, 7);
    const Mark inner(marks, op, 7);
    CHECK(profile.open == 2);
  }
  CHECK(profile.open == 0);
  CHECK(profile.pushed ==
        std::vector<std::pair<std::string, uint64_t>>{{"launch a step", 7}, {"fc1 forward: h", 7}});
}

#endif
