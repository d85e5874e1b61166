// Array files of the three kinds: what is read, written and read again is the same to the bit.
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/safetensors.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

namespace dfc::test {
namespace {

template <class Parse, class Print>
void roundTrip(std::span<const std::byte> bytes, Parse parse, Print print) {
  const auto value = parse(bytes, "fuzz");
  if (!value.ok()) {
    expect(!render(value.errors()).empty(), "a refusal without a word");
    return;
  }
  const Result<std::vector<std::byte>> written = print(*value, "written");
  expect(written.ok(), "what was read cannot be written");
  const auto again = parse(*written, "written");
  expect(again.ok(), "what was written cannot be read");
  expect(*again == *value, "what was written reads as something else");
}

} // namespace

void fuzzNpy(std::span<const std::byte> bytes) { roundTrip(bytes, parseNpy, printNpy); }
void fuzzNpz(std::span<const std::byte> bytes) {
  const auto parse = [](std::span<const std::byte> archive, const std::string& name) {
    Result<NamedLiterals> arrays = parseNpz(archive, name);
    const bool empty = arrays.ok() && arrays->empty(); // may be read, but is not written
    return empty ? Result<NamedLiterals>(errorWithoutPlace("an archive of nothing")) : arrays;
  };
  roundTrip(bytes, parse, printNpz);
}
void fuzzSafetensors(std::span<const std::byte> bytes) {
  const auto print = [](const NamedLiterals& tensors, const std::string& name) {
    return printSafetensors(tensors, name);
  };
  roundTrip(bytes, parseSafetensors, print);
}

} // namespace dfc::test
