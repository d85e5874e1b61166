// A backend for tests that plays gpus, or another kind: its kernels compute nothing, but an op may be given a
// script, which runs in its place and may block, fail or look around. The queues are the runtime's own.
#pragma once

#include "runtime/worker_group.h"

#include <atomic>
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
  DeviceKind kind = DeviceKind::Gpu;
  std::string unprepared;         ///< the op whose preparation fails
  std::atomic<int> openQueues{0}; ///< loaded, and not gone yet

  std::string_view name() const override { return "scripted"; }
  bool supports(DeviceKind wanted) const override { return wanted == kind; }
  std::string unavailable() const override { return available ? "" : "nobody plays today"; }
  bool hasKernel(const Graph& graph, OpId op) const override { return graph[op].kind() != OpKind::Tanh; }
  std::unique_ptr<DeviceGroup> open(llvm::ArrayRef<DeviceRequest> /*devices*/,
                                    const BackendOptions& /*options*/) override {
    return std::make_unique<WorkerGroup>(
        WorkerDevices{[](size_t /*device*/, int64_t /*bytes*/) { return std::make_unique<NoArena>(); },
                      [this](size_t /*device*/) { return std::make_unique<ScriptedWork>(*this); }});
  }

 private:
  class ScriptedWork final : public WorkMaker {
   public:
    explicit ScriptedWork(ScriptedBackend& backend) : backend_(backend) { ++backend_.openQueues; }
    ScriptedWork(const ScriptedWork&) = delete;
    ScriptedWork& operator=(const ScriptedWork&) = delete;
    ~ScriptedWork() override { --backend_.openQueues; }
    PreparedCall prepare(const Executable& plan, const Command& command) override {
      const std::string op(plan.graph().nameOf(command.op));
      if (op == backend_.unprepared) {
        throw MachineError("no kernel for " + op);
      }
      const auto found = backend_.scripts.find(op);
      if (found == backend_.scripts.end()) {
        return {};
      }
      return {[](void* script) { (*static_cast<Script*>(script))(); }, &found->second};
    }
    void bind(const Step& /*round*/) override {}

   private:
    ScriptedBackend& backend_;
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
