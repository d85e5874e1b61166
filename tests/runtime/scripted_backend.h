// A backend for tests that plays gpus: its kernels compute nothing, but an op may be given a script, which
// runs in its place and may block, fail or look around. The queues are the runtime's own.
#pragma once

#include "runtime/worker_group.h"

#include <functional>
#include <future>
#include <map>

namespace dfc::test {

class ScriptedBackend final : public Backend {
 public:
  using Script = std::function<void()>;
  /// By op name.
  std::map<std::string, Script> scripts;
  bool available = true;

  std::string_view name() const override { return "scripted"; }
  bool supports(DeviceKind kind) const override { return kind == DeviceKind::Gpu; }
  std::string unavailable() const override { return available ? "" : "nobody plays today"; }
  bool hasKernel(const Graph& graph, OpId op) const override { return graph[op].kind() != OpKind::Tanh; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> /*devices*/,
                                    const BackendOptions& /*options*/) override {
    return std::make_unique<WorkerGroup>(
        WorkerDevices{[](size_t /*device*/, int64_t /*bytes*/) { return std::make_unique<NoArena>(); },
                      [this](size_t /*device*/) { return std::make_unique<ScriptedWork>(scripts); }});
  }

 private:
  class ScriptedWork final : public WorkMaker {
   public:
    explicit ScriptedWork(const std::map<std::string, Script>& scripts) : scripts_(scripts) {}
    PreparedCall prepare(const Executable& plan, const Command& command) override {
      const auto found = scripts_.find(std::string(plan.graph().nameOf(command.op)));
      if (found == scripts_.end()) {
        return {};
      }
      return {[](void* script) { (*static_cast<Script*>(script))(); }, const_cast<Script*>(&found->second)};
    }
    void bind(const Step& /*round*/) override {}

   private:
    const std::map<std::string, Script>& scripts_;
  };
  class NoArena final : public Arena {
   public:
    std::byte* hostAddress() override { return nullptr; }
    void write(int64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
    void read(int64_t /*offset*/, std::span<std::byte> bytes) override {
      std::fill(bytes.begin(), bytes.end(), std::byte{0});
    }
  };
};

} // namespace dfc::test
