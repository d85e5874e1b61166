// Lesson 10: serving. Many clients ask for one row each; servers form batches on the fly and run one plan of
// a fixed batch by one session, which all threads share. A batch starts when it is full, or when its oldest
// request has waited long enough; a request whose deadline has passed is turned away instead of computed. The
// lesson checks that every answer is the one that the row gets alone, and prints latencies and throughput.
//
//     sample_10_serve [--clients N] [--requests N] [--patience MICROSECONDS]
#include "ir/author/dsl.h"
#include "runtime/session.h"
#include "samples/data/arguments.h"
#include "samples/data/lesson.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

using namespace dfc;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t batch = 16, width = 64, classes = 10, distinctRows = 32;

struct Options {
  int64_t clients = 8, requests = 300, patience = 200;
};

/// The class of each row of a batch.
Graph classifier() {
  Builder g("classifier");
  const Tensor x = g.input("x", f32({batch, width}));
  const Tensor hidden = relu(matmul(x, g.parameter("w1", f32({width, 256}), glorot(1))));
  g.fetch("class", argMax(matmul(hidden, g.parameter("w2", f32({256, classes}), glorot(2)))));
  return lesson::orGiveUp(std::move(g).finish());
}

/// Row `number` of those that clients ask about.
std::vector<float> rowOf(int64_t number) {
  std::vector<float> row;
  for (int64_t i = 0; i < width; ++i) {
    row.push_back(static_cast<float>((number * 37 + i * i * 11) % 19 - 9) / 9);
  }
  return row;
}

struct Request {
  int64_t row = 0;
  Clock::time_point arrived, deadline;
  std::promise<std::optional<int64_t>> answer; ///< none: turned away
};

/// The class of each of the rows, by one step.
std::vector<int64_t> classesOf(Session& session, const std::vector<int64_t>& rows) {
  std::vector<float> values(static_cast<size_t>(batch * width)); // places without a row are zeros
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<float> row = rowOf(rows[i]);
    std::copy(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  const Literal x(Shape{batch, width}, std::span<const float>(values));
  const Literal found = lesson::orGiveUp(session.run({{"x", x}})).at("class");
  const auto all = found.data<int64_t>();
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rows.size())};
}

/// Requests as they come, taken away in batches by any number of threads.
class Server {
 public:
  Server(Session& session, std::chrono::microseconds patience) : session_(session), patience_(patience) {}

  std::future<std::optional<int64_t>> ask(int64_t row, Clock::time_point deadline) {
    Request request{row, Clock::now(), deadline, {}};
    auto answer = request.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(request));
    }
    changed_.notify_all();
    return answer;
  }

  /// Answers until `close`, on the caller's thread.
  void serve() {
    for (std::vector<Request> requests = next(); !requests.empty(); requests = next()) {
      answer(std::move(requests));
    }
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  int64_t steps() const { return steps_; }

 private:
  /// The next batch; empty when the server is closed and nothing waits.
  std::vector<Request> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (!waiting_.empty()) {
      const auto full = [&] { return closed_ || waiting_.empty() || std::ssize(waiting_) >= batch; };
      changed_.wait_until(lock, waiting_.front().arrived + patience_, full);
    }
    std::vector<Request> taken;
    while (!waiting_.empty() && std::ssize(taken) < batch) {
      taken.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    if (taken.empty() && !closed_) { // another server was quicker
      lock.unlock();
      return next();
    }
    return taken;
  }

  void answer(std::vector<Request> requests) {
    const auto now = Clock::now();
    std::vector<Request> timely;
    std::vector<int64_t> rows;
    for (Request& request : requests) {
      if (request.deadline < now) {
        request.answer.set_value(std::nullopt);
      } else {
        rows.push_back(request.row);
        timely.push_back(std::move(request));
      }
    }
    if (timely.empty()) {
      return;
    }
    const std::vector<int64_t> found = classesOf(session_, rows);
    ++steps_;
    for (size_t i = 0; i < timely.size(); ++i) {
      timely[i].answer.set_value(found[i]);
    }
  }

  Session& session_;
  std::chrono::microseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  bool closed_ = false;
  std::atomic<int64_t> steps_ = 0;
};

