// The header of a plan file, written and read byte by byte, so that neither layout nor alignment of a struct
// matters.
#include "ir/plan/file/executable_format.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace dfc {
namespace {

constexpr std::string_view magic = "DFCPLAN\n";
constexpr size_t versionAt = 8, checksumAt = 12, planSizeAt = 16, constantsSizeAt = 24;
constexpr const char* compileAgain = "compile the graph again";

template <class Integer>
void put(std::span<std::byte> bytes, size_t at, Integer value) {
  for (size_t i = 0; i < sizeof(Integer); ++i) {
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <class Integer>
Integer take(std::span<const std::byte> bytes, size_t at) {
  Integer value = 0;
  for (size_t i = 0; i < sizeof(Integer); ++i) {
    value |= static_cast<Integer>(bytes[at + i]) << (8 * i);
  }
  return value;
}

uint32_t checksum(std::span<const std::byte> file) {
  const auto feed = [](uLong sum, std::span<const std::byte> part) {
    return crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  };
  constexpr std::array<std::byte, 4> zeros{};
  uLong sum = feed(crc32_z(0, nullptr, 0), file.first(checksumAt));
  sum = feed(sum, zeros);
  return static_cast<uint32_t>(feed(sum, file.subspan(checksumAt + zeros.size())));
}

Diagnostic failure(const std::string& file, std::string message, std::string hint) {
  return {Severity::Error, {file, 0, 0}, std::move(message), std::move(hint)};
}

bool startsLikePlan(std::span<const std::byte> bytes) {
  const size_t common = std::min(bytes.size(), magic.size());
  return std::memcmp(bytes.data(), magic.data(), common) == 0;
}

} // namespace

std::vector<std::byte> wrapPlan(const PlanParts& parts) {
  std::vector<std::byte> file(planHeaderBytes + parts.plan.size() + parts.constants.size());
  std::memcpy(file.data(), magic.data(), magic.size());
  put<uint32_t>(file, versionAt, formatVersion);
  put<uint64_t>(file, planSizeAt, parts.plan.size());
  put<uint64_t>(file, constantsSizeAt, parts.constants.size());
  const auto plan = file.begin() + planHeaderBytes;
  std::copy(parts.constants.begin(), parts.constants.end(),
            std::copy(parts.plan.begin(), parts.plan.end(), plan));
  put<uint32_t>(file, checksumAt, checksum(file));
  return file;
}

std::optional<Diagnostic> planHeaderFault(std::span<const std::byte> head, uint64_t fileBytes,
                                          const std::string& fileName) {
  if (fileBytes == 0) {
    return failure(fileName, "the file is empty", compileAgain);
  }
  if (!startsLikePlan(head)) {
    return failure(fileName, "is not a dfc plan", "make one with dfc compile GRAPH -m MACHINE -o PLAN");
  }
  if (fileBytes < planHeaderBytes) {
    return failure(
        fileName, fmt::format("truncated: {} bytes, and the header alone has {}", fileBytes, planHeaderBytes),
        compileAgain);
  }
  const auto version = take<uint32_t>(head, versionAt);
  if (version != formatVersion) {
    return failure(fileName,
                   fmt::format("made by format version {}, this dfc reads {}", version, formatVersion),
                   "compile the graph again with this dfc");
  }
  const auto planSize = take<uint64_t>(head, planSizeAt);
  const auto constantsSize = take<uint64_t>(head, constantsSizeAt);
  constexpr uint64_t largest = uint64_t{1} << 62;
  if (planSize > largest || constantsSize > largest) {
    return failure(fileName,
                   fmt::format("damaged: its header gives {} and {} bytes", planSize, constantsSize),
                   compileAgain);
  }
  const uint64_t whole = planHeaderBytes + planSize + constantsSize;
  if (fileBytes < whole) {
    return failure(fileName, fmt::format("truncated: {} of {} bytes", fileBytes, whole), compileAgain);
  }
  if (fileBytes > whole) {
    return failure(fileName, fmt::format("has {} bytes after its end", fileBytes - whole), compileAgain);
  }
  return std::nullopt;
}

Result<PlanParts> unwrapPlan(std::span<const std::byte> bytes, const std::string& fileName) {
  if (auto fault = planHeaderFault(bytes, bytes.size(), fileName)) {
    return *std::move(fault);
  }
  const auto stored = take<uint32_t>(bytes, checksumAt);
  if (stored != checksum(bytes)) {
    return failure(fileName, "checksum differs: the file was altered", compileAgain);
  }
  return PlanParts{bytes.subspan(planHeaderBytes, take<uint64_t>(bytes, planSizeAt)),
                   bytes.last(take<uint64_t>(bytes, constantsSizeAt))};
}

} // namespace dfc
