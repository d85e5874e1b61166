// The cache of compiled kernels: what is stored comes back, and a file or folder that is no good is named.
#include "runtime/cuda/library/kernel_cache.h"

#include "runtime/errors.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

#include <fstream>
#include <functional>

using namespace dfc;
using namespace dfc::cuda;
namespace fs = std::filesystem;

namespace {

std::string failureOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const MachineError& error) {
    return error.what();
  }
  return "";
}

void rewrite(const fs::path& path, const std::function<void(std::string&)>& change) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  change(bytes);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace

TEST_CASE("kernel cache: what is stored comes back, by its key alone") {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path() / "kernels";
  const KernelCache cache(place);
  const std::string kernel("\x7f"
                           "ELF\0 and more",
                           14);
  const std::string key = kernelKey("text of a kernel");
  CHECK(key.size() == 32);
  CHECK(key != kernelKey("text of a kernem"));
  CHECK_FALSE(cache.find(key).has_value());
  cache.store(key, kernel);
  CHECK(cache.find(key) == kernel);
  CHECK(KernelCache(place).find(key) == kernel);
  CHECK_FALSE(cache.find(kernelKey("another")).has_value());
}

TEST_CASE("kernel cache: without a folder nothing is kept") {
  const KernelCache cache{fs::path()};
  cache.store(kernelKey("a"), "kernel");
  CHECK_FALSE(cache.find(kernelKey("a")).has_value());
}

TEST_CASE("kernel cache: a damaged file is named, whatever the damage, and made again when it is gone") {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path() / "kernels";
  const KernelCache cache(place);
  const std::string key = kernelKey("text");
  const fs::path file = place / (key + ".cubin");
  const std::vector<std::function<void(std::string&)>> damages = {
      [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); },
      [](std::string& bytes) { bytes.pop_back(); },
      [](std::string& bytes) { bytes[0] = 'D'; },
      [](std::string& bytes) { bytes.clear(); },
      [](std::string& bytes) { bytes += "more"; },
  };
  for (const auto& damage : damages) {
    cache.store(key, "a kernel's bytes");
    rewrite(file, damage);
    const std::string failure = failureOf([&] { (void)cache.find(key); });
    CHECK(failure.find(file.string()) != std::string::npos);
    CHECK(failure.find("delete it") != std::string::npos);
  }
  fs::remove(file);
  CHECK_FALSE(cache.find(key).has_value());
}

TEST_CASE("kernel cache: a folder that cannot be made or written is named with the way out") {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path() / "kernels";
  std::ofstream(place) << "a file where the folder should be";
  const std::string unmade = failureOf([&] { (void)KernelCache(place / "below"); });
  CHECK(unmade.find(place.string()) != std::string::npos);
  CHECK(unmade.find("--no-kernel-cache") != std::string::npos);
  fs::remove_all(place);
  const KernelCache cache(place);
  fs::remove_all(place); // gone behind its back
  const std::string unwritten = failureOf([&] { cache.store(kernelKey("a"), "kernel"); });
  CHECK(unwritten.find(place.string()) != std::string::npos);
  CHECK(unwritten.find("--no-kernel-cache") != std::string::npos);
}
