// A backend that forwards all calls to another one, except for the programs and the contents of fresh memory.
#include "tests/property/forced_backend.h"

namespace dfc::test {
namespace {

class ForcedGroup final : public DeviceGroup {
 public:
  ForcedGroup(std::unique_ptr<DeviceGroup> inner, const ForcedOrder& order)
      : inner_(std::move(inner)), order_(order) {}
  std::unique_ptr<Arena> allocate(size_t device, int64_t bytes) override {
    std::unique_ptr<Arena> arena = inner_->allocate(device, bytes);
    arena->write(0, std::vector<std::byte>(static_cast<size_t>(bytes), std::byte{0xFF}));
    return arena;
  }
  void load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) override {
    for (Program& program : programs) {
      order_.apply(program, board);
    }
    inner_->load(plan, std::move(programs), board);
  }
  void launch(const Step& step) override { inner_->launch(step); }
  OpId current(QueueId queue) const override { return inner_->current(queue); }
  std::vector<Span> takeSpans() override { return inner_->takeSpans(); }

 private:
  std::unique_ptr<DeviceGroup> inner_;
  const ForcedOrder& order_;
};

} // namespace

ForcedOrder::ForcedOrder(const CommandOrder& commands, const Sequence& sequence) {
  for (size_t i = 1; i < sequence.size(); ++i) {
    const CommandOrder::Row& row = commands.rows()[sequence[i]];
    const CommandOrder::Row& before = commands.rows()[sequence[i - 1]];
    before_[{row.queue, row.position}] = {before.queue, before.position, before.perRound};
  }
}

void ForcedOrder::apply(Program& program, ProgressBoard& board) const {
  for (size_t i = 0; i < program.commands.size(); ++i) {
    Command& command = program.commands[i];
    command.publishes = true;
    const auto found = before_.find({program.queue, i});
    if (found != before_.end() && found->second.queue != program.queue) {
      const Before& before = found->second;
      command.waits.push_back({&board[before.queue.index()], before.perRound, before.position + 1});
    }
  }
}

std::unique_ptr<DeviceGroup> ForcedBackend::open(llvm::ArrayRef<DeviceRequest> devices,
                                                 const BackendOptions& options) {
  return std::make_unique<ForcedGroup>(inner_.open(devices, options), order_);
}

} // namespace dfc::test
