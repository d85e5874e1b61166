// A plan's GPU queues without a GPU: the launches of the cuda backend, executed in its order with host memory
// as arenas, generated kernels run by EmulatedKernels, and cuBLASLt's products by a plain loop. Transfers,
// copies and ops of the host are executed in the same order.
#pragma once

#include "ir/plan/executable_parts.h"
#include "runtime/cuda/launches/launch_plan.h"
#include "tests/conformance/emulated_kernels.h"
#include "tests/conformance/programs_on_paper.h"
#include "tests/support/random_values.h"

#include <map>

namespace dfc::test {

class QueueOnPaper {
 public:
  /// `peerReads`: GPUs read each other's memory where the backend would choose that.
  QueueOnPaper(std::shared_ptr<const Executable> plan, bool merge, bool peerReads = false);

  const Executable& plan() const { return *plan_; }
  /// Of the GPU queue with the most launches.
  const cuda::LaunchPlan& launches() const;
  /// A launch a line: "a, b: 12 blocks of 256", "c: cuBLASLt". Copies are not listed.
  std::string listing() const;
  size_t peerReads() const { return paper_.lowered.reads.size(); }

  /// Adds the kernels; build them before `run`.
  void addTo(EmulatedKernels& kernels);
  /// One step from values of this seed; gives the bytes of all arenas after it, and any error in `problem`.
  std::vector<std::byte> run(EmulatedKernels& kernels, uint64_t seed, std::string& problem);
  /// The values that a caller can see after `run`: parameters and fetched values.
  std::vector<std::byte> lasting() const;

 private:
  struct Queue {
    Program program;
    std::vector<cuda::Computation> computations;
    cuda::LaunchPlan launches;
    std::vector<size_t> kernels;      ///< by launch; meaningless for products
    std::vector<std::byte> workspace; ///< one for all its launches, as on a GPU
  };
  void addQueue(const Program& program, bool merge);
  void fill(uint64_t seed);
  void runOnHost(const Command& command);
  void runCommand(EmulatedKernels& kernels, Queue* queue, const Program& program, size_t position,
                  std::string& problem);
  std::byte* addressOf(const Location& location);

  std::shared_ptr<const Executable> plan_;
  ProgramsOnPaper paper_;
  std::map<size_t, Queue> queues_; ///< GPU compute queues, by program
  std::vector<Literal> feeds_, fetches_;
};

} // namespace dfc::test
