// Sleeping and waking on progress words, and the board's failure.
#include "runtime/progress.h"

#include "runtime/available_processors.h"
#include "runtime/cpu_pause.h"
#include "runtime/host_pages.h"

#include <algorithm>
#include <thread>

namespace dfc {
namespace {

ProgressWord* makeWords(size_t count) {
  std::byte* pages = allocatePages(static_cast<int64_t>(count * sizeof(ProgressWord)));
  if (pages == nullptr) {
    throw std::bad_alloc();
  }
  auto* words = reinterpret_cast<ProgressWord*>(pages);
  std::uninitialized_default_construct_n(words, count);
  return words;
}

constexpr uint32_t looksBetweenClocks = 16;

// A device cannot wake a waiting thread, and a nap ends late: where cores are to spare, waiting threads
// look for as long as most steps take.
uint32_t deviceSpins(uint32_t spins) {
  constexpr uint32_t manyCores = 8, someMilliseconds = 100'000;
  static const bool toSpare = availableProcessors() >= manyCores;
  return toSpare ? std::max(spins, someMilliseconds) : spins;
}

Deadline nextLook() { return std::chrono::steady_clock::now() + std::chrono::microseconds(50); }

} // namespace

bool ProgressWord::wait(uint64_t target, const std::atomic<bool>& stop, uint32_t spins,
                        std::optional<Deadline> deadline) const {
  const uint32_t looks = writtenByDevice_ ? deviceSpins(spins) : spins;
  for (uint32_t i = 0; i < looks; ++i) {
    if (ended() >= target) {
      return true;
    }
    if (stop.load(std::memory_order_relaxed)) {
      return false;
    }
    if (deadline && i % looksBetweenClocks == 0 && std::chrono::steady_clock::now() >= *deadline) {
      return ended() >= target;
    }
    pauseCpu();
  }
  if (!writtenByDevice_) {
    return sleep(target, stop, deadline);
  }
  const Deadline forever = Deadline::max();
  while (!sleep(target, stop, std::min(deadline.value_or(forever), nextLook()))) {
    if (stop.load(std::memory_order_relaxed) ||
        std::chrono::steady_clock::now() >= deadline.value_or(forever)) {
      return ended() >= target;
    }
  }
  return true;
}

bool ProgressWord::sleep(uint64_t target, const std::atomic<bool>& stop,
                         std::optional<Deadline> deadline) const {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  bool reached = false;
  {
    std::unique_lock lock(mutex_);
    const auto over = [&] {
      reached = ended_.load(std::memory_order_seq_cst) >= target;
      return reached || stop.load(std::memory_order_seq_cst);
    };
    if (deadline) {
      woken_.wait_until(lock, *deadline, over);
    } else {
      woken_.wait(lock, over);
    }
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return reached;
}

void ProgressWord::ring() const {
  { const std::lock_guard lock(mutex_); } // a sleeper that looked before we wrote is in its wait by now
  woken_.notify_all();
}

ProgressBoard::ProgressBoard(size_t words, uint32_t spins)
    : words_(makeWords(words), {words}), size_(words), spins_(spins) {}

void ProgressBoard::Delete::operator()(ProgressWord* words) const {
  std::destroy_n(words, count);
  freePages(words);
}

void ProgressBoard::fail(uint64_t step, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_ || step < failure_->step) {
      failure_ = Failure{step, std::move(error)};
    }
  }
  failed_.store(true, std::memory_order_seq_cst);
  for (size_t i = 0; i < size_; ++i) {
    words_[i].ring();
  }
}

std::optional<Failure> ProgressBoard::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void ProgressBoard::clearFailure() {
  const std::lock_guard lock(mutex_);
  failure_.reset();
  failed_.store(false, std::memory_order_seq_cst);
}

} // namespace dfc
