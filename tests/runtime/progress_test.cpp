// Progress words and boards: waiting, waking, deadlines and failures.
#include "runtime/progress.h"
#include "tests/support/catch.h"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace dfc;

namespace {

const std::atomic<bool> never{false};

Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::milliseconds(5); }

std::string messageOf(const Failure& failure) {
  try {
    std::rethrow_exception(failure.error);
  } catch (const std::exception& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("progress: targets count commands over rounds") {
  const WaitFor sameRound{nullptr, 10, 4}, roundBefore{nullptr, 10, 0};
  CHECK(sameRound.target(3) == 34);   // 3 rounds of 10 commands, and 4 of this one
  CHECK(roundBefore.target(3) == 30); // 3 whole rounds
}

TEST_CASE("progress: sleepers on either kind of word are woken by what they wait for") {
  for (const bool byDevice : {false, true}) {
    ProgressWord word;
    std::atomic<uint64_t>* counter = byDevice ? &word.handToDevice() : nullptr;
    std::vector<std::thread> sleepers;
    std::atomic<int> woken{0};
    for (uint64_t target = 1; target <= 4; ++target) {
      sleepers.emplace_back([&, target] { woken += word.wait(target, never, 0) ? 1 : 0; });
    }
    for (uint64_t ended = 1; ended <= 4; ++ended) {
      byDevice ? counter->store(ended, std::memory_order_release) : word.publish(ended);
    }
    for (std::thread& sleeper : sleepers) {
      sleeper.join();
    }
    CHECK(woken == 4);
  }
}

TEST_CASE("progress: a deadline and a stop end the wait without the target") {
  for (const bool byDevice : {false, true}) {
    ProgressWord word;
    if (byDevice) {
      word.handToDevice();
    }
    CHECK_FALSE(word.wait(1, never, 10, soon()));
    std::atomic<bool> stop{false};
    std::thread sleeper([&] { CHECK_FALSE(word.wait(1, stop, 0)); });
    stop = true;
    word.ring();
    sleeper.join();
  }
}

TEST_CASE("progress: two threads hand each other a hundred thousand turns") {
  ProgressBoard board(2, 100);
  int turns = 0, missed = 0; // touched by one thread at a time, as the words say
  const auto play = [&](size_t self, size_t other, uint64_t ahead) {
    for (uint64_t turn = 1; turn <= 50000; ++turn) {
      missed += board.await({&board[other], 0, turn - ahead}, 0) ? 0 : 1;
      ++turns;
      board[self].publish(turn);
    }
  };
  std::thread second([&] { play(1, 0, 0); }); // its turn n comes after turn n of the first
  play(0, 1, 1);                              // whose turn n comes after turn n - 1 of the second
  second.join();
  CHECK(turns == 100000);
  CHECK(missed == 0);
}

TEST_CASE("progress: the failure of the earliest round is kept, and everybody is let go") {
  ProgressBoard board(2, 0);
  std::thread sleeper([&] { CHECK_FALSE(board.await({&board[0], 1, 1}, 0)); });
  board.fail(7, std::make_exception_ptr(std::runtime_error("seventh")));
  board.fail(5, std::make_exception_ptr(std::runtime_error("fifth")));
  board.fail(6, std::make_exception_ptr(std::runtime_error("sixth")));
  sleeper.join();
  REQUIRE(board.failure().has_value());
  CHECK(board.failure()->step == 5);
  CHECK(messageOf(*board.failure()) == "fifth");
  board.clearFailure();
  CHECK_FALSE(board.failed());
  CHECK_FALSE(board.failure().has_value());
}

TEST_CASE("progress: of two failures of one step the first is kept") {
  ProgressBoard board(2, 0);
  board.fail(5, std::make_exception_ptr(std::runtime_error("the cause")));
  board.fail(5, std::make_exception_ptr(std::runtime_error("what it led to")));
  REQUIRE(board.failure().has_value());
  CHECK(messageOf(*board.failure()) == "the cause");
}
