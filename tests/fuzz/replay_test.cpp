// The fuzz targets without a fuzzer: over all seeds, over what fuzzing once found (findings/<target>/), and
// over the seeds with some bytes changed. Any bytes may be refused; nothing may break.
#include "runtime/executable_folder.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"
#include "tests/support/catch.h"
#include "tests/support/random_values.h"

#include <llvm/ADT/STLExtras.h>

#include <filesystem>
#include <fstream>

namespace dfc::test {
namespace {

using Bytes = std::vector<std::byte>;

void runOne(const FuzzTarget& target, const Bytes& input, const std::string& what) {
  INFO(target.name << ": " << what);
  CHECK_NOTHROW(target.run(input));
}

void runFindings(const FuzzTarget& target, const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto bytes = std::as_bytes(std::span(text));
    runOne(target, {bytes.begin(), bytes.end()}, entry.path().filename().string());
  }
}

/// Some bytes changed, taken out, doubled, or cut off.
Bytes mutated(Bytes bytes, Dice& dice) {
  for (int64_t changes = 1 + dice.below(4); changes > 0 && !bytes.empty(); --changes) {
    const auto at = bytes.begin() + dice.below(static_cast<int64_t>(bytes.size()));
    switch (dice.below(4)) {
    case 0: *at = static_cast<std::byte>(dice.below(256)); break;
    case 1: bytes.erase(at); break;
    case 2: bytes.insert(at, *at); break;
    default: *at ^= static_cast<std::byte>(1 << dice.below(8));
    }
  }
  if (dice.chance(10)) {
    bytes.resize(static_cast<size_t>(dice.below(static_cast<int64_t>(bytes.size()) + 1)));
  }
  return bytes;
}

/// Each seed as it is, then damaged `rounds` times.
void runSeeds(const FuzzTarget& target, int rounds, uint64_t chance) {
  const std::vector<Bytes> seeds = seedsOf(target.name);
  Dice dice(chance);
  for (size_t i = 0; i < seeds.size(); ++i) {
    runOne(target, seeds[i], "seed " + std::to_string(i));
    for (int round = 0; round < rounds; ++round) {
      runOne(target, mutated(seeds[i], dice), "seed " + std::to_string(i) + ", damaged");
    }
  }
}

} // namespace

TEST_CASE("every seed of every fuzz target, whole and damaged") {
  for (const FuzzTarget& target : fuzzTargets()) {
    CHECK(seedsOf(target.name).size() >= 4);
    runSeeds(target, 8, 1);
    runOne(target, {}, "no bytes");
  }
}

TEST_CASE("every seed of every fuzz target, damaged a hundred times", "[heavy]") {
  for (const FuzzTarget& target : fuzzTargets()) {
    runSeeds(target, 100, 2);
  }
}

// A folder that belongs to no target, say after a target was renamed, would be read by nobody.
TEST_CASE("what fuzzing once found stays mended") {
  const std::filesystem::path findings = shippedFile("tests/fuzz/findings");
  REQUIRE(std::filesystem::is_directory(findings));
  for (const auto& folder : std::filesystem::directory_iterator(findings)) {
    INFO(folder.path() << " should be a folder with the name of a fuzz target");
    REQUIRE(folder.is_directory());
    const FuzzTarget* target = llvm::find_if(
        fuzzTargets(), [&](const FuzzTarget& one) { return one.name == folder.path().filename(); });
    REQUIRE(target != fuzzTargets().end());
    runFindings(*target, folder.path());
  }
}

} // namespace dfc::test
