// The file around a sealed plan: a header, the plan as a FlatBuffer, the bytes of the constants. Constants
// stand outside the FlatBuffer because that ends at 2 GiB. A checksum over all of it finds every altered
// byte.
//
//     offset  bytes
//          0      8  magic "DFCPLAN\n"
//          8      4  format version
//         12      4  CRC-32 of the file with these four bytes zero
//         16      8  bytes of the plan
//         24      8  bytes of the constants
//         32      …  plan, then constants; nothing after them
//
// Integers are little-endian. For ir/executable_*.cpp only.
#pragma once

#include "ir/base/diagnostic.h"

#include <optional>
#include <span>

namespace dfc {

inline constexpr uint32_t formatVersion = 6;

/// The two parts of a file that holds together.
struct PlanParts {
  std::span<const std::byte> plan;
  std::span<const std::byte> constants;
};

inline constexpr size_t planHeaderBytes = 32;

std::vector<std::byte> wrapPlan(const PlanParts& parts);
/// What is wrong with a file of `fileBytes` that begins with `head`, of which the header is looked at: magic,
/// version and sizes, in this order. So a large file that is no plan need not be read.
std::optional<Diagnostic> planHeaderFault(std::span<const std::byte> head, uint64_t fileBytes,
                                          const std::string& fileName);
/// Checks magic, version, sizes and checksum, in this order. The parts lie in `bytes`.
Result<PlanParts> unwrapPlan(std::span<const std::byte> bytes, const std::string& fileName);

} // namespace dfc
