// A plan's GPU queues without a GPU: the launches of the cuda backend, executed in its order with host memory
// as arenas, generated kernels run by EmulatedKernels, and cuBLASLt's products by a plain loop. Transfers,
// copies and ops of the host are executed in the same order.
#pragma once

#include "ir/plan/executable_parts.h"
#include "tests/conformance/emulated_kernels.h"
#include "tests/conformance/programs_on_paper.h"
#include "tests/support/random_values.h"

#include <map>

namespace dfc::test {

class QueueOnPaper {
 public:
  /// The plan lowered again with these options. Convolutions by a library are left to their spare launches.
  QueueOnPaper(const std::shared_ptr<const Executable>& plan, bool merge, bool peerReads = false);

  const Executable& plan() const { return *plan_; }
  /// Of the GPU queue with the most launches.
  llvm::ArrayRef<LaunchRow> launches() const;
  /// A launch a line: "a, b: 12 blocks of 256", "c: cuBLASLt". Copies are not listed.
  std::string listing() const;
  size_t peerReads() const { return plan_->launches().peers.reads.size(); }

  /// Adds the kernels; build them before `run`.
  void addTo(EmulatedKernels& kernels);
  /// One step from values of this seed; gives the bytes of all arenas after it, and any error in `problem`.
  std::vector<std::byte> run(EmulatedKernels& kernels, uint64_t seed, std::string& problem);
  /// The values that a caller can see after `run`: parameters and fetched values.
  std::vector<std::byte> lasting() const;

 private:
  struct Queue {
    std::vector<LaunchRow> launches;
    std::vector<size_t> kernels;      ///< by launch; meaningless for products
    std::vector<std::byte> workspace; ///< one for all its launches, as on a GPU
  };
  void runLaunch(EmulatedKernels& kernels, Queue& queue, size_t launch, std::string& problem);
  std::byte* addressOf(const LaunchPointer& pointer, Queue& queue);
  void fill(uint64_t seed);
  void runOnHost(const Command& command);
  void runCommand(EmulatedKernels& kernels, Queue* queue, const Program& program, size_t position,
                  std::string& problem);
  std::byte* addressOf(const Location& location);

  ProgramsOnPaper paper_;
  std::shared_ptr<const Executable> plan_; ///< as lowered again
  std::map<size_t, Queue> queues_;         ///< compute queues of GPUs, by their number
  std::vector<Literal> feeds_, fetches_;
};

} // namespace dfc::test
