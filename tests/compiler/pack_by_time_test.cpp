// packByTime against its meaning: first fit in the order of first writes, each storage compared with all
// before it.
#include "compiler/memory/byte_counts.h"
#include "compiler/memory/pack_by_time.h"
#include "ir/plan/memory_plan.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <random>

namespace dfc::test {
namespace {

/// Steps dealt out to queues, with some waits on earlier steps of other queues.
Schedule randomSchedule(std::mt19937_64& random, uint32_t queues, uint32_t steps) {
  Schedule schedule;
  for (uint32_t i = 0; i < queues; ++i) {
    schedule.queues.add({DeviceId(0), QueueKind::Compute, i, {}});
  }
  for (uint32_t i = 0; i < steps; ++i) {
    StepRow row;
    row.queue = QueueId(static_cast<uint32_t>(random() % queues));
    QueueRow& queue = schedule.queues[row.queue];
    row.position = static_cast<uint32_t>(queue.steps.size());
    const StepId before(i == 0 ? 0 : static_cast<uint32_t>(random() % i));
    if (i > 0 && random() % 2 == 0 && schedule.steps[before].queue != row.queue) {
      row.waits.push_back(before);
    }
    queue.steps.push_back(schedule.steps.add(row));
  }
  return schedule;
}

std::vector<StorageRow> randomStorages(std::mt19937_64& random, const Schedule& schedule) {
  std::vector<StorageRow> rows;
  for (const StepId first : schedule.steps.ids()) {
    if (random() % 4 == 0) {
      continue;
    }
    StorageRow row;
    row.bytes = static_cast<int64_t>(random() % 4) * 200;
    row.liveOut = random() % 16 == 0;
    row.first = first;
    row.last.emplace_back(schedule.steps[first].queue, schedule.steps[first].position);
    const auto later = static_cast<uint32_t>(first.index() + random() % 12);
    if (later < schedule.steps.size()) {
      const StepRow& use = schedule.steps[StepId(later)];
      row.last[0].second = use.queue == row.last[0].first ? use.position : row.last[0].second;
      if (use.queue != row.last[0].first) {
        row.last.emplace_back(use.queue, use.position);
      }
    }
    rows.push_back(row);
  }
  return rows;
}

/// The same by comparing all pairs.
Packing plainly(const std::vector<TimedStorage>& storages, const HappensBefore& before) {
  Packing packing;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t i = 0; i < storages.size(); ++i) { // they come in the order of their first steps
    const StorageRow& row = *storages[i].row;
    taken.clear();
    for (size_t other = 0; other < i; ++other) {
      const StorageRow& held = *storages[other].row;
      if (held.bytes > 0 && row.bytes > 0 && !diesBefore(held, row, before)) {
        taken.emplace_back(packing.offsets[other], packing.offsets[other] + held.bytes);
      }
    }
    const int64_t preferred = storages[i].preferredOffset;
    const bool free = preferred >= 0 && std::none_of(taken.begin(), taken.end(), [&](const auto& range) {
                        return preferred < range.second && range.first < preferred + row.bytes;
                      });
    packing.offsets.push_back(free ? preferred : lowestFit(taken, row.bytes, arenaAlignment));
    packing.bytes = std::max(packing.bytes, packing.offsets.back() + row.bytes);
  }
  return packing;
}

TEST_CASE("packing by time gives each storage the lowest place that comparing all pairs gives") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const Schedule schedule =
        randomSchedule(random, 1 + static_cast<uint32_t>(seed % 4), 1 + static_cast<uint32_t>(random() % 80));
    const HappensBefore before(schedule);
    const std::vector<StorageRow> rows = randomStorages(random, schedule);
    std::vector<TimedStorage> storages;
    for (const StorageRow& row : rows) {
      const bool isPreferred = seed % 3 == 0 && random() % 2 == 0;
      storages.push_back({&row, isPreferred ? static_cast<int64_t>(random() % 6) * arenaAlignment : -1});
    }
    const Packing packing = packByTime(storages, schedule, before), plain = plainly(storages, before);
    INFO("seed " << seed);
    CHECK(packing.offsets == plain.offsets);
    CHECK(packing.bytes == plain.bytes);
  }
}

TEST_CASE("bytes are free once every claim on them has ended") {
  ByteCounts counts;
  counts.claim(0, 512);
  counts.claim(256, 1024);
  CHECK(counts.lowestFree(1) == 1024);
  counts.release(0, 512);
  CHECK(counts.lowestFree(256) == 0);
  CHECK(counts.lowestFree(257) == 1024); // [256, 1024) is still claimed
  CHECK(counts.isFree(0, 256));
  CHECK(!counts.isFree(0, 257));
  counts.release(256, 1024);
  CHECK(counts.isFree(0, 1 << 20));
}

} // namespace
} // namespace dfc::test
