// A plan's programs as the cuda backend prepares them, without a GPU: host memory as arenas, and peer reads
// in place of copies where the backend would choose them with peer access between all GPUs.
#pragma once

#include "ir/plan/executable_parts.h"
#include "runtime/resolve.h"

#include <memory>

namespace dfc::test {

/// Host memory in place of a device's.
class HeapArena final : public Arena {
 public:
  explicit HeapArena(int64_t bytes);
  std::byte* hostAddress() override { return base_.get(); }
  void write(int64_t offset, std::span<const std::byte> bytes) override;
  void read(int64_t offset, std::span<std::byte> bytes) override;
  int64_t size() const { return bytes_; }

 private:
  int64_t bytes_;
  std::shared_ptr<std::byte> base_;
};

/// With and without the plan's peer reads; the commands of both point to `board` and `arenas`.
struct ProgramsOnPaper {
  explicit ProgramsOnPaper(std::shared_ptr<const Executable> lowered);

  std::shared_ptr<const Executable> plan;
  ProgressBoard board;
  std::vector<std::unique_ptr<HeapArena>> arenas; ///< by device
  ResolvedPlan planned;                           ///< every transfer a copy
  std::vector<Program> programs;                  ///< `planned.programs` with the plan's peer reads
  std::vector<StepId> order;                      ///< every step, in an order of the waits with peer reads
};

} // namespace dfc::test