/// Counts by powers of two of microseconds.
class Histogram {
 public:
  void add(Clock::duration latency) {
    const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(latency).count();
    size_t bucket = 0;
    while (bucket + 1 < counts_.size() && (int64_t{1} << bucket) <= microseconds) {
      ++bucket;
    }
    ++counts_[bucket];
  }
  void print() const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) {
        std::printf("  below %7ld us: %6ld\n", long{1} << i, counts_[i].load());
      }
    }
  }

 private:
  std::array<std::atomic<long>, 24> counts_{};
};

struct Outcome {
  Histogram latencies;
  std::atomic<int64_t> right = 0, wrong = 0, late = 0;
};

/// One client: a request at a time, each with a deadline.
void askAll(Server& server, int64_t client, int64_t requests, const std::vector<int64_t>& wanted,
            Outcome& outcome) {
  for (int64_t i = 0; i < requests; ++i) {
    const int64_t row = (client * 7 + i) % distinctRows;
    const auto begin = Clock::now();
    const auto answer = server.ask(row, begin + std::chrono::seconds(5)).get();
    outcome.latencies.add(Clock::now() - begin);
    const bool right = answer == wanted[static_cast<size_t>(row)];
    ++(!answer ? outcome.late : right ? outcome.right : outcome.wrong);
  }
}

Options readOptions(int count, char** words) {
  Options options;
  lesson::Arguments flags("Lesson 10: many threads, one plan, batches formed on the fly");
  std::optional<int64_t> clients, requests, patience;
  flags.number("--clients", clients, 1, 1000, "threads that ask: 8")
      .number("--requests", requests, 1, 1000000, "of each client: 300")
      .number("--patience", patience, 0, 1000000,
              "microseconds that a request waits for its batch to fill: 200");
  flags.parse(count, words);
  return {clients.value_or(options.clients), requests.value_or(options.requests),
          patience.value_or(options.patience)};
}

} // namespace

int main(int count, char** words) {
  const Options options = readOptions(count, words);
  const auto session =
      lesson::open(lesson::compileAndPrint(classifier(), lesson::machineNamed("host"), CompileOptions{}));
  std::vector<int64_t> wanted;
  for (int64_t row = 0; row < distinctRows; ++row) {
    wanted.push_back(classesOf(*session, {row}).front()); // alone in its batch
  }

  Server server(*session, std::chrono::microseconds(options.patience));
  std::vector<std::thread> servers, clients;
  for (int i = 0; i < 2; ++i) { // one forms a batch while the other's step runs
    servers.emplace_back([&] { server.serve(); });
  }
  Outcome outcome;
  const auto begin = Clock::now();
  for (int64_t client = 0; client < options.clients; ++client) {
    clients.emplace_back([&, client] { askAll(server, client, options.requests, wanted, outcome); });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  const bool turnedAway = !server.ask(0, Clock::now() - std::chrono::seconds(1)).get().has_value();
  server.close();
  for (std::thread& thread : servers) {
    thread.join();
  }

  const auto all = static_cast<double>(options.clients * options.requests);
  std::printf("%.0f requests in %.3f s: %.0f a second, %.1f in a step on average\n", all, seconds.count(),
              all / seconds.count(), all / static_cast<double>(std::max<int64_t>(server.steps(), 1)));
  outcome.latencies.print();
  lesson::check(outcome.wrong == 0 && outcome.right + outcome.late == options.clients * options.requests,
                "every answer is the one that its row gets alone");
  lesson::check(turnedAway, "a request whose deadline has passed is turned away");
  return lesson::verdict();
}
