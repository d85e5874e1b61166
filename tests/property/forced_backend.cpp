// A backend that forwards all calls to another one, except for the program and the contents of fresh memory.
#include "tests/property/forced_backend.h"

namespace dfc::test {
namespace {

class ForcedQueue final : public Queue {
 public:
  ForcedQueue(std::unique_ptr<Queue> inner, const ForcedOrder& order)
      : inner_(std::move(inner)), order_(order) {}
  void load(const Executable& plan, Program program, ProgressBoard& board) override {
    order_.apply(program, board);
    inner_->load(plan, std::move(program), board);
  }
  void launch(const Step& step) override { inner_->launch(step); }
  OpId current() const override { return inner_->current(); }
  std::vector<Span> takeSpans() override { return inner_->takeSpans(); }

 private:
  std::unique_ptr<Queue> inner_;
  const ForcedOrder& order_;
};

class ForcedDevice final : public Device {
 public:
  ForcedDevice(std::unique_ptr<Device> inner, const ForcedOrder& order)
      : inner_(std::move(inner)), order_(order) {}
  std::unique_ptr<Arena> allocate(int64_t bytes) override {
    std::unique_ptr<Arena> arena = inner_->allocate(bytes);
    arena->write(0, std::vector<std::byte>(static_cast<size_t>(bytes), std::byte{0xFF}));
    return arena;
  }
  std::unique_ptr<Queue> openQueue(QueueKind kind, uint32_t index) override {
    return std::make_unique<ForcedQueue>(inner_->openQueue(kind, index), order_);
  }

 private:
  std::unique_ptr<Device> inner_;
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

std::vector<std::unique_ptr<Device>> ForcedBackend::open(llvm::ArrayRef<DeviceRequest> devices,
                                                         const BackendOptions& options) {
  std::vector<std::unique_ptr<Device>> opened;
  for (std::unique_ptr<Device>& device : inner_.open(devices, options)) {
    opened.push_back(std::make_unique<ForcedDevice>(std::move(device), order_));
  }
  return opened;
}

} // namespace dfc::test
