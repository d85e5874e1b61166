#include "runtime/worker_group.h"

namespace dfc {

void WorkerGroup::load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) {
  DFC_ASSERT(queues_.empty(), "a group is loaded once");
  for (const Program& program : programs) {
    queues_.push_back(
        std::make_unique<WorkerQueue>(plan, program, board, devices_.makeWork(program.device), options_));
  }
}

void WorkerGroup::launch(const Step& step) {
  for (const auto& queue : queues_) {
    queue->launch(step);
  }
}

OpId WorkerGroup::current(QueueId queue) const {
  for (const auto& own : queues_) {
    if (own->id() == queue) {
      return own->current();
    }
  }
  return {};
}

std::vector<Span> WorkerGroup::takeSpans() {
  std::vector<Span> spans;
  for (const auto& queue : queues_) {
    const std::vector<Span> more = queue->takeSpans();
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return spans;
}

} // namespace dfc
