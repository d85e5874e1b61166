// A file is "dfc-cubin", the checksum of the rest, the rest.
#include "runtime/cuda/library/kernel_cache.h"

#include "ir/base/atomic_file.h"
#include "runtime/errors.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

namespace dfc::cuda {
namespace {

constexpr std::string_view magic = "dfc-cubin\n";
constexpr std::string_view wayOut =
    "choose another with --kernel-cache=FOLDER, or none with --no-kernel-cache";

uint32_t checksumOf(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string unwrapped(const std::string& file, const std::filesystem::path& path) {
  uint32_t sum = 0;
  const size_t header = magic.size() + sizeof sum;
  if (file.size() > header && file.starts_with(magic)) {
    std::memcpy(&sum, file.data() + magic.size(), sizeof sum);
    std::string kernel = file.substr(header);
    if (checksumOf(kernel) == sum) {
      return kernel;
    }
  }
  throw MachineError(
      fmt::format("the cached kernel {} is corrupt (its checksum does not fit): delete it, or the "
                  "whole folder; it is made again at the next run",
                  path.string()));
}

} // namespace

std::string kernelKey(std::string_view content) {
  std::array<uint64_t, 2> lanes = {0xcbf29ce484222325ULL, 0x9ae16a3b2f90404fULL};
  for (const char character : content) {
    lanes[0] = (lanes[0] ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
    lanes[1] = (lanes[1] ^ (lanes[0] >> 29)) * 0x9e3779b97f4a7c15ULL + static_cast<unsigned char>(character);
  }
  return fmt::format("{:016x}{:016x}", lanes[0], lanes[1]);
}

KernelCache::KernelCache(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (!folder_.empty() && !std::filesystem::create_directories(folder_, error) && error) {
    throw MachineError(
        fmt::format("the kernel cache {} cannot be made: {}; {}", folder_.string(), error.message(), wayOut));
  }
}

std::optional<std::string> KernelCache::find(const std::string& key) const {
  std::ifstream file(pathOf(key), std::ios::binary);
  if (folder_.empty() || !file) {
    return std::nullopt;
  }
  return unwrapped(std::string(std::istreambuf_iterator<char>(file), {}), pathOf(key));
}

void KernelCache::store(const std::string& key, std::string_view kernel) const {
  if (folder_.empty()) {
    return;
  }
  const uint32_t sum = checksumOf(kernel);
  std::string file(magic);
  file.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(kernel);
  if (const Status written = writeFileAtomically(pathOf(key).string(), file); !written.ok()) {
    throw MachineError(fmt::format("the kernel cache {} cannot be written: {}; make the folder writable, {}",
                                   folder_.string(), written.errors()[0].message, wayOut));
  }
}

} // namespace dfc::cuda
